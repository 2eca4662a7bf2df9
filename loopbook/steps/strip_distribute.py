from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from loopbook.dependence import carries_nothing, linear
from loopbook.dependence.scalars import upward_exposed
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import tree
from loopbook.program.accesses import accesses, own_symbols, written
from loopbook.program.dataflow import (
    Block,
    MathsCall,
    Statement,
)
from loopbook.program.tree import SEQUENTIAL, VECTORISED, Program, Schedule
from loopbook.program.types import Scalar
from loopbook.program.units import units as in_units
from loopbook.steps.arguments import Loop, TileSize
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import put_for, read_in_place

COSTLY = frozenset(
    f"{name}{suffix}"
    for name in (
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos", "tan"),
        *("sinh", "cosh", "tanh", "asin", "acos", "atan", "atan2", "erf", "hypot", "cbrt"),
    )
    for suffix in ("", "f")
)
"""Functions that cost a vector of numbers little more than one."""

LONGEST = 4096
"""Iterations of a strip: its arrays are on the stack."""


class StripDistribute(Step):
    """What of a recurrence waits for nothing, a strip at a time, in vectors before and after it.

    Each iteration waits for the one before, and so does all that stands beside what is carried,
    maths functions among it. `distribute` would need arrays as long as the loop. Before
    ``strip_distribute L0 256``::

        for i: e = exp(x[i]); s = s * e; y[i] = log(s)

    and after it, with ``L0.tile`` around ``L0.first``, ``L0`` and ``L0.last``::

        for ii by 256:
            for i in ii … ii + 256: e = exp(x[i]); before[i - ii] = e
            for i in ii … ii + 256: e = before[i - ii]; s = s * e; after[i - ii] = s
            for i in ii … ii + 256: s = after[i - ii]; y[i] = log(s)
    """

    name = "strip_distribute"
    textbook = "loop distribution with scalar expansion, in strips"
    source = "Allen and Kennedy, ACM TOPLAS 9(4), 1987"
    example = "strip_distribute L1 256"
    makes = ("{loop}.tile", "{loop}.first", "{loop}.last")
    traits = {"distribute": 0.5, "tiles": 1.0}

    loop = Loop()
    size = TileSize(2, LONGEST, of="loop")

    def apply(self, editor: Editor) -> None:
        """Legal for a loop of straight-line code, in which an array that is stored into is touched
        in one place, or by what is carried."""
        loop = editor.loop(self.loop)
        region, node = read_in_place(editor, self.loop, whole=loop)
        if carries_nothing(node, region.around):
            raise IllegalStepError(f"iterations of {self.loop} hand on nothing")
        parts = _Parts.of(editor.program, loop)
        Step("tile", (self.loop, self.size)).apply(editor)
        inner = editor.loop(self.loop)
        strips = editor.around(self.loop)[-1]
        assert isinstance(strips, tree.Loop)
        place = f"{inner.variable} - {strips.variable}"
        if parts.step != 1:
            place = f"idiv({place}, {parts.step})"
        first = _Half(editor, place, self.size, parts.handed_on())
        last = _Half(editor, place, self.size, parts.handed_back())
        bodies = (
            [*parts.before, *first.stores],
            [*first.loads(parts.carried), *parts.carried, *last.stores],
            [*first.loads(parts.after), *last.loads(parts.after), *parts.after],
        )
        loops: list[tree.Loop] = []
        for body, name in zip(bodies, (".first", "", ".last"), strict=True):
            if not body:
                continue
            own, nodes = inner, body
            if name:
                variable = editor.variable(inner.variable, inner.variable)
                nodes = [put_for(node, {inner.variable: variable}) for node in body]
                condition = inner.condition.renamed({inner.variable: variable})
                update = inner.update.renamed({inner.variable: variable})
                own = replace(inner, variable=variable, condition=condition, update=update)
                own = replace(own, id=editor.new_number(f"{self.loop}{name}"))
            kind = "map" if name and not _adds_up(body) else "for"
            schedule = VECTORISED if kind == "map" else SEQUENTIAL
            loops.append(_with_body(own, nodes, kind, schedule))
        editor.put(self.loop, *loops)


def _with_body(loop: tree.Loop, nodes: Iterable[Block], kind: str, schedule: Schedule) -> tree.Loop:
    body = replace(loop.body, children=tuple(nodes))
    return replace(loop, body=body, kind=kind, schedule=schedule, reductions=None)


@dataclass
class _Half:
    """Scalars that one loop hands to another one, and the arrays that they stand in.

    Attributes:
        stores: what takes them there.
    """

    editor: Editor
    place: str
    size: int
    names: Sequence[str]
    stores: list[Block] = field(default_factory=list)
    _arrays: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.names:
            kind = self.editor.program.containers[name]
            if not isinstance(kind, Scalar) or kind.dtype not in ("float", "double"):
                raise IllegalStepError(f"{name} holds no floating-point number")
            array = self.editor.fixed_array(f"{name}_strip", kind, [self.size])
            self._arrays[name] = array
            self.stores.append(self.editor.copy((name, ()), (array, (self.place,))))

    def loads(self, readers: Sequence[Block]) -> list[Block]:
        """What takes back those that some code reads before it sets them."""
        wanted = _read(readers)
        return [
            self.editor.copy((array, (self.place,)), (name, ()))
            for name, array in self._arrays.items()
            if name in wanted
        ]


