"""The loops that are being written: lines, fresh names, temporaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend import types, values
from loopbook.frontend.counted import room_of
from loopbook.frontend.symbols import ONE, ZERO, Facts, Int
from loopbook.frontend.values import Array, Buffer, Index, Kind, Pair, Scalar, View

SEVERAL = 8
"""How many elements may come of one, as bytes of a number, in a list that nothing else bounds."""

AMPLE = 1 << 22
"""Elements of such a list that there are not several for each of an argument's. Chosen."""


LEAST = 1 << 20
"""Elements that there is room for in any such list: how many times a loop comes by that goes on
until something is reached has nothing to do with the sizes of arrays. Chosen."""


class UntoldError(LoweringError):
    """Whether something can be turned into loops depends on what is not known."""


class AgainError(LoweringError):
    """The function has to be translated once more, with what is known now."""


class FloatsInListError(AgainError):
    """A float is stored into a list that was taken for one of whole numbers.

    Attributes:
        made: where, as line and column.
    """

    def __init__(self, made: tuple[int, int]) -> None:
        super().__init__("a list of whole numbers and of floats")
        self.made = made


class InLineError(AgainError):
    """What is stored into through a view such as `numpy.ravel` gives has to be in one line.

    Attributes:
        name: of the buffer.
    """

    def __init__(self, name: str) -> None:
        super().__init__("storing through reshape or ravel of what is not contiguous")
        self.name = name


class UnrollError(LoweringError):
    """A loop's variable is part of something that only has a form for numbers that are known."""


class PlacesError(AgainError):
    """A place in an array is computed, and something that was looked at before may have said that
    it is none."""


class HomelessError(LoweringError):
    """A name is None when a loop begins, and a number or an array later."""

    def __init__(self, name: str, line: int = 0, file: str = "") -> None:
        what = f"{name} is no number or array when the loop begins, and is one later"
        super().__init__(name if " " in name else what, line, file)


@dataclass(frozen=True)
class Line:
    """A line of generated source and the line of the original that it comes from."""

    depth: int
    text: str
    origin: int


@dataclass(frozen=True)
class Halo:
    """A copy of an array with a halo (see `loopbook.frontend.constructs.rolling`).

    Attributes:
        key: what it is a copy of, along which axis and how wide the halo is.
        lines, place, depth: where it was made.
    """

    key: tuple[View, Index, int, int]
    copy: Array
    lines: list[Line]
    place: int
    depth: int


