"""What names stand for while a function is translated: scalars, arrays, tuples, things of Python.

An array is never more than a way to get at its elements: `Array.at` gives the text of one element
for the texts of its indices. An elementwise expression over arrays is such an array again, so a
whole chain of them becomes one loop nest, written where its values are wanted. A *view* is an array
whose elements lie in a buffer; only views can be stored into::

    A[1:-1].T          View(A, dims=((1, {axis 1: 1}), (0, {axis 0: 1})))
    A[1:] - A[:-1]     at = (i,) -> "A[i + 1] - A[i]"
    alpha * (A @ x)    sums = (Sum over k of alpha * A[i, k] * x[k])
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend import types
from loopbook.frontend.symbols import Int

Index = tuple[Int, ...]
Dim = tuple[Int, tuple[tuple[int, Int], ...]]
"""Place along one dimension of what is looked at: an offset, and a factor for each own axis."""


Kind = tuple[np.dtype, bool]
"""A number's type, and whether it is one of Python's."""


@dataclass(eq=False)
class Seen:
    """The types that are ever seen of a number: those that it is given, and those that are ever
    seen of numbers that it is given in loops, which may give these others further down."""

    own: set[Kind] = field(default_factory=set)
    given: list[Seen] = field(default_factory=list)

    def all(self) -> frozenset[Kind]:
        """Those of the whole chain, which may be a ring."""
        met, todo = list[Seen](), [self]
        while todo:
            one = todo.pop()
            if one not in met:
                met.append(one)
                todo += one.given
        return frozenset(kind for one in met for kind in one.own)


@dataclass(frozen=True, eq=False)
class Sorts:
    """The types that a number may have (see `loopbook.frontend.sorts`).

    Attributes:
        kinds: those; None for all that are ever `seen` where it lives.
        text: says which, where that is told.
        wanted: of what it has to be told for that.
    """

    kinds: frozenset[Kind] | None
    text: str
    wanted: frozenset[str]
    seen: Seen = field(default_factory=Seen)


@dataclass(frozen=True)
class Scalar:
    """One number.

    Attributes:
        text: source text; it may stand beside any operator.
        weak: a Python number, which adapts to the types of arrays.
        whole: its value as a polynomial, where it is a whole number that is known as one.
        value: its value, where it is a constant.
        sorts: the types that it may have, where they are not just its own.
        boxed: NumPy has it as an array without axes, unless it is weak.
    """

    text: str
    dtype: np.dtype
    weak: bool = False
    whole: Int | None = None
    value: Any = None
    sorts: Sorts | None = field(default=None, compare=False)
    boxed: bool = field(default=False, compare=False)

    @property
    def kind(self) -> tuple[np.dtype, bool]:
        return self.dtype, self.weak

    @property
    def texts(self) -> tuple[str, ...]:
        """Source text of what it consists of: itself, or real and imaginary part."""
        return (self.text,)

    @property
    def simple(self) -> bool:
        """Whether using it twice costs nothing."""
        return all(re.fullmatch(r"\(?-?[\w.]+\)?", text) for text in self.texts)

    def __post_init__(self) -> None:
        if self.dtype.kind == "c" and type(self) is Scalar:
            raise LoweringError("complex numbers in this; write it for real and imaginary parts")


class Pair(Scalar):
    """A complex number: the texts of its parts. Whatever asks for one text cannot handle it."""

    def __init__(
        self, parts: Iterable[str], dtype: np.dtype, weak: bool = False, value: Any = None
    ) -> None:
        real, imag = parts
        for name, given in (("real", real), ("imag", imag), ("dtype", dtype), ("weak", weak),
                            ("whole", None), ("value", value)):  # fmt: skip
            object.__setattr__(self, name, given)

    real: str
    imag: str

    @property
    def text(self) -> str:  # type: ignore[override]
        raise LoweringError("complex numbers in this; write it for real and imaginary parts")

    @property
    def texts(self) -> tuple[str, ...]:
        return self.real, self.imag

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


@dataclass(eq=False)
class Buffer:
    """Memory: an array argument, a result, or a temporary.

    Complex elements are pairs of floats along one more axis, behind those of `shape`. An index with
    that axis is of a real or imaginary part, one without it of both.

    Attributes:
        shape: for temporaries, sizes that the arguments give.
        rows: where its elements are in one line in memory, as `numpy.ravel` sees them, the shape of
            what they are elements of.
        place: "argument", "constant" (an array from outside the function) or "temporary".
        copied: it holds a copy of what NumPy would have as a view, so nobody may store into it.
        base: where that view would be.
        origin: the argument whose elements, all of them, it has a copy of.
        values: a constant's elements.
        listed: where the list is made that it stands for, as line and column: its elements are
            Python's numbers.
    """

    name: str
    dtype: np.dtype
    shape: Index
    place: str = "temporary"
    copied: bool = False
    origin: Buffer | None = None
    values: np.ndarray | None = None
    listed: tuple[int, int] | None = None
    rows: Index = ()
    base: Buffer | None = None

    @property
    def sizes(self) -> Index:
        """The shape of what it holds."""
        return self.rows or self.shape


@dataclass(frozen=True)
class View:
    """Where the elements of an array lie: one `Dim` for each dimension of the buffer."""

    buffer: Buffer
    dims: tuple[Dim, ...]

    def index(self, own: Index) -> Index:
        return tuple(locate(dim, own) for dim in self.dims)


@dataclass(frozen=True)
class Sum:
    """Part of an array that is summed over further indices.

    Attributes:
        sizes: of the indices that are summed over.
        at: one summand, for the array's own indices and those.
        buffers: what summands read.
        cost: as an array's.
        sign: 1 or -1.
    """

    sizes: Index
    at: Callable[[Index, Index], Scalar]
    buffers: frozenset[Buffer]
    cost: int = 1
    sign: int = 1


@dataclass(frozen=True, eq=False)
class Array:
    """An array, of rank 0 too where it is a sum that is not computed yet.

    Attributes:
        at: an element without `sums`; None where there is nothing but those.
        view: where its elements lie, if they lie anywhere.
        sums: what is to be added to each element.
        buffers: what `at` reads.
        cost: roughly the number of operations in an element.
        mask: for ``a[mask]``: the elements of `at` where this is true are meant, in order.
    """

    shape: Index
    dtype: np.dtype
    at: Callable[[Index], Scalar] | None
    view: View | None = None
    sums: tuple[Sum, ...] = ()
    buffers: frozenset[Buffer] = frozenset()
    cost: int = 0
    mask: Array | None = None
    weak: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def kind(self) -> tuple[np.dtype, bool]:
        return self.dtype, self.weak

    def element(self, index: Index) -> Scalar:
        assert self.at is not None
        return self.at(index)


@dataclass(frozen=True)
class Tup:
    """A tuple of values; a list, if `listed`."""

    items: tuple[Any, ...]
    listed: bool = False

    def of(self, items: Iterable[Any]) -> Tup:
        """The same of other items."""
        return Tup(tuple(items), self.listed)

    @property
    def labels(self) -> tuple[Any, ...]:
        """What else two tuples must have in common to be of one kind."""
        return ()

    def each(self) -> tuple[Any, ...]:
        """What a loop goes through."""
        return self.items


V = TypeVar("V")


def boxed(value: V) -> V:
    """A number as an array without axes; anything else is what it was."""
    if not isinstance(value, Scalar) or isinstance(value, Pair):
        return value
    return replace(value, weak=False, boxed=True)


def unboxed(value: Scalar) -> Scalar:
    """An array without axes as the number in it: ``x[()]``."""
    return replace(value, boxed=False) if value.boxed and not isinstance(value, Pair) else value


@dataclass(frozen=True)
class Thing:
    """Something of Python that is no number: a function, a module, a type, None, a slice's part."""

    value: Any


