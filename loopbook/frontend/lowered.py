"""What a translation gives: a kernel of loops, and the function around it.

::

    def kernel(A, x, t_0, result_0):      # loops and scalars only: this is what is compiled
        ...

    def outer(A, x):                      # plain Python: memory and results
        t_0 = np.empty((A.shape[0],), np.float64)
        result_0 = np.empty((A.shape[1],), np.float64)
        kernel(A, x, t_0, result_0)
        return result_0

Temporaries are made by NumPy, so compiled code allocates nothing. Those that are no part of the
result are kept for the next call (see `loopbook.frontend.room`).
"""

from __future__ import annotations

import ast
import hashlib
import linecache
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend.room import Room
from loopbook.syntax import PYTHON_FLOATS, PYTHONS

CALLED = "kernel__"
"""The kernel, in the text of the function around it."""


class SupposedError(LoweringError):
    """Only the loops could tell whether something is as was supposed, and it is not."""


def _refuse(*_: Any) -> Any:
    raise SupposedError("the data are not as was supposed")


class _Maths:
    """`math` for running loops as Python: NumPy's functions, which give NaN where math raises."""

    NAMES: ClassVar = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
             "acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2"}  # fmt: skip

    @staticmethod
    def pow(x: float, y: float) -> float:
        return np.power(np.float64(x), np.float64(y))

    def __getattr__(self, name: str) -> Any:
        return getattr(np, self.NAMES.get(name, name), None) or getattr(math, name)


def _word(value: Any) -> Any:
    """A whole number as compiled loops have it, of 64 bits."""
    number = int(value)
    return np.int64((number + 2**63) % 2**64 - 2**63)


def _maximum(x: float, y: float) -> float:
    """NumPy's, which keeps a NaN."""
    return x if x > y or x != x else y


def _minimum(x: float, y: float) -> float:
    return x if x < y or x != x else y


def _of_pairs(shape: str) -> str:
    """The shape of an array of complex numbers as one of their parts, which lie side by side."""
    node = ast.parse(shape, mode="eval").body
    sizes = node.elts if isinstance(node, ast.Tuple) else [node]
    *others, last = map(ast.unparse, sizes) if sizes else ["1"]
    return f"({''.join(f'{size}, ' for size in others)}({last}) * 2,)"


