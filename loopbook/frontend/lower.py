"""From a function and the arguments of a call to `Lowered`."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend import arith, constructs, nests, types
from loopbook.frontend.code import (
    Code,
    FloatsInListError,
    HomelessError,
    InLineError,
    PlacesError,
    UntoldError,
)
from loopbook.frontend.homes import Frame
from loopbook.frontend.inline import names_of, parsed
from loopbook.frontend.kernel import assembled, kernel_names, repeated
from loopbook.frontend.liveness import Liveness
from loopbook.frontend.lowered import Lowered
from loopbook.frontend.only_read import only_read
from loopbook.frontend.optional import optional_names
from loopbook.frontend.plain import is_plain
from loopbook.frontend.refusals import Collector, in_order
from loopbook.frontend.results import returned
from loopbook.frontend.returns import RETURNED, single_exit
from loopbook.frontend.rising import never_negative
from loopbook.frontend.sorts import SortsError
from loopbook.frontend.symbols import Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Pair, Scalar, Thing, Unknown, Value, whole
from loopbook.program.extent_names import SHORT
from loopbook.syntax import makes_no_doubles

_ONE_AT_A_TIME = threading.Lock()

WORDS = frozenset(("abs", "bool", "complex", "float", "int", "math", "max", "min", "np", "range"))
"""What loops are written with."""

NAMED = 8
"""Whole numbers less than this are equal to a size by chance. Chosen."""

assert constructs


def lower(
    func: Callable[..., Any], args: Sequence[Any], *, loops_too: bool = False
) -> Lowered | None:
    """A function as explicit loops, for arguments like `args`.

    The translation serves all calls with arguments of these types, ranks and layouts for which
    `Lowered.holds` is true. Arguments that are the same object are taken for one array, here and in
    those calls; else no array that the function writes may share memory with another one.

    Args:
        loops_too: translate a function of loops as well. What types its numbers have is written
            out then, for arguments of types that docc promotes otherwise than NumPy.

    Returns:
        None if the function consists of loops and scalars already: compile it as it is. One with
        indices that may be negative, and count from the end then, with numbers that are rounded to
        the 32 bits of others, with windows (`windows`), or with arrays of short rows (`SHORT`), is
        translated, if it can be.

    Raises:
        LoweringError: if it holds what has no form in loops.
    """
    plain = not loops_too and is_plain(func, args)
    try:
        with _ONE_AT_A_TIME:
            try:
                lowered = _lower(func, args)
            except LoweringError as error:
                lowered = _with_optional(func, args, error)
    except LoweringError:
        if plain:
            return None
        raise
    return None if plain and not lowered.differs else lowered


def _with_optional(func: Callable[..., Any], args: Sequence[Any], error: LoweringError) -> Lowered:
    """The same with names that may be None until they are numbers.

    Raises:
        LoweringError: `error`, if it was not for that.
    """
    told = "None" in error.what or "no number or array" in error.what  # a function called, maybe
    if not told and not optional_names(parsed(func).body, inspect.signature(func).parameters):
        raise error
    try:
        return _lower(func, args, known=_Known(optional=True))
    except LoweringError:
        pass
    try:
        if isinstance(error, HomelessError):
            return _lower(func, args, known=_Known(peeled=True))
    except LoweringError:
        pass
    raise error from None


def refusals(func: Callable[..., Any], args: Sequence[Any]) -> list[LoweringError]:
    """All that `lower` refuses in a function, not the first alone, by line.

    What depends on a refused statement's result is left out: whether that can be lowered is open.
    """
    if is_plain(func, args):
        return []
    found: list[LoweringError] = []
    with _ONE_AT_A_TIME:
        try:
            _lower(func, args, found)
        except UntoldError:
            pass
        except LoweringError as error:
            found.append(error)
    return in_order(found)


def refused_lines(func: Callable[..., Any], args: Sequence[Any]) -> frozenset[int]:
    """Lines of a function's own statements that `refusals` come from. What is given back at several
    places can be told when what comes before is known."""
    file = inspect.getsourcefile(func) or ""
    found = [one for one in refusals(func, args) if RETURNED not in one.what]
    return frozenset(
        one.statement or one.line for one in found if one.statement or one.file == file
    )


@dataclass(frozen=True)
class _Known:
    """What earlier tries to translate a function have found out; as in `Code`.

    Attributes:
        pythons: None as long as nobody has looked.
    """

    floats: frozenset[tuple[int, int]] = frozenset()
    telling: frozenset[str] = frozenset()
    in_line: frozenset[str] = frozenset()
    optional: bool = False
    peeled: bool = False
    leaving: bool = False
    pythons: bool | None = None


def _lower(
    func: Callable[..., Any],
    args: Sequence[Any],
    found: list[LoweringError] | None = None,
    known: _Known = _Known(),
) -> Lowered:
    node = parsed(func)
    file = inspect.getsourcefile(func) or ""
    code = Code(
        origin=node.lineno,
        floats=known.floats,
        telling=known.telling,
        in_line=known.in_line,
        optional=known.optional,
        pythons=known.pythons is True,
        peeled=known.peeled,
        leaving=known.leaving,
    )
    signature = inspect.signature(func)
    try:
        bound = signature.bind(*args)
    except TypeError as error:
        raise LoweringError(f"{func.__name__}(): {error}", node.lineno, file) from None
    bound.apply_defaults()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values()):
        raise LoweringError(f"{func.__name__}() takes any number of arguments", node.lineno, file)
    code.facts.taken |= {*bound.arguments, "np", "math"}
    own = _own_names(code, bound.arguments)
    passed = {own[name]: value for name, value in bound.arguments.items()}
    parameters = tuple(bound.arguments)
    try:
        arrays = [n for n, v in bound.arguments.items() if isinstance(v, np.ndarray) and v.ndim]
        lines = [name for name in arrays if bound.arguments[name].ndim == 1]
        code.only_read = frozenset(own[name] for name in only_read(node.body, lines))
        outside = names_of(func)
        body = single_exit(node.body, parameters, arrays, optional=known.optional, outside=outside)
        code.arguments = frozenset(
            name
            for name, value in passed.items()
            if isinstance(
                value, np.ndarray | np.bool_ | bool | int | float | np.integer | np.floating
            )
        )
        given = bound.arguments.values()
        code.wide = any(getattr(value, "dtype", None) == types.WIDE for value in given)
        made = arguments(code, passed)
        env = {name: made[own[name]] for name in parameters}
        frame = Frame(env, outside, file, Liveness(body, frozenset((RETURNED,))))
        frame.body = node.body
        frame.rising = never_negative(body) - set(parameters)
        t = Translator(code, frame) if found is None else Collector(code, frame, found)
        t.body(body)
        value = frame.env.get(RETURNED, Thing(None))
        if isinstance(value, Unknown):
            raise code.untold()
        result, _used = returned(t, value)
    except FloatsInListError as error:
        known = replace(known, floats=known.floats | {error.made})
        return _lower(func, args, found, known)
    except SortsError as error:
        known = replace(known, telling=known.telling | error.wanted)
        return _lower(func, args, found, known)
    except PlacesError as error:
        if known.leaving:
            raise LoweringError(error.what, error.line, file) from None
        return _lower(func, args, found, replace(known, leaving=True))
    except InLineError as error:
        if error.name in known.in_line:
            raise LoweringError(error.what, code.origin, file) from None
        known = replace(known, in_line=known.in_line | {error.name})
        return _lower(func, args, found, known)
    except LoweringError as error:
        if error.file:
            raise
        raise type(error)(error.what, error.line or code.origin, file) from None
    alone = code.extremes == {"python"}
    if code.extremes and known.pythons in (None, not alone):
        return _lower(func, args, found, replace(known, pythons=alone))
    lowered = assembled(
        func.__name__ if func.__name__.isidentifier() else "function",  # <lambda>
        tuple(passed),
        passed,
        code,
        result,
        func.__defaults__ or (),
    )
    things = tuple(code.things.items())
    lowered = replace(
        lowered,
        differs=code.differs,
        things=things,
        pythons=code.pythons,
        singles=makes_no_doubles(node, bound.arguments.values()),
    )
    if found is None and not lowered.holds(*bound.args):
        raise LoweringError(f"{func.__name__}() refuses these arguments", node.lineno, file)
    return lowered


def _own_names(code: Code, given: Collection[str]) -> dict[str, str]:
    """What each argument is called in the loops: as in the function, unless they use that word."""
    return {name: code.fresh(f"{name}_") if name in WORDS else name for name in given}


def arguments(code: Code, given: dict[str, Any]) -> dict[str, Value]:
    """What a function's arguments stand for, by name, and what `code` may take for granted."""
    env: dict[str, Value] = {}
    sizes: dict[int, Int] = {}
    aliases = repeated(given)
    for name, value in given.items():
        if name in aliases:
            env[name] = env[aliases[name]]
        elif isinstance(value, np.ndarray):
            code.elements[name] = value
            env[name] = _array(code, name, value, sizes)
        elif isinstance(value, bool | np.bool_):
            env[name] = Scalar(name, types.BOOL, not isinstance(value, np.generic))
        elif isinstance(value, int | np.integer):
            weak = not isinstance(value, np.generic)
            dtype = types.INT if weak else value.dtype
            if dtype == types.WIDE:
                made = f"np.array([{name}], np.uint64).view(np.int64)"
                env[name] = Scalar(f"{code.facts.defined(made, 'word_')}[0]", dtype)
                continue
            code.facts.values[name] = int(value)
            env[name] = Scalar(name, np.dtype(dtype), weak, Int.atom(name))
        elif isinstance(value, float | np.floating):
            weak = type(value) is float
            code.numbers[name] = float(value)
            env[name] = Scalar(name, types.FLOAT if weak else value.dtype, weak)
        elif isinstance(value, complex | np.complexfloating):
            weak = type(value) is complex
            parts = kernel_names(name, value)
            code.facts.taken |= set(parts)
            env[name] = Pair(parts, np.dtype(complex) if weak else value.dtype, weak)
        else:
            env[name] = _other(code, name, value)
    for name, value in env.items():
        number = code.facts.values.get(name, 0)
        if number >= NAMED and number in sizes:
            # Numbers that are sizes get their names, as equal sizes do.
            code.facts.guards[f"{name} == {sizes[number].text}"] = None
            env[name] = replace(value, whole=sizes[number])
    return env


