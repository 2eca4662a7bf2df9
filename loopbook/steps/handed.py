"""What neighbouring loops hand over to each other: temporaries that one of them fills, each element
once, and others use.

In which iteration of the loops that filled it an element got its value follows from its index, also
where rows lie behind each other in an array of one dimension: see `loopbook.dependence.radix`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loopbook.dependence.model import domain
from loopbook.dependence.radix import Radix
from loopbook.errors import LoopbookError, SdfgError
from loopbook.program import expr, walk
from loopbook.program.accesses import Access
from loopbook.program.definite import written_first
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Loop, Program, While
from loopbook.program.walk import Path
from loopbook.steps.order import headers_of
from loopbook.steps.temporaries import Temporary, accesses_of, has_calls, temporaries


@dataclass(frozen=True)
class Handed:
    """A temporary that one of some siblings fills, each element once, and others use.

    Attributes:
        writer: the place of the one that fills it among the siblings.
        places: of all that use it.
        radix: how the writer's iterations are numbered by its elements.
        iterations: in which one an element was filled, by its index.
    """

    name: str
    writer: int
    places: frozenset[int]
    radix: Radix
    iterations: Mapping[tuple[str, ...], Sequence[Polynomial]]

    def iteration(self, access: Access) -> Sequence[Polynomial] | None:
        """The one that filled what is accessed; None for another container."""
        if access.container != self.name:
            return None
        return self.iterations[expr.normal_forms([access.subset[0].text])]


class Level:
    """The nodes at a path, and what they hand over to each other.

    Attributes:
        siblings: the nodes.
    """

    def __init__(self, program: Program, path: Path) -> None:
        self.program, self.path = program, path
        self.siblings = walk.children_at(program, path)
        depth = len(path)
        self._temporaries = {
            name: (frozenset(use[depth] for use in one.uses), one)
            for name, one in temporaries(program).items()
            if all(len(use) > depth and use[:depth] == path for use in one.uses)
        }
        self._handed: dict[str, Handed | None] = {}

    def begins(self, place: int) -> bool:
        """Whether a node is the first one to use something that others use."""
        return any(len(used) > 1 and min(used) == place for used, _ in self._temporaries.values())

    def between(self, places: Collection[int]) -> list[Handed]:
        """What some of the nodes hand over to each other, and maybe to others."""
        wanted = frozenset(places)
        names = [name for name, (used, _) in self._temporaries.items() if len(used & wanted) > 1]
        return [one for name in names if (one := self._of(name)) is not None]

    def _of(self, name: str) -> Handed | None:
        if name not in self._handed:
            self._handed[name] = None
            with contextlib.suppress(LoopbookError):
                temporary = self._temporaries[name][1]
                self._handed[name] = _handed(self.program, self.path, temporary)
        return self._handed[name]


def _handed(program: Program, path: Path, temporary: Temporary) -> Handed:
    """A temporary, all of whose uses are below a path, as what the nodes there hand over.

    Raises:
        LoopbookError: it is no such one.
    """
    name, depth = temporary.container, len(path)
    siblings = walk.children_at(program, path)
    loops: dict[int, Loop] = {}
    for place in sorted({use[depth] for use in temporary.uses}):
        loop = siblings[place]
        if not isinstance(loop, Loop) or has_calls(loop, name):
            raise SdfgError("something else than a loop uses it")
        loops[place] = loop
    if len(loops) < 2:
        raise SdfgError("it is handed to nobody")
    writer = min(loops)
    band = walk.band(loops[writer])
    first = [*accesses_of(loops[writer], name)]
    if any(not access.write for access in first):
        raise SdfgError("it may be read before it is written")
    if name not in (written_first(band[-1].body.children, {name}) or ()):
        raise SdfgError("it is not always written")
    if any(len(a.subset) != 1 for loop in loops.values() for a in accesses_of(loop, name)):
        raise SdfgError("it has more than one index")
    if len({expr.normal_form(access.subset[0].text) for access in first}) != 1:
        raise SdfgError("more than one element is written at a time")
    radix = Radix.of(first[0].subset[0], band)
    if len(band) < 2 or radix.order[0] != 0 or difference(radix.lows[0], {}) < 0:
        raise SdfgError("its rows do not follow the outer loop")
    iterations: dict[tuple[str, ...], Sequence[Polynomial]] = {}
    for use in temporary.uses:
        around = [node for node in walk.way(program, use) if isinstance(node, Loop | While)]
        headers = headers_of(around)
        variables = frozenset(header.variable for header in headers)
        for access in accesses_of(walk.at(program, use), name):
            (index,) = access.subset
            found = radix.digits(index, domain(headers), variables)
            iterations[expr.normal_forms([index.text])] = found
    return Handed(name, writer, frozenset(loops), radix, iterations)


def told(level: Level, handed: Sequence[Handed], places: Iterable[int]) -> Program:
    """The program with one index for each loop that wrote what is handed over, in some of the
    nodes: to be asked about, since of flattened arrays whose rows are no named size nothing is
    known."""

    def target(access: Access) -> Element | None:
        for one in handed:
            if (found := one.iteration(access)) is not None and access.memlet is not None:
                subset = tuple(Expr(expr.text(value)) for value in found)
                return Element(access.container, subset, access.memlet.type)
        return None

    program = level.program
    for place in places:
        loop = redirected(level.siblings[place], target)  # type: ignore[type-var]
        program = walk.replaced(program, (*level.path, place), loop)
    return program


def difference(one: Polynomial, other: Polynomial) -> int:
    """The difference of two polynomials.

    Raises:
        SdfgError: it is no number.
    """
    gap = expr.plus(one, other, -1)
    if set(gap) - {()}:
        raise SdfgError("loops over different ranges")
    return gap.get((), 0)