@dataclass(frozen=True)
class Lowered:
    """A Python function as explicit loops.

    Attributes:
        name: of the function.
        source: Python text of the kernel and of the function around it.
        kernel_source: of the kernel alone.
        line_map: from lines of `kernel_source` (counted from 1) to lines of the original file.
        temporaries: names of the arrays that are made for each call.
        kernel_parameters: names of the kernel's arguments.
        guards: conditions on the arguments that were taken for granted, as Python text.
        allocations: text of each temporary's shape and its type.
        definitions: sizes that are computed before the loops run: name and text.
        conversions: arguments that the kernel is given as something else, and what: NumPy's numbers
            as Python's, complex arrays as pairs of floats along their last axis.
        before: assignments in front of the kernel's call, and after it: narrow whole numbers into
            words and back (see `loopbook.frontend.narrow`), complex numbers into C order and back.
        looked_into: arguments whose elements conditions or sizes depend on, not their shapes alone.
        compared: at how many sizes its numbers have been found to be the function's.
        failed: the temporary that says whether something turned out otherwise than was supposed.
        stored: arguments that the kernel stores into.
        constants: arrays from outside the function, as the kernel is given them.
        words: the kernel's arrays of narrow whole numbers, which are words for docc, and the types
            that they have for callers (see `narrow`).
        copied: the arguments of which the kernel gets copies.
        in_line: the arguments that the kernel is given as one line of elements.
        things: classes that the result is made of.
        differs: whether docc would make something else of the function itself: an index may be
            negative, for these arguments or others, a number is rounded to 32 bits, or a short loop
            is written out.
        pythons: whether ``max`` and ``min`` of floats in it are Python's own, not NumPy's.
        singles: whether all doubles in it are numbers of Python's, beside floats of 32 bits.
    """

    name: str
    parameters: tuple[str, ...]
    kernel_parameters: tuple[str, ...]
    kernel_source: str
    source: str
    line_map: dict[int, int]
    temporaries: tuple[str, ...]
    guards: tuple[str, ...]
    allocations: tuple[tuple[str, str, np.dtype], ...]
    result: str
    conversions: tuple[tuple[str, str], ...] = ()
    definitions: tuple[tuple[str, str], ...] = ()
    before: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()
    defaults: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    looked_into: frozenset[str] = frozenset()
    compared: int = 0
    failed: str = ""
    stored: tuple[str, ...] = ()
    constants: tuple[tuple[str, np.ndarray], ...] = field(default=(), compare=False)
    differs: bool = False
    things: tuple[tuple[str, type], ...] = ()
    words: tuple[tuple[str, np.dtype], ...] = ()
    copied: tuple[str, ...] = ()
    pythons: bool = False
    singles: bool = False
    in_line: frozenset[str] = frozenset()

    @cached_property
    def narrow(self) -> Lowered:
        """The same around a compiled kernel that takes narrow whole numbers as they are
        (`loopbook.sdfg.narrow`): nothing is copied."""
        types = dict(self.words)
        words = {text for n, text in self.conversions if n in types}
        return replace(
            self,
            allocations=tuple(
                (n, shape, types.get(n, kind)) for n, shape, kind in self.allocations
            ),
            conversions=(
                *((n, text) for n, text in self.conversions if n not in types),
                *((n, f"{n}.reshape(-1)") for n in types if n in self.in_line),
            ),
            before=tuple((n, text) for n, text in self.before if n not in words),
            after=tuple(
                (n, text) for n, text in self.after if n.removesuffix("[...]") not in types
            ),
            copied=tuple(name for name in self.copied if name not in types),
        )

    @cached_property
    def kernel(self) -> FunctionType:
        """The loops as a Python function; docc can read its source."""
        names = {"math": math, "np": np}
        said = {PYTHONS: self.pythons, PYTHON_FLOATS: self.singles}
        names |= {name: True for name, is_so in said.items() if is_so}
        return self._made(self.kernel_source, self.name, names)

    @cached_property
    def plain_kernel(self) -> FunctionType:
        """The loops to be run as Python: maths as NumPy's, so that nothing raises, and a NaN stays
        one."""
        extremes = {} if self.pythons else {"max": _maximum, "min": _minimum}
        return self._made(
            self.kernel_source,
            self.name,
            {"math": _Maths(), "np": np, "float": np.float64, "int": _word} | extremes,
        )

    def wrap(
        self, kernel: Callable[..., Any], original: Callable[..., Any] | None = None
    ) -> Callable[..., Any]:
        """A function with the original's arguments and results around a (compiled) kernel.

        Args:
            original: is called where the loops find that something is not as was supposed; without
                it, `SupposedError` is raised then.
        """
        name = "outer"
        names = {"np": np, "math": math, CALLED: kernel, "original__": original or _refuse}
        names |= {"room__": Room(), **dict(self.constants), **dict(self.things)}
        made = self._made(self._outer_text(keep=True), name, names)
        made.__name__, made.__defaults__ = self.name, self.defaults or None
        return made

    @cached_property
    def holds(self) -> Callable[..., bool]:
        """Whether a call's arguments are of the kind that this translation is for.

        Only values are looked at: types, ranks and layouts are the caller's to compare.
        """
        test = " and ".join(self.guards) or "True"
        sizes = "".join(
            f"        {name} = {text}\n"
            for name, text in self.definitions
            if not text.startswith("np.array(")  # which no guard asks for
        )
        exact = "".join(f"        {name} = int({name})\n" for name in self._wrapping)
        text = (
            f"def holds({', '.join(self.parameters)}):\n"
            f"    try:\n{exact}{sizes}        return {test}\n"
            "    except (ArithmeticError, ValueError):\n        return False\n"
        )
        made = self._made(text, "holds", {"np": np, "math": math})
        made.__defaults__ = self.defaults or None
        return made

    @cached_property
    def prepare(self) -> Callable[..., tuple[Any, ...]]:
        """From a call's arguments to the kernel's, with new temporaries full of noughts: what to
        compile the kernel with, since left-over memory may hold a NaN, which compiling refuses."""
        cleared = self._allocate.replace("np.empty(", "np.zeros(")
        text = f"def prepare({', '.join(self.parameters)}):\n{self._exact}{cleared}"
        text += f"    return tuple([{self._given}])\n"  # there may be none
        made = self._made(text, "prepare", {"np": np, "math": math, **dict(self.constants)})
        made.__defaults__ = self.defaults or None
        return made

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The whole function, run as Python."""
        return self.wrap(self.plain_kernel)

    def finished(self, values: Sequence[Any], args: Sequence[Any]) -> tuple[list[Any], Any]:
        """What a call comes to: its arguments as the function leaves them, and its result.

        Args:
            values: the kernel's arguments after a run.
            args: the call's own.
        """
        missing = len(self.parameters) - len(args)
        args = [*args, *(self.defaults[-missing:] if missing else ())]
        after = dict(zip(self.kernel_parameters, values, strict=True))
        arrays: dict[int, np.ndarray] = {}  # what was passed twice is the kernel's once
        for name, value in zip(self.parameters, args, strict=True):
            if isinstance(value, np.ndarray) and id(value) not in arrays:
                arrays[id(value)] = _like(after[name], value.dtype).reshape(value.shape)
        arguments = [arrays.get(id(value), value) for value in args]
        if self.failed and after[self.failed][0]:
            _refuse()
        temporaries = [_like(after[name], dtype) for name, _, dtype in self.allocations]
        return arguments, self._answer(*arguments, *temporaries)

    @cached_property
    def _answer(self) -> Callable[..., Any]:
        """The result, from arguments and temporaries after a run."""
        names = [*self.parameters, *(name for name, *_ in self.allocations)]
        sizes = self._exact + self._sizes
        back = _assignments([(n, text) for n, text in self.after if n in names])
        text = f"def answer({', '.join(names)}):\n{sizes}{back}    return {self.result or None}\n"
        return self._made(text, "answer", {"np": np, "math": math, **dict(self.things)})

    @property
    def made(self) -> dict[str, str]:
        """The text of the shapes of the kernel's arguments that are made for each call, as the
        kernel has them."""
        return {
            name: _of_pairs(shape) if dtype.kind == "c" else shape
            for name, shape, dtype in self.allocations
        }

    @property
    def local(self) -> frozenset[str]:
        """Those that hold nothing before it runs and are looked at by nobody afterwards."""
        given = set(re.findall(r"\w+", " ".join([self.failed, *sum(self.before, ())])))
        return frozenset(name for name, *_ in self._own if name not in given)

    @property
    def _allocate(self) -> str:
        return self._sizes + _empty(self.allocations) + _assignments(self.before)

    @property
    def _wrapping(self) -> list[str]:
        """The arguments that are NumPy's whole numbers. Sizes and tests are computed of Python's,
        which do not wrap around: ``n - 2 >= 0`` would be true of all unsigned ones."""
        given = dict(self.conversions)
        return [name for name in self.parameters if given.get(name) == f"int({name})"]

    @property
    def _exact(self) -> str:
        return _assignments((name, f"int({name})") for name in self._wrapping)

    @property
    def _sizes(self) -> str:
        return _assignments(self.definitions)

    @property
    def _own(self) -> list[tuple[str, str, np.dtype]]:
        """The temporaries that nobody sees after the call."""
        given = set(re.findall(r"\w+", " ".join([self.result, *sum(self.after, ())])))
        return [made for made in self.allocations if made[0] not in given]

    @property
    def _given(self) -> str:
        """The kernel's arguments; docc takes NumPy's scalars for arrays: they become Python's."""
        texts = dict(self.conversions)
        return ", ".join(texts.get(p, p) for p in self.kernel_parameters)

    @property
    def _outer_source(self) -> str:
        return self._outer_text(keep=False)

    def _outer_text(self, *, keep: bool) -> str:
        """The function around the kernel.

        Args:
            keep: keep temporaries from one call to the next.

        What it needs itself has names that no argument has: one may well be called kernel.
        """
        exact, kept_on, own = self._exact, "", self._own
        if self.failed:
            exact = _assignments((f"{name}__given", name) for name in self._wrapping) + exact
        allocate = exact + self._allocate
        if keep and own:
            names = "".join(f"{name}, " for name, *_ in own)
            others = [made for made in self.allocations if made not in own]
            allocate = exact + (
                self._sizes + f"    shapes__ = ({''.join(f'{shape}, ' for _, shape, _ in own)})\n"
            )
            allocate += "    kept__ = room__.pop(shapes__, None)\n    if kept__ is None:\n"
            allocate += _empty(own, "        ") + f"        kept__ = ({names})\n"
            allocate += f"    {names}= kept__\n"
            allocate += _empty(others) + _assignments(self.before)
            kept_on = "    room__.put(shapes__, kept__)\n"
        call = f"    {CALLED}({self._given})\n"
        if self.failed:
            kept = [(f"{name}__kept", name) for name in self.stored]
            call = _assignments((own, f"{name}.copy()") for own, name in kept) + call
            call += f"    if {self.failed}[0]:\n"
            call += "".join(f"        {name}[...] = {own}\n" for own, name in kept)
            given = (f"{p}__given" if p in self._wrapping else p for p in self.parameters)
            call += f"        return original__({', '.join(given)})\n"
        back = f"    return {self.result}\n" if self.result else ""
        call += _assignments(self.after) + kept_on
        return f"def outer({', '.join(self.parameters)}):\n{allocate}{call}{back}"

    def _made(self, text: str, name: str, names: dict[str, Any]) -> Any:
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        file = f"<loopbook {self.name} {digest}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        namespace = dict(names)
        exec(compile(text, file, "exec"), namespace)
        return namespace[name]


def _like(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The array itself; complex numbers back from pairs, narrow whole ones from words."""
    return values.view(dtype) if dtype.kind == "c" else values.astype(dtype, copy=False)


def _assignments(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f"    {target} = {text}\n" for target, text in pairs)


def _empty(made: Iterable[tuple[str, str, np.dtype]], indent: str = "    ") -> str:
    """Text that makes arrays."""
    return "".join(
        f"{indent}{name} = np.empty({shape}, np.{_type_name(dtype)})\n"
        for name, shape, dtype in made
    )


def _type_name(dtype: np.dtype) -> str:
    return "bool_" if dtype.kind == "b" else dtype.name


def tuple_text(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