def _other(code: Code, name: str, value: Any) -> Value:
    if value is None or isinstance(value, str | type | np.dtype | Enum):
        return Thing(value)
    raise code.fail(f"the argument {name}, a {type(value).__name__}; pass arrays and numbers")


def _array(code: Code, name: str, value: np.ndarray, sizes: dict[int, Int]) -> Value:
    if value.dtype not in types.SUPPORTED:
        raise code.fail(f"the argument {name} of type {value.dtype}")
    if value.dtype.kind == "c" and not value.ndim:
        raise code.fail(f"{name}, which is complex and of no axes; pass a number")
    facts = code.facts
    shape = []
    for axis, size in enumerate(value.shape):
        text = f"{name}.shape[{axis}]"
        if size <= SHORT:
            facts.guards[f"{text} == {size}"] = None
            shape.append(Int.of(size))
            code.differs |= axis > 0 and size > 1  # how far apart rows are, in loops, too
        elif size in sizes:
            # Equal sizes get one name: a call in which they differ is another variant.
            facts.guards[f"{text} == {sizes[size].text}"] = None
            shape.append(sizes[size])
        else:
            sizes[size] = Int.atom(text)
            facts.values[text] = size
            facts.guards[f"{text} - 2 >= 0"] = None
            shape.append(sizes[size])
    buffer = code.buffer(name, value.dtype, tuple(shape), "argument")
    if buffer.rows:
        facts.guards[f"{name}.flags.c_contiguous"] = None
    array = whole(buffer)
    return array if shape else array.element(())


__all__ = ["arguments", "arith", "lower", "nests", "refusals"]