@dataclass
class Code:
    """Generated statements, and what they need.

    Attributes:
        facts: what is known of sizes and indices.
        mutable: names of variables that are assigned more than once.
        memo: values that are in variables already, until something changes or a block ends.
        temporaries: buffers to allocate before the loops run.
        constants: arrays from outside the function that it reads.
        things: classes that the result is made of, by the names that they have there.
        arguments: names of the numbers and arrays that the function is called with.
        elements: the arrays among them, for sizes that their elements give.
        numbers: the floats among them, for sizes that these give.
        looked_into: those that are looked at before the loops, so that nothing may be stored there.
        only_read: arrays among the arguments of which nothing but elements and sizes is asked.
        laid_out: those of which NumPy would make a copy unless they are in C order, where the loops
            have the array itself: what is stored into one is in the other, too.
        texts: whole numbers in variables, and what these were set to.
        trips: how many times each of the loops around the place at hand runs; None where only the
            loops know.
        halos: copies with a halo that there are.
        rolled: arrays that are parts of such, with the copy and where they begin along each axis;
            None along what has no halo.
        differs: whether docc would make something else of the function itself: an index may be
            negative, for these arguments or others, a number is rounded to 32 bits, or a short loop
            is written out.
        floats: where lists are made that hold floats, though they begin with whole numbers.
        wide: whether there are unsigned numbers of 64 bits that may need all of them.
        telling: of what it is told which of several types it has (see `sorts`).
        sorts: types, by the number that stands for each.
        sorted_by: what else decides of the type of what is told.
        peeled: whether the first iterations of loops that begin with None are written out.
        in_line: names of buffers whose elements have to be in one line (see `InLineError`).
        merged: copies of what NumPy would have as a view, made by reshape or ravel.
        failed: name of what says that something which was supposed is not so; empty if nothing was.
        raises: at how many places Python may raise.
        checks_places: whether what decides that may be whether numbers are places in an array.
        leaving: whether the loops end where Python raises, since that is what decides.
        optional: whether names may be None until they are numbers (see `optional`).
        extremes: whose ``max`` and ``min`` of floats there are, "numpy" or "python".
        pythons: whether all of them are Python's, so that the loops may call them so.
        again: how many calls of functions within themselves are written out.
        origin: line of the original that is being translated.
        computed: what variables hold that get their only values outside of all loops and branches.
        greatest: how to compute before the loops what variables hold that are the greatest numbers
            of arguments.
        before: what NumPy computes of arguments in front of the kernel (see `beforehand`): for a
            buffer, assignments as targets and values.
        raised: ends of slices that are 0 where they would be less, by the variables that hold them:
            as sizes the two are the same, since nothing has fewer than no elements.
    """

    facts: Facts = field(default_factory=Facts)
    lines: list[Line] = field(default_factory=list)
    mutable: set[str] = field(default_factory=set)
    temporaries: list[Buffer] = field(default_factory=list)
    constants: list[Buffer] = field(default_factory=list)
    things: dict[str, type] = field(default_factory=dict)
    arguments: frozenset[str] = frozenset()
    elements: dict[str, np.ndarray] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    looked_into: set[str] = field(default_factory=set)
    only_read: frozenset[str] = frozenset()
    laid_out: set[str] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)
    trips: list[Int | None] = field(default_factory=list)
    peeled: bool = False
    in_line: frozenset[str] = frozenset()
    merged: list[Buffer] = field(default_factory=list)
    halos: list[Halo] = field(default_factory=list)
    rolled: dict[Array, tuple[Array, tuple[Int | None, ...]]] = field(default_factory=dict)
    differs: bool = False
    extremes: set[str] = field(default_factory=set)
    pythons: bool = False
    again: int = 0
    floats: frozenset[tuple[int, int]] = frozenset()
    wide: bool = False
    telling: frozenset[str] = frozenset()
    sorts: dict[Kind, int] = field(default_factory=dict)
    sorted_by: dict[str, set[str]] = field(default_factory=dict)
    failed: str = ""
    raises: int = 0
    checks_places: bool = False
    leaving: bool = False
    optional: bool = False
    depth: int = 0
    origin: int = 0
    memo: dict[Any, Any] = field(default_factory=dict)
    computed: dict[str, str] = field(default_factory=dict)
    greatest: dict[str, str] = field(default_factory=dict)
    before: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    raised: dict[str, Int] = field(default_factory=dict)
    _tables: dict[tuple[np.dtype, bytes], np.ndarray] = field(default_factory=dict)
    _captures: int = 0
    _lasting: dict[Any, tuple[Int, Line]] = field(default_factory=dict)
    _agreed: dict[Int, tuple[Int, ...]] = field(default_factory=dict)

    def emit(self, text: str) -> None:
        self.lines.append(Line(self.depth, text, self.origin))

    @property
    def taken(self) -> set[str]:
        """Names that something has."""
        return self.facts.taken

    def fresh(self, hint: str) -> str:
        """A name that nothing has, after what it holds."""
        return self.facts.fresh(hint)

    def fail(self, what: str) -> LoweringError:
        """An error about the statement at hand, to be raised."""
        return LoweringError(what, self.origin)

    def untold(self) -> LoweringError:
        """An error about a value that nothing is known of, to be raised."""
        return UntoldError("a value of which nothing is known", self.origin)

    def suppose(self, test: str, *, or_leave: bool = False) -> None:
        """Take for granted what only the loops can tell: where it is not so, the call runs as
        Python (see `Lowered.wrap`). The loops must be harmless then, and come to an end.

        Args:
            or_leave: they might not be, so they end at once.
        """
        self.failed = self.failed or self.fresh("failed_")
        never = bare(test) == "False"
        with nullcontext() if never else self.indented(f"if not ({bare(test)}):"):
            self.emit(f"{self.failed}[0] = 1")
            if or_leave:
                self.emit("return")

    @contextmanager
    def indented(self, head: str) -> Iterator[None]:
        """A block under a line such as ``if x > 0:``."""
        self.emit(head)
        start, lasting = len(self.lines), dict(self._lasting)
        self.depth += 1
        self.memo = {}
        try:
            yield
            if len(self.lines) == start:
                self.emit("pass")
        finally:
            self.depth -= 1
            self.memo, self._lasting = {}, lasting

    @contextmanager
    def captured(self) -> Iterator[list[Line]]:
        """Lines written meanwhile go into the list that is given instead, unindented."""
        kept, depth, memo = self.lines, self.depth, self.memo
        self.lines, self.depth, self.memo = [], 0, {}
        self._captures += 1
        try:
            yield self.lines
        finally:
            self.lines, self.depth, self.memo = kept, depth, memo
            self._captures -= 1

    @property
    def is_first(self) -> bool:
        """Whether the place at hand is in no loop or branch, as far as is known."""
        return not self.depth and not self._captures

    def replay(self, lines: Sequence[Line]) -> None:
        """Write captured lines here."""
        self.lines += [replace(line, depth=line.depth + self.depth) for line in lines]

    def demand_places(self, array: str) -> None:
        """Take for granted that no number in an argument is negative: others run as Python."""
        self.facts.guards[f"({array}.size == 0 or {array}.min() >= 0)"] = None
        self.looked_into.add(array)

    def remember(self, key: Any, found: Int, of: Sequence[Int]) -> None:
        """Remember what the last line computed: to the end of the block, where nothing changes that
        it is computed `of`."""
        self.memo[key] = found
        if not any(part.atoms & self.mutable for part in of):
            self._lasting[key] = found, self.lines[-1]

    def remembered(self, key: Any) -> Int | None:
        """What `remember` was told, if it has been computed on all ways to here."""
        if key not in self.memo and key in self._lasting:
            found, line = self._lasting[key]
            # The line may be gone, where a statement is translated anew, or not be here yet.
            return found if any(one is line for one in self.lines) else None
        return self.memo.get(key)

    def let(self, value: Scalar, hint: str = "s") -> Scalar:
        """`value` in a variable of its own, unless it is as short as one."""
        if value.value is not None or (value.simple and not self.changes(value)):
            return value
        if value.whole is not None and not value.whole.atoms & self.mutable:
            return value
        if isinstance(value, Pair):
            return self._parts(value, hint)
        name = self.fresh(f"{hint}_" if not hint.endswith("_") else hint)
        self.emit(f"{name} = {bare(value.text)}")
        self.computes(name, value.text)
        known = None
        if value.dtype.kind in "iu":
            known = Int.atom(name)
            self.facts.name(name, value.text, value.whole)
            self.texts[name] = value.text
        sorts = value.sorts
        if sorts is not None and sorts.text in self.mutable:
            own = self.fresh("sort_")
            self.emit(f"{own} = {sorts.text}")
            sorts = replace(sorts, text=own)
        return Scalar(name, value.dtype, value.weak, known, sorts=sorts, boxed=value.boxed)

    def computes(self, name: str, text: str) -> None:
        """Note that a new variable is set to a text, here and nowhere else."""
        if not self.depth and not self._captures:
            self.computed[name] = text

    def chosen(self, test: str, then: str, other: str) -> str:
        """A new variable that holds one of two texts' values."""
        name = self.fresh("s_")
        self.emit(f"{name} = {bare(other)}")
        with self.indented(f"if {bare(test)}:"):
            self.emit(f"{name} = {bare(then)}")
        return name

    def variables(self, value: Pair, hint: str = "s") -> Pair:
        """A complex number in two new variables."""
        names = [self.fresh(f"{hint.rstrip('_')}_{part}_") for part in ("re", "im")]
        for name, text in zip(names, value.texts, strict=True):
            self.emit(f"{name} = {bare(text)}")
        return Pair(names, value.dtype, value.weak)

    def _parts(self, value: Pair, hint: str) -> Pair:
        """A complex number in variables, but for a part that is nought: what products with it and
        powers of e are is known."""
        texts = []
        for part, text in zip(("re", "im"), value.texts, strict=True):
            if text != "0.0":
                name = self.fresh(f"{hint.rstrip('_')}_{part}_")
                self.emit(f"{name} = {bare(text)}")
                text = name
            texts.append(text)
        return Pair(texts, value.dtype, value.weak)

    def changes(self, value: Scalar) -> bool:
        """Whether its text may mean something else after the next assignment."""
        if value.whole is not None:
            return bool(value.whole.atoms & self.mutable)
        return any(text.strip("()-") in self.mutable or "[" in text for text in value.texts)

    def buffer(self, name: str, dtype: np.dtype, shape: Index, place: str = "temporary") -> Buffer:
        """Memory for an array, with its elements in one line where they have to be."""
        if name not in self.in_line or len(shape) < 2:
            return Buffer(name, dtype, shape, place)
        return Buffer(name, dtype, (prod(shape, start=ONE),), place, rows=shape)

    def not_in_line(self, base: Buffer | None) -> LoweringError:
        """An error about a store that is to be seen in `base` and in a copy of it."""
        given = None if base is None else self.elements.get(base.name)
        if (
            base is None
            or base.rows
            or base.listed is not None
            or base.place == "constant"
            or (given is not None and not given.flags.c_contiguous)
        ):
            return self.fail("storing through reshape or ravel of what is not contiguous")
        return InLineError(base.name)

    def temporary(self, shape: Index, dtype: np.dtype, hint: str = "t") -> Buffer:
        """A new buffer, large enough for `shape` whatever the loop variables are; one element in a
        line for a number, since compiled code takes no arrays without dimensions.

        Raises:
            LoweringError: if no bound of a size is known before the loops run.
        """
        bounds = []
        for size in shape:
            bound = self.facts.bound(size, upper=True)
            if bound is None or self.facts.known(bound) is None:
                raise self.fail("an array whose size is not known before the loops run")
            bounds.append(bound)
        buffer = self.buffer(self.fresh(f"{hint}_"), dtype, tuple(bounds) or (ONE,))
        self.temporaries.append(buffer)
        return buffer

    def constant(self, value: np.ndarray) -> Buffer:
        """An array from outside the function, as it is now."""
        known = next((b for b in self.constants if b.values is value), None)
        if known is not None:
            return known
        if value.dtype not in types.SUPPORTED or not value.size:
            raise self.fail(f"an array of type {value.dtype} and shape {value.shape} from outside")
        shape = tuple(Int.of(size) for size in value.shape)
        buffer = Buffer(self.fresh("constant_"), value.dtype, shape, "constant", True)
        buffer.values = value
        self.constants.append(buffer)
        return buffer

    def table(self, values: np.ndarray) -> np.ndarray:
        """An array of numbers that stand in the function, the same one for the same numbers."""
        return self._tables.setdefault((values.dtype, values.tobytes()), values)

    def thing(self, kind: type) -> str:
        """The name of a class in the function around the loops."""
        known = next((name for name, other in self.things.items() if other is kind), None)
        if known is None:
            self.things[known := self.fresh(f"{kind.__name__}_")] = kind
        return known

    @contextmanager
    def loop(self, start: Int, stop: Int, step: int = 1, hint: str = "i") -> Iterator[Int]:
        """A loop over ``range(start, stop, step)``; gives its variable."""
        name = self.fresh(hint)
        low, high = (start, stop - 1) if step > 0 else (stop + 1, start)
        self.facts.ranges[name] = (low, high)
        kept = len(self.trips)
        self.trips.append(stop - start if step == 1 else None)
        try:
            with self.indented(f"for {name} in {self.range(start, stop, step)}:"):
                yield Int.atom(name)
        finally:
            del self.trips[kept:]

    def range(self, start: Int, stop: Int, step: int = 1) -> str:
        """What a loop runs over."""
        start, stop = self.facts.in_sizes(start), self.facts.in_sizes(stop)
        return f"range({range_text(start, stop, step)})"

    def without_greatest(self, end: Int) -> Int:
        """An end of a loop or slice that names no greatest of several numbers: docc writes
        ``max(0, i - 2)`` into what uses it, and crashes when it computes with it (0.8.1)."""
        if not end.atoms & self.facts.greatest:
            return end
        key = ("plain", end)
        if (known := self.remembered(key)) is not None:
            return known
        name = self.fresh("n_")
        self.emit(f"{name} = {end.operand} | 0")
        self.facts.ranges[name] = (end, end)
        self.differs = True
        self.remember(key, Int.atom(name), (end,))
        return Int.atom(name)

    def same(self, left: Int, right: Int) -> bool:
        """Whether two sizes are equal (for the arguments at hand, where nothing else says)."""
        return left == right or self.facts.zero(left - right) is True

    def agreed(self, left: Int, right: Int) -> Int | None:
        """The size that two sizes are supposed to be, if only the loops know them: the lesser one,
        so that no place is outside where they differ. None for sizes that are known to."""
        if self.same(left, right):
            return left
        if None not in (self.facts.known(left), self.facts.known(right)):
            return None
        if self.is_one(left) or self.is_one(right) or self.facts.zero(left - right) is False:
            return None
        if (place := self._lowest(left)) == self._lowest(right):
            return self._raised(place, left, right)
        key = ("agreed", left, right)
        if key in self.memo:
            return self.memo[key]
        ends = [self.facts.bound(size, upper=True) for size in (left, right)]
        end = next((e for e in ends if e is not None and self.facts.known(e) is not None), None)
        name = self.fresh("n_")
        self.emit(f"{name} = min({left.text}, {right.text})")
        self.suppose(f"{left.text} == {right.text}")
        self.facts.ranges[name] = (ZERO, end)
        self.memo[key] = found = Int.atom(name)
        self._agreed[found] = (left, right)
        return found

    def _lowest(self, size: Int) -> Int:
        """A size in terms of what it is raised from (see `raised`); it may be less than 0."""
        for name in size.atoms & self.raised.keys():
            less = size - Int.atom(name)
            if less.constant is not None and less.constant <= 0:
                return self.raised[name] + less
        return size

    def _raised(self, place: Int, *sizes: Int) -> Int:
        """The number of elements that all of some sizes stand for, which are the same `_lowest`."""
        found = next((size for size in sizes if size.text in self.raised), None)
        found = found or self.raised_to_nought(place)
        self._agreed[found] = tuple(size for size in sizes if size != found)
        return found

    def raised_to_nought(self, size: Int) -> Int:
        """How many elements there are of a size that may be less than 0, where there are none."""
        key = ("raised", size)
        if (known := self.remembered(key)) is not None:
            return known
        name = self.fresh("n_")
        self.emit(f"{name} = max({size.text}, 0)")
        self.raised[name] = self._lowest(size)
        self.facts.ranges[name] = (ZERO, self.facts.bound(size, upper=True))
        self.remember(key, Int.atom(name), (size,))
        return Int.atom(name)

    def bounded(self, size: Int, axes: int = 1, beside: Int = ONE) -> Int:
        """A size of a new array. Where nothing says how large it may be, there is room for some
        more elements than arguments have, and it is supposed to be no larger: of a number that is
        its size, loops may make places.

        Args:
            axes: how many of the array's sizes are unknown.
            beside: how many elements there are for each place along these.
        """
        bound = self.facts.bound(size, upper=True)
        if bound is not None and self.facts.known(bound) is not None:
            return size
        key = ("bounded", size, axes, beside)
        if key not in self.memo:
            room = room_of(self, size) or self.room(axes, beside)
            name = self.fresh("n_")
            self.emit(f"{name} = min({size.text}, {room.text})")
            self.suppose(f"{size.text} >= 0 and {size.text} <= {room.text}", or_leave=True)
            self.facts.ranges[name] = (ZERO, room)
            self._agreed[Int.atom(name)] = (size, size)
            self.memo[key] = Int.atom(name)
        return self.memo[key]

    def opaque(self, size: Int) -> Int:
        """A size that loops compute under a name of which docc knows nothing: into places it would
        write out what the size is made of, now in these words, now in those."""
        name = self.fresh("n_")
        self.emit(f"{name} = {size.operand} | 0")
        self.facts.ranges[name] = (ZERO, self.facts.bound(size, upper=True))
        self._agreed[Int.atom(name)] = (size, size)
        return Int.atom(name)

    def room(self, axes: int, beside: Int = ONE) -> Int:
        """A size that new arrays are supposed not to exceed; of tables, all sizes together."""
        arrays, more = {name: value.size for name, value in self.elements.items()}, 1024
        if axes == 1 and beside == ONE:
            more = LEAST  # what is never touched takes no memory
        if arrays:
            text = f"max({', '.join(f'{name}.size' for name in arrays)}, 0)"
            most = max(arrays.values())
            if axes == 1:
                text = f"max(min({text} * {SEVERAL}, {AMPLE}), {text})"
                most = max(min(most * SEVERAL, AMPLE), most)
        else:
            names = [n for n in sorted(self.arguments) if n in self.facts.values]
            text = f"min(max({', '.join([*names, '0', '0'])}), 1 << 18) * 4"
            most = min(max([0, *(self.facts.values[n] for n in names)]), 1 << 18) * 4
        if beside != ONE:
            of = self.facts.known(beside) or 1
            text = f"(max({text}, {AMPLE}) // max({beside.text}, 1))"
            most, more = max(most, AMPLE) // max(of, 1), 8
        if axes > 1:
            text, most = f"int({text} ** {1 / axes})", int(most ** (1 / axes))
        return self.facts.derive(f"{text} + {more}", [], lambda: most + more)

    def is_agreed(self, size: Int, agreed: Int) -> bool:
        """Whether a size is one of those that one was `agreed` of."""
        parts = self._agreed.get(agreed, ())
        return any(part == size or self.is_agreed(size, part) for part in parts)

    def is_one(self, size: Int) -> bool:
        return self.same(size, ONE)

    def is_empty(self, size: Int) -> bool:
        return self.same(size, ZERO)


@contextmanager
def reads() -> Iterator[list[tuple[Buffer, Index]]]:
    """What elements of buffers are read meanwhile."""
    outer = values.READS
    values.READS = found = []
    try:
        yield found
    finally:
        values.READS = outer
        outer.extend(found)


def is_empty(size: Int) -> bool:
    """Whether a loop over so many is known to never run. docc crashes of some."""
    return size.constant is not None and size.constant <= 0


def range_text(start: Int, stop: Int, step: int = 1) -> str:
    if step != 1:
        return f"{start.text}, {stop.text}, {step}"
    return stop.text if start == ZERO else f"{start.text}, {stop.text}"


def bare(text: str) -> str:
    """Source text without parentheses around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 else text
    return text