@dataclass(frozen=True)
class Bound:
    """A method with what it belongs to."""

    name: str
    owner: Any


@dataclass(frozen=True)
class Slice:
    """``start:stop:step`` in an index; each a `Scalar` or None.

    Attributes:
        count: for a step of ``n * 1j``, as grids take it: how many numbers there are.
    """

    start: Scalar | None
    stop: Scalar | None
    step: Scalar | None
    count: Int | None = None


@dataclass(frozen=True)
class Unknown:
    """What nothing is known of: an argument without a type, or what could not be translated."""


@dataclass(eq=False)
class Listing:
    """A list that loops or branches append to.

    Attributes:
        name: what it is called.
        count: the variable that counts its items.
        head: the variable that counts those that were taken off its front; empty if none is.
        depth: how many loops are around where it was made.
        buffer: where the items are; None before there is one.
        shape: of each item.
        dtype: of the items, and whether they are Python's numbers.
        sites: by statement, how many items each ``append`` adds; None where only the loops know.
            An item for "pop" where something is taken off.
        rooms: the most that each of them adds, or is supposed to.
        mixed: whether there are Python's numbers and NumPy's among the items.
        size: the name of how many items there is room for.
        columns: of items that are tuples of numbers, the type of each number, as `kind`.
        like: the first of these items, for what the others are: lists, or named tuples.
        others: where such numbers are, behind the first, if their types differ.
        rest: the statements behind the one that makes it, in their block.
    """

    name: str
    count: str
    depth: int
    buffer: Buffer | None = None
    shape: Index = ()
    kind: tuple[np.dtype, bool] = (np.dtype(float), False)
    sites: dict[int | str, Int | None] = field(default_factory=dict)
    rooms: dict[int, Int] = field(default_factory=dict)
    mixed: bool = False
    size: str = ""
    head: str = ""
    columns: tuple[tuple[np.dtype, bool], ...] = ()
    like: Tup = Tup(())
    others: list[Buffer] = field(default_factory=list)
    rest: Sequence[ast.stmt] = ()