def _read(blocks: Iterable[Block]) -> set[str]:
    return {access.container for block in blocks for access in accesses(block) if not access.write}


@dataclass(frozen=True)
class _Parts:
    """A loop's body in three.

    Attributes:
        before: what waits for nothing, and has a costly function or leads to one.
        carried: what iterations hand on, and what stands between.
        after: what nothing that is carried waits for.
        step: of the loop.
    """

    before: list[Block]
    carried: list[Block]
    after: list[Block]
    step: int

    @classmethod
    def of(cls, program: Program, loop: tree.Loop) -> _Parts:
        """Raises:
        IllegalStepError: there are branches or loops in it, or nothing costly beside what is
            carried.
        """
        step, units = loop.bounds.step, list[Block]()
        for node in loop.body.children:
            if not isinstance(node, Block) or type(node) is not Statement or not step:
                raise IllegalStepError("its body is not straight-line code")
            units += in_units(node)
        graph = _Graph(program, loop, units)
        carried = graph.carried
        if not carried:
            raise IllegalStepError("nothing is carried")
        behind = graph.reached_from(carried)
        ahead = graph.leads_to(carried)
        middle = carried | (behind & ahead)
        every = set(range(len(units)))
        after = every - middle - ahead
        if not any(_is_costly(units[u]) for u in after & behind):
            after = set[int]()
        free = every - middle - behind - after
        costly = {u for u in free if _is_costly(units[u])}
        before = {u for u in free if u in costly or not costly.isdisjoint(graph.reached_from({u}))}
        if not costly and not after:
            raise IllegalStepError("no costly function stands beside what is carried")
        between = every - before - after
        parts = ([units[u] for u in sorted(group)] for group in (before, between, after))
        return cls(*parts, step=step or 1)

    def handed_on(self) -> list[str]:
        """Scalars that are set before, and read in what is carried or after it."""
        own = {name for block in self.before for name in written(block)}
        return sorted(own & _read([*self.carried, *self.after]))

    def handed_back(self) -> list[str]:
        """Scalars that what is carried sets, and that are read after it."""
        own = {name for block in self.carried for name in written(block)}
        return sorted(own & _read(self.after))


def _adds_up(body: Sequence[Block]) -> bool:
    """Whether some code sets a scalar from what it was."""
    whole = tree.Sequence(tuple(body))
    return not upward_exposed(whole).isdisjoint(written(whole))


def _is_costly(unit: Block) -> bool:
    return any(isinstance(node, MathsCall) and node.name in COSTLY for node in unit.nodes)


class _Graph:
    """Which units wait for which: flow, and whatever else keeps two of them in one loop.

    Attributes:
        carried: units that wait for themselves, sums that nothing else reads left out: they may be
            taken after everything else, in their order.
    """

    def __init__(self, program: Program, loop: tree.Loop, units: Sequence[Block]) -> None:
        self._next: list[set[int]] = [set() for _ in units]
        touching: dict[str, list[tuple[int, bool]]] = {}
        for number, unit in enumerate(units):
            for access in accesses(unit):
                touching.setdefault(access.container, []).append((number, access.write))
                for name in frozenset().union(*(index.symbols for index in access.subset)):
                    touching.setdefault(name, []).append((number, False))
        if not own_symbols(loop).isdisjoint(written(loop.body)):
            raise IllegalStepError("it computes its own bounds")
        sums: set[int] = set()
        for name, uses in touching.items():
            writers = {number for number, write in uses if write}
            if not writers:
                continue
            every = {number for number, _ in uses}
            if program.containers[name].is_array or len(writers) > 1:
                alone = len(every) == 1 and len(uses) == 1
                if not alone or not _moves(loop, units[min(writers)], name):
                    self._together(every)
                continue
            (writer,) = writers
            for reader in every - writers:
                self._next[writer].add(reader)
                if reader < writer:
                    self._next[reader].add(writer)
            if (writer, False) in uses:
                self._next[writer].add(writer)
                if every == writers:
                    sums.add(writer)
        self._reached = [self._closure(number) for number in range(len(units))]
        self.carried = {n for n, found in enumerate(self._reached) if n in found and n not in sums}

    def _together(self, members: Collection[int]) -> None:
        for one in members:
            self._next[one].update(members)

    def _closure(self, number: int) -> set[int]:
        found: set[int] = set()
        waiting = [number]
        while waiting:
            more = self._next[waiting.pop()] - found
            found |= more
            waiting += more
        return found

    def reached_from(self, units: Iterable[int]) -> set[int]:
        """These units, and what waits for them."""
        units = set(units)
        return units.union(*(self._reached[unit] for unit in units))

    def leads_to(self, units: Collection[int]) -> set[int]:
        """These units, and what they wait for."""
        wanted = set(units)
        return wanted | {n for n, found in enumerate(self._reached) if not found.isdisjoint(wanted)}


def _moves(loop: tree.Loop, unit: Block, name: str) -> bool:
    """Whether an array's element is another one in each iteration."""
    for access in accesses(unit):
        if access.container == name:
            try:
                forms = [linear.linear(index, {loop.variable}) for index in access.subset]
            except SdfgError:
                return False
            return any(form is not None and form.get(loop.variable) for form in forms)
    return False
