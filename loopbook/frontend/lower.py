"""From a function and the arguments of a call to `Lowered`."""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend import arith, constructs, nests, types
from loopbook.frontend.code import Code, FloatsInListError, Line, UntoldError
from loopbook.frontend.fusion import fused
from loopbook.frontend.homes import Frame
from loopbook.frontend.inline import names_of, parsed
from loopbook.frontend.jamming import jammed
from loopbook.frontend.liveness import Liveness
from loopbook.frontend.lowered import Lowered, tuple_text
from loopbook.frontend.narrow import WORD, held_as, is_narrow
from loopbook.frontend.plain import is_plain
from loopbook.frontend.refusals import Collector, in_order
from loopbook.frontend.results import returned
from loopbook.frontend.returns import RETURNED, single_exit
from loopbook.frontend.reuse import reused
from loopbook.frontend.symbols import ONE, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Buffer, Pair, Scalar, Thing, Unknown, Value, whole

_ONE_AT_A_TIME = threading.Lock()

SMALL = 4
"""Sizes up to this one are numbers: of loops as short as over coordinates, colours or the matrices
of a rotation a compiler makes none, if it knows. Products of 5,000 matrices of 4 by 4 take half as
long, distances of points to eight others two fifths (AVX2, 2026-11-26)."""

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
        indices that may be negative, and count from the end then, or with numbers that are rounded
        to the 32 bits of others, is translated, if it can be.

    Raises:
        LoweringError: if it holds what has no form in loops.
    """
    plain = not loops_too and is_plain(func, args)
    try:
        with _ONE_AT_A_TIME:
            lowered = _lower(func, args)
    except LoweringError:
        if plain:
            return None
        raise
    return None if plain and not lowered.differs else lowered


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


def _lower(
    func: Callable[..., Any],
    args: Sequence[Any],
    found: list[LoweringError] | None = None,
    floats: frozenset[tuple[int, int]] = frozenset(),
) -> Lowered:
    node = parsed(func)
    file = inspect.getsourcefile(func) or ""
    code = Code(origin=node.lineno, floats=floats)
    signature = inspect.signature(func)
    try:
        bound = signature.bind(*args)
    except TypeError as error:
        raise LoweringError(f"{func.__name__}(): {error}", node.lineno, file) from None
    bound.apply_defaults()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values()):
        raise LoweringError(f"{func.__name__}() takes any number of arguments", node.lineno, file)
    parameters = tuple(bound.arguments)
    try:
        body = single_exit(node.body)
        code.facts.taken |= set(parameters) | {"np", "math"}
        code.arguments = frozenset(
            name
            for name, value in bound.arguments.items()
            if isinstance(
                value, np.ndarray | np.bool_ | bool | int | float | np.integer | np.floating
            )
        )
        env = arguments(code, bound.arguments)
        frame = Frame(env, names_of(func), file, Liveness(body, frozenset((RETURNED,))))
        t = Translator(code, frame) if found is None else Collector(code, frame, found)
        t.body(body)
        value = frame.env.get(RETURNED, Thing(None))
        if isinstance(value, Unknown):
            raise code.untold()
        result, _used = returned(t, value)
    except FloatsInListError as error:
        return _lower(func, args, found, floats | {error.made})
    except LoweringError as error:
        if error.file:
            raise
        raise type(error)(error.what, error.line or code.origin, file) from None
    lowered = _assembled(
        func.__name__, parameters, bound.arguments, code, result, func.__defaults__ or ()
    )
    things = tuple(code.things.items())
    lowered = replace(lowered, differs=code.differs, things=things)
    if found is None and not lowered.holds(*bound.args):
        raise LoweringError(f"{func.__name__}() refuses these arguments", node.lineno, file)
    return lowered


def arguments(code: Code, given: dict[str, Any]) -> dict[str, Value]:
    """What a function's arguments stand for, by name, and what `code` may take for granted."""
    env: dict[str, Value] = {}
    sizes: dict[int, Int] = {}
    aliases = repeated(given)
    for name, value in given.items():
        if name in aliases:
            env[name] = env[aliases[name]]
        elif isinstance(value, np.ndarray):
            env[name] = _array(code, name, value, sizes)
            code.elements[name] = value
        elif isinstance(value, bool | np.bool_):
            env[name] = Scalar(name, types.BOOL, not isinstance(value, np.generic))
        elif isinstance(value, int | np.integer):
            weak = not isinstance(value, np.generic)
            dtype = types.INT if weak else value.dtype
            code.facts.values[name] = int(value)
            env[name] = Scalar(name, np.dtype(dtype), weak, Int.atom(name))
        elif isinstance(value, float | np.floating):
            weak = type(value) is float
            env[name] = Scalar(name, types.FLOAT if weak else value.dtype, weak)
        elif isinstance(value, complex | np.complexfloating):
            weak = type(value) is complex
            parts = _kernel_names(name, value)
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