Value = Scalar | Array | Tup | Thing | Bound | Slice | Unknown | Listing


def locate(dim: Dim, own: Index) -> Int:
    """The place along one dimension for an array's own indices."""
    offset, factors = dim
    for axis, factor in factors:
        offset = offset + own[axis] * factor
    return offset


def argument_of(array: Array) -> Buffer | None:
    """The argument that an array is all of, or has a copy of as it was passed."""
    if array.view is None:
        return None
    buffer = array.view.buffer
    everything = whole(buffer)
    if array.view != everything.view or array.shape != everything.shape:  # ``a[:3]`` begins there
        return None
    return buffer if buffer.place == "argument" else buffer.origin


def compose(outer: tuple[Dim, ...], inner: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The dims of a view of a view: `inner` places in what `outer` places."""
    result: list[Dim] = []
    for offset, factors in outer:
        sums: dict[int, Int] = {}
        for axis, factor in factors:
            start, own = inner[axis]
            offset = offset + start * factor
            for own_axis, own_factor in own:
                sums[own_axis] = sums.get(own_axis, Int(())) + own_factor * factor
        result.append((offset, tuple(sorted(sums.items()))))
    return tuple(result)


def looked_at(array: Array, shape: Index, dims: tuple[Dim, ...]) -> Array:
    """`array` through `dims`, one for each of its axes; a view stays one.

    The array must have no `sums`.
    """
    at = array.at
    assert at is not None
    assert not array.sums
    if array.view is not None:
        return view_of(array.view.buffer, shape, compose(array.view.dims, dims), array.dtype)
    return replace(
        array,
        shape=shape,
        at=lambda own: at(tuple(locate(dim, own) for dim in dims)),
    )


def view_of(buffer: Buffer, shape: Index, dims: tuple[Dim, ...], dtype: np.dtype) -> Array:
    """The array that lies in `buffer` at `dims`."""
    view = View(buffer, dims)

    def at(own: Index) -> Scalar:
        index = view.index(own)
        READS.append((buffer, index[: len(buffer.shape)]))
        return held(buffer, index, dtype)

    weak = buffer.listed is not None
    return Array(shape, dtype, at, view, buffers=frozenset((buffer,)), weak=weak)


READS: list[tuple[Buffer, Index]] = []
"""What elements were read since somebody looked; see `nests`."""


def subscript(buffer: Buffer, index: Index) -> str:
    """The text of an element; of a part of one, where there is one more index than axes."""
    if buffer.rows and len(index) - (buffer.dtype.kind == "c") == len(buffer.rows):
        rank = len(buffer.rows)
        index = (locate(in_a_line(buffer.rows), index), *index[rank:])
    if len(index) > len(buffer.shape):
        *others, last, part = index
        index = (*others, last * 2 + part)
    return f"{buffer.name}[{', '.join(i.text for i in index) or '()'}]"


def places(buffer: Buffer, index: Index, dtype: np.dtype) -> list[str]:
    """The text of an element of a type, or of its two parts."""
    if dtype.kind != "c":
        return [subscript(buffer, index)]
    return [subscript(buffer, (*index, Int.of(part))) for part in (0, 1)]


def held(buffer: Buffer, index: Index, dtype: np.dtype) -> Scalar:
    """An element as a number; as one that is known, where a constant's place is."""
    known = [int(i.constant) for i in index if i.constant is not None]
    if buffer.values is not None and len(known) == len(index):
        found = buffer.values[tuple(known[: buffer.values.ndim])]
        parts = (found.real, found.imag) if len(known) > buffer.values.ndim else ()
        return constant(parts[known[-1]] if parts else found)
    texts = places(buffer, index, dtype)
    weak = buffer.listed is not None
    return Pair(texts, dtype) if dtype.kind == "c" else Scalar(texts[0], dtype, weak)


def constant(value: Any) -> Scalar:
    """A number that is known: Python's are weak, NumPy's are not."""
    weak = not isinstance(value, np.generic)
    dtype = np.dtype(type(value)) if weak else value.dtype
    known = Int.of(int(value)) if dtype.kind in "iu" and int(value) < 2**63 else None
    if dtype.kind == "c":
        return Pair((types.literal(value.real), types.literal(value.imag)), dtype, weak, value)
    return Scalar(types.literal(value), dtype, weak, known, value)


def is_none(value: Value | None) -> bool:
    """Whether an argument is left out, or None."""
    return value is None or (isinstance(value, Thing) and value.value is None)


def whole(buffer: Buffer, shape: Index | None = None) -> Array:
    """All of a buffer, or its first part of a shape."""
    dims = tuple((Int(()), ((axis, Int.of(1)),)) for axis in range(len(buffer.shape)))
    if buffer.rows:
        dims = (in_a_line(buffer.rows),)
    if shape == ():
        dims = tuple((Int(()), ()) for _ in buffer.shape)
    return view_of(buffer, buffer.sizes if shape is None else shape, dims, buffer.dtype)


def in_a_line(shape: Index) -> Dim:
    """Where the elements of an array are that lie one behind the other in C order."""
    factors, step = [], Int.of(1)
    for axis in reversed(range(len(shape))):
        factors.append((axis, step))
        step = step * shape[axis]
    return Int(()), tuple(reversed(factors))


def elementwise(
    shape: Index, dtype: np.dtype, at: Callable[[Index], Scalar], *sources: Value, cost: int = 1
) -> Array:
    """An array computed from `sources`, each read at one place an element."""
    arrays = [s for s in sources if isinstance(s, Array)]
    buffers = frozenset(b for a in arrays for b in a.buffers)
    return Array(shape, dtype, at, buffers=buffers, cost=cost + sum(a.cost for a in arrays))


def part_of(array: Array, part: int) -> Array:
    """The real (0) or imaginary (1) parts of a complex array that lies in memory, as a view."""
    assert array.view is not None
    dims = (*array.view.dims, (Int.of(part), ()))
    return view_of(array.view.buffer, array.shape, dims, types.part(array.dtype))


def arrays_in(value: Value) -> list[Array]:
    """The arrays in a value: itself, or those in a tuple."""
    if isinstance(value, Tup):
        return [array for item in value.items for array in arrays_in(item)]
    return [value] if isinstance(value, Array) else []
