"""Small loops at random, and what really depends on what in them: by running through them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from loopbook.dependence.model import Linear, Polynomial, Tile, statements

SIZES = (2, 3, 5)
"""What the size ``N`` is when the loops are run through."""


@dataclass(frozen=True)
class Access:
    container: str
    terms: tuple[tuple[tuple[str, ...], int], ...]
    write: bool
    update: str = ""
    certain: bool = True

    @property
    def place(self) -> tuple[str, ...]:
        return (str(self.terms),) if self.terms else ()

    @property
    def indices(self) -> Sequence[Polynomial | None]:
        return [dict(self.terms)] if self.terms else []

    def address(self, values: Mapping[str, int]) -> int:
        total = 0
        for monomial, factor in self.terms:
            for symbol in monomial:
                factor *= values[symbol]
            total += factor
        return total


@dataclass(eq=False)
class Statement:
    touches: list[Access]


@dataclass(eq=False)
class Loop:
    variable: str
    lows: list[Linear]
    highs: list[Linear]
    step: int
    children: list[Loop | Statement]
    rooms: list[Linear] = field(default_factory=list)


@dataclass(frozen=True)
class Instance:
    """One run of a statement.

    Attributes:
        time: when it runs.
        values: of the loops' variables and of ``N``.
    """

    time: int
    statement: Statement
    values: Mapping[str, int]


def value(form: Linear | Tile, values: Mapping[str, int]) -> int:
    if isinstance(form, Tile):
        return value(form.form, values) // form.size
    return sum(factor * (values[symbol] if symbol else 1) for symbol, factor in form.items())


def run(trees: Sequence[Loop | Statement], values: Mapping[str, int]) -> list[Instance]:
    """All instances in the order in which they run."""

    def visit(tree: Loop | Statement, values: Mapping[str, int]) -> Iterator[tuple]:
        if isinstance(tree, Statement):
            yield tree, values
            return
        start = max(value(low, values) for low in tree.lows)
        end = min(value(high, values) for high in tree.highs)
        for number in range(start, end, tree.step):
            for child in tree.children:
                yield from visit(child, {**values, tree.variable: number})

    found = [entry for tree in trees for entry in visit(tree, values)]
    return [Instance(time, *entry) for time, entry in enumerate(found)]


def conflicts(
    instances: Sequence[Instance], *, atomic: bool
) -> Iterator[tuple[Instance, Access, Instance, Access]]:
    """Accesses of the same element, one of them writing, the earlier instance first."""
    touched: dict[tuple[str, int], list[tuple[Instance, Access]]] = {}
    for instance in instances:
        for access in instance.statement.touches:
            place = access.container, access.address(instance.values)
            touched.setdefault(place, []).append((instance, access))
    for uses in touched.values():
        for number, (second, y) in enumerate(uses):
            for first, x in uses[:number]:
                same = atomic and x.update and x.update == y.update
                if first is not second and (x.write or y.write) and not same:
                    yield first, x, second, y


_small = st.integers(-1, 2)


def _bounds(names: Sequence[str], ends: Sequence[Linear]) -> st.SearchStrategy[Linear]:
    forms: list[Linear] = list(ends)
    for name in names:
        forms += [{name: 1}, {name: 1, "": 1}, {name: 1, "": -1}, {name: -1, "N": 1}]
    return st.sampled_from(forms)


@st.composite
def _access(draw: st.DrawFn, names: Sequence[str]) -> Access:
    terms: dict[tuple[str, ...], int] = {}
    form = draw(st.sampled_from(["flat", "line", "scalar"]))
    if form == "scalar":
        return Access("s", (), draw(st.booleans()))
    if form == "flat":
        row = draw(st.sampled_from([*names, ""]))
        if row:
            terms[tuple(sorted(("N", row)))] = 1
        column = draw(st.sampled_from([*names, ""]))
        if column:
            terms[(column,)] = 1
        if shift := draw(st.sampled_from([0, 0, 0, 1, -1])):
            terms[()] = shift
        if draw(st.integers(0, 3)) == 0:
            terms[("N",)] = draw(st.sampled_from([1, -1]))
    else:
        for name in names:
            if factor := draw(_small):
                terms[(name,)] = factor
        if shift := draw(st.integers(-2, 2)):
            terms[()] = shift
    container = draw(st.sampled_from("AB")) if form == "flat" else "C"
    write = draw(st.booleans())
    terms = terms or {("N",): 1}
    return Access(
        container, tuple(sorted(terms.items())), write, draw(st.sampled_from(["", "add"]))
    )


@st.composite
def nests(draw: st.DrawFn) -> Loop:
    """One loop with up to two more inside of each other, and up to three statements."""
    left = [3]

    def body(names: Sequence[str]) -> list[Loop | Statement]:
        children: list[Loop | Statement] = []
        for _ in range(draw(st.integers(1, 2))):
            if len(names) < 3 and draw(st.booleans()):
                children.append(loop(names))
            elif left[0]:
                left[0] -= 1
                accesses = draw(st.lists(_access(names), min_size=1, max_size=3))
                children.append(Statement(accesses))
        return children or [Statement([Access("C", (((), 1),), True)])]

    def loop(names: Sequence[str]) -> Loop:
        variable = "ijk"[len(names)]
        lows = draw(st.lists(_bounds(names, [{}, {"": 1}]), min_size=1, max_size=2))
        highs = draw(
            st.lists(_bounds(names, [{"N": 1}, {"N": 1, "": -1}, {"": 3}]), min_size=1, max_size=2)
        )
        step = draw(st.sampled_from([1, 1, 1, 2, 3]))
        return Loop(variable, lows, highs, step, body([*names, variable]))

    return loop([])


@st.composite
def orders(draw: st.DrawFn, nest: Loop) -> dict[Any, dict[str, Linear | Tile]]:
    """Values of two new loops, ``t`` and ``u``, around the old ones."""
    moved: dict[Any, dict[str, Linear | Tile]] = {}
    forms = draw(st.sampled_from(["alike", "apart"]))
    shared = {new: {n: draw(_small) for n in "ijk"} for new in "tu"}
    tiled = {new: draw(st.sampled_from([0, 0, 2, 3])) for new in "tu"}
    for statement, path in statements(nest):
        names = [loop.variable for loop in path]
        moved[statement] = {}
        for new in "tu":
            factors = shared[new] if forms == "alike" else {n: draw(_small) for n in "ijk"}
            form = {n: f for n, f in factors.items() if f and n in names}
            if constant := draw(_small):
                form[""] = constant
            moved[statement][new] = Tile(form, tiled[new]) if tiled[new] else form
    return moved