def repeated(given: dict[str, Any]) -> dict[str, str]:
    """Names of arguments that are the same array as one before them, and of that one."""
    first: dict[int, str] = {}
    found: dict[str, str] = {}
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            other = first.setdefault(id(value), name)
            if other != name:
                found[name] = other
    return found


def _other(code: Code, name: str, value: Any) -> Value:
    if value is None or isinstance(value, str | type | np.dtype | Enum):
        return Thing(value)
    raise code.fail(f"the argument {name}, a {type(value).__name__}; pass arrays and numbers")


def _array(code: Code, name: str, value: np.ndarray, sizes: dict[int, Int]) -> Value:
    if value.dtype not in types.SUPPORTED:
        raise code.fail(f"the argument {name} of type {value.dtype}")
    if value.dtype.kind == "c" and (not value.ndim or not value.flags.c_contiguous):
        raise code.fail(f"{name}, which is complex and not contiguous; use np.ascontiguousarray")
    facts = code.facts
    shape = []
    for axis, size in enumerate(value.shape):
        text = f"{name}.shape[{axis}]"
        if size <= SMALL:
            facts.guards[f"{text} == {size}"] = None
            shape.append(Int.of(size))
        elif size in sizes:
            # Equal sizes get one name: a call in which they differ is another variant.
            facts.guards[f"{text} == {sizes[size].text}"] = None
            shape.append(sizes[size])
        else:
            sizes[size] = Int.atom(text)
            facts.values[text] = size
            facts.guards[f"{text} - 2 >= 0"] = None
            shape.append(sizes[size])
    buffer = Buffer(name, value.dtype, tuple(shape), "argument")
    array = whole(buffer)
    return array if shape else array.element(())


def _assembled(
    name: str,
    parameters: tuple[str, ...],
    given: dict[str, Any],
    code: Code,
    result: str,
    defaults: tuple[Any, ...],
) -> Lowered:
    aliases = repeated(given)
    numeric = [
        p for p in parameters
        if isinstance(given[p], np.ndarray | bool | int | float | complex | np.generic)
        and p not in aliases
    ]  # fmt: skip
    if code.failed:
        code.temporaries.append(Buffer(code.failed, types.INT, (ONE,)))
        code.lines.insert(0, Line(0, f"{code.failed}[0] = 0", code.origin))
    body = jammed(code, reused(code, fused(code, code.lines), result))
    buffers = code.temporaries
    names = tuple(b.name for b in buffers)
    lines = [""]
    line_map: dict[int, int] = {}
    body = [replace(line, text=_without_powers(code, given, line.text)) for line in body]
    body = [replace(line, text=_in_numbers(code, given, line.text)) for line in body]
    for line in body:
        text = "    " * (line.depth + 1) + line.text
        if line.origin and line.origin != line_map.get(len(lines)):
            text += f"  # {line.origin}"
        lines.append(text)
        line_map[len(lines)] = line.origin
    if not body:
        lines.append("    pass")
    for line in body:
        if line.text.partition("[")[0] in code.looked_into and " = " in line.text:
            raise LoweringError(
                "storing into an argument that is looked at before the loops; copy it first",
                line.origin,
            )
    words = set(re.findall(r"\w+", "\n".join(lines[1:])))
    definitions = tuple((d, text) for text, d in code.facts.definitions.items())
    numeric = [q for p in numeric for q in _kernel_names(p, given[p])]
    constants = tuple(
        (b.name, _as_held(b.values))
        for b in code.constants
        if b.values is not None and b.name in words
    )
    kernel_parameters = (
        *numeric, *(d for d, _ in definitions if d in words), *(c for c, _ in constants), *names,
    )  # fmt: skip
    lines[0] = f"def {name}({', '.join(kernel_parameters)}):"
    kernel_source = "\n".join(lines) + "\n"
    allocations = tuple(
        (b.name, tuple_text([_size(s) for s in b.shape]), held_as(b.dtype)) for b in buffers
    )
    conversions = dict(_conversions(given, buffers))
    before, after = _words(code, given, buffers, [line.text for line in body], result)
    conversions |= {name: place for place, name in before.items()}
    lowered = Lowered(
        name, parameters, kernel_parameters, kernel_source, "", line_map, names,
        tuple(code.facts.guards), allocations, result,
        tuple(conversions.items()), definitions,
        tuple((place, f'{name}.astype(np.{WORD}, "C")') for place, name in before.items()), after,
        defaults, frozenset(code.looked_into), 0, code.failed,
        tuple(p for p in parameters if any(line.text.startswith(f"{p}[") for line in body)),
        constants,
        words=_narrow(given, buffers),
    )  # fmt: skip
    source = "import math\n\nimport numpy as np\n\n"
    for own, value in constants:
        source += f"{own} = np.array({value.tolist()}, np.{value.dtype.name})\n"
    source += "\n" + kernel_source
    source += "\n\n" + lowered._outer_source.replace("kernel(", f"{name}(", 1)
    object.__setattr__(lowered, "source", source)
    return lowered


def _in_numbers(code: Code, given: dict[str, Any], text: str) -> str:
    """A statement with the last sizes of complex arguments computed before the loops: the kernel
    sees twice as many floats."""
    for name, value in given.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "c":
            size = f"{name}.shape[{value.ndim - 1}]"
            if re.search(rf"(?<!\w){re.escape(size)}", text):
                own = code.facts.definitions.get(size) or code.fresh("numbers_")
                code.facts.definitions[size] = own
                text = re.sub(rf"(?<!\w){re.escape(size)}", own, text)
    return text


_POWER = re.compile(r"(?<![*/%] )(?<![\w.])([A-Za-z_]\w*)(?: \* \1\b(?! \*\*|[.(\[])){3,}")
"""A number multiplied with itself, first in its product."""


def _without_powers(code: Code, given: dict[str, Any], text: str) -> str:
    """A statement with powers of whole arguments computed before the loops: docc has a statement
    for each product, and a transform that goes through all powers of a size has thousands."""

    def named(found: re.Match[str]) -> str:
        name = found[1]
        if type(given.get(name)) is not int or name in code.mutable:
            return found[0]
        part = Int.atom(name)
        return code.facts.derive(found[0], [part], lambda n: n ** found[0].split().count(name)).text

    return _POWER.sub(named, text)


def _kernel_names(name: str, value: Any) -> list[str]:
    """What the kernel calls an argument: a complex number is two."""
    if isinstance(value, complex | np.complexfloating):
        return [f"{name}_re", f"{name}_im"]
    return [name]


def _conversions(given: dict[str, Any], buffers: Sequence[Buffer]) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        if isinstance(value, complex | np.complexfloating):
            parts = _kernel_names(name, value)
            yield from zip(parts, (f"float({name}.real)", f"float({name}.imag)"), strict=True)
        elif isinstance(value, np.generic):
            yield name, f"{ {'b': 'bool', 'f': 'float'}.get(value.dtype.kind, 'int') }({name})"
        elif isinstance(value, np.ndarray) and value.dtype.kind == "c":
            yield name, _pairs(name, value.dtype)
    for buffer in buffers:
        if buffer.dtype.kind == "c":
            yield buffer.name, _pairs(buffer.name, buffer.dtype)


def _words(
    code: Code,
    given: dict[str, Any],
    buffers: Sequence[Buffer],
    lines: Sequence[str],
    result: str,
) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """Arguments of narrow whole numbers by the names of their copies in words, and the assignments
    that bring back what the kernel wrote."""
    before = {
        code.fresh(f"{name}_"): name
        for name, value in given.items()
        if isinstance(value, np.ndarray) and is_narrow(value.dtype)
    }
    after = [
        (f"{name}[...]", place)
        for place, name in before.items()
        if any(line.startswith(f"{name}[") for line in lines)
    ]
    after += [
        (b.name, f"{b.name}.astype(np.{b.dtype})")
        for b in buffers
        if is_narrow(b.dtype) and b.name in re.findall(r"\w+", result)
    ]
    return before, tuple(after)


def _narrow(given: dict[str, Any], buffers: Sequence[Buffer]) -> tuple[tuple[str, np.dtype], ...]:
    """Arrays of numbers of fewer bits than words have among the kernel's arguments, with their
    types."""
    arrays = [(name, v.dtype) for name, v in given.items() if isinstance(v, np.ndarray)]
    arrays += [(buffer.name, buffer.dtype) for buffer in buffers]
    narrow = [(name, dtype) for name, dtype in arrays if is_narrow(dtype)]
    return tuple((name, dtype) for name, dtype in narrow if dtype.itemsize < WORD.itemsize)


def _pairs(name: str, dtype: np.dtype) -> str:
    """A contiguous complex array as floats, without a copy."""
    return f"{name}.view(np.{types.part(dtype)})"


def _as_held(value: np.ndarray) -> np.ndarray:
    """A copy of an array from outside, as the kernel has such."""
    made = np.array(value, held_as(value.dtype), order="C")
    return made.view(types.part(made.dtype)) if made.dtype.kind == "c" else made


def _size(size: Int) -> str:
    """Text of a size; loops over fewer than no elements do nothing, but NumPy raises."""
    return f"max({size.text}, 0)" if any(c < 0 for _, c in size.terms) else size.text


__all__ = ["arguments", "arith", "lower", "nests", "refusals"]
