"""Neighbouring loops over rows as one, and a few rows of what they hand over.

A stencil that has to be computed before it can be stored is swept over twice, and its temporary
goes through memory. Before::

    for i < n: for j: T[i, j] = A[i, j] + A[i + 1, j] + A[i + 2, j]
    for i < n: for j: A[i + 1, j] = T[i, j]

and after it, each loop of the second one a row late::

    for i < n + 1:
        if i < n:  for j: T[i % 2, j] = A[i, j] + A[i + 1, j] + A[i + 2, j]
        if 1 <= i: for j: A[i, j] = T[(i - 1) % 2, j]

Fusion with a shift is legal by what `loopbook.dependence` says (loop shifting: Darte and Huard,
IJPP 2000); of an array that is read so many rows late, so many rows are kept (array contraction;
line buffers in PolyMage: Mullapudi et al., ASPLOS 2015). It is for one thread.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from loopbook.dependence import check_order
from loopbook.dependence.body import LoopNode, statements
from loopbook.dependence.model import domain
from loopbook.errors import IllegalStepError, LoopbookError, SdfgError
from loopbook.normal_form.definite import written_first
from loopbook.normal_form.order import headers_of, with_serial_loops
from loopbook.normal_form.radix import Radix
from loopbook.normal_form.temporaries import (
    Temporary,
    accesses_of,
    changed,
    has_calls,
    temporaries,
)
from loopbook.program import expr, walk
from loopbook.program.accesses import Access, names, own_accesses, own_names, own_symbols, written
from loopbook.program.dataflow import Statement
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.redirect import Element, redirected
from loopbook.program.rename import renamed
from loopbook.program.tree import Assignments, Branch, Case, Loop, Node, Program, While
from loopbook.program.tree import Sequence as Body
from loopbook.program.walk import Path
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region

MOST_LATE = 4
"""Rows. Chosen: more would have to stay in the caches, and no program seen wants more."""

MOST_LOOPS = 8
"""Of what one loop is made: each is compared with all before it."""


def rolled(program: Program, free: Callable[[Loop], bool]) -> Program:
    """The program with such loops; itself if there are none.

    Args:
        program: with loops that count in signed numbers.
        free: whether an outermost loop may be changed, with all that it holds.
    """
    return _rolled_below(program, (), free)


def _rolled_below(program: Program, path: Path, free: Callable[[Loop], bool]) -> Program:
    """The program with loops fused among those that stand at a path, and below them."""
    place, level = 0, None
    while sum(isinstance(node, Loop) for node in _siblings(program, path)[place:]) > 1:
        node = _siblings(program, path)[place]
        if isinstance(node, Loop) and free(node):
            level = level or _Level(program, path)
            made = _rolled_at(level, place, free)
            if made is not program:
                program, level = made, None
        place += 1
    for place, node in enumerate(_siblings(program, path)):
        if isinstance(node, Loop) and free(node):
            program = _rolled_below(program, (*path, place), lambda _: True)
    return program


def _siblings(program: Program, path: Path) -> Sequence[walk.Inner]:
    return walk.children(walk.at(program, path))


def _rolled_at(level: _Level, place: int, free: Callable[[Loop], bool]) -> Program:
    """The program with a loop and as many behind it as can be fused with it, if that spares a
    temporary; itself if it does not."""
    first = level.siblings[place]
    assert isinstance(first, Loop)
    if not level.begins(place):
        return level.program
    cluster = [_Late(first, 0, place)]
    for number in range(place + 1, len(level.siblings)):
        node = level.siblings[number]
        if _may_go_first(node, cluster):
            continue
        if not isinstance(node, Loop) or not free(node) or len(cluster) == MOST_LOOPS:
            break
        if any(own_symbols(node) & changed(one.loop) for one in cluster):
            break
        try:
            cluster.append(_Late(node, _shift(level, cluster, node, number), number))
        except LoopbookError:
            break
    while len(cluster) > 1:
        last = cluster[-1].place
        if all(last not in one.places for one in level.between([one.place for one in cluster])):
            cluster.pop()  # it came along, but what stands behind it did not
            continue
        try:
            return _fused(level, cluster)
        except LoopbookError:
            cluster.pop()
    return level.program


def _may_go_first(node: walk.Inner, cluster: Sequence[_Late]) -> bool:
    """Whether what stands between loops computes nothing but scalars, which these do not know."""
    if type(node) is not Statement and not isinstance(node, Assignments):
        return False
    if any(access.write and access.subset for access in own_accesses(node)):
        return False
    return not any(
        written(node) & names(one.loop) or own_names(node) & changed(one.loop) for one in cluster
    )


@dataclass(frozen=True)
class _Late:
    """A loop of a cluster.

    Attributes:
        late: how much more the cluster's variable is than the loop's own.
        place: among the siblings.
    """

    loop: Loop
    late: int
    place: int


# -- what is handed over ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Handed:
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


class _Level:
    """The nodes at a path, and what they hand over to each other.

    Attributes:
        siblings: the nodes.
    """

    def __init__(self, program: Program, path: Path) -> None:
        self.program, self.path = program, path
        self.siblings = _siblings(program, path)
        depth = len(path)
        self._temporaries = {
            name: (frozenset(use[depth] for use in one.uses), one)
            for name, one in temporaries(program).items()
            if all(len(use) > depth and use[:depth] == path for use in one.uses)
        }
        self._handed: dict[str, _Handed | None] = {}

    def begins(self, place: int) -> bool:
        """Whether a node is the first one to use something that others use."""
        return any(len(used) > 1 and min(used) == place for used, _ in self._temporaries.values())

    def between(self, places: Collection[int]) -> list[_Handed]:
        """What some of the nodes hand over to each other, and maybe to others."""
        wanted = frozenset(places)
        names = [name for name, (used, _) in self._temporaries.items() if len(used & wanted) > 1]
        return [one for name in names if (one := self._of(name)) is not None]

    def _of(self, name: str) -> _Handed | None:
        if name not in self._handed:
            self._handed[name] = None
            with contextlib.suppress(LoopbookError):
                temporary = self._temporaries[name][1]
                self._handed[name] = _handed(self.program, self.path, temporary)
        return self._handed[name]


def _handed(program: Program, path: Path, temporary: Temporary) -> _Handed:
    """A temporary, all of whose uses are below a path, as what the nodes there hand over.

    Raises:
        LoopbookError: it is no such one.
    """
    name, depth = temporary.container, len(path)
    siblings = _siblings(program, path)
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
    if len(band) < 2 or radix.order[0] != 0 or _number(radix.lows[0], {}) < 0:
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
    return _Handed(name, writer, frozenset(loops), radix, iterations)


def _told(level: _Level, handed: Sequence[_Handed], places: Iterable[int]) -> Program:
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


# -- how late ---------------------------------------------------------------------------------


def _shift(level: _Level, cluster: Sequence[_Late], loop: Loop, place: int) -> int:
    """How late a loop has to run behind a cluster.

    Raises:
        LoopbookError: it cannot be told, or it is too late.
    """
    places = [*(one.place for one in cluster), place]
    told = _told(level, level.between(places), places)
    least = -_number(_start(loop), _start(cluster[0].loop))
    most = least + MOST_LATE
    _check(told, [*cluster, _Late(loop, most, place)])  # the later it runs, the more is legal
    for late in range(least, most):
        with contextlib.suppress(LoopbookError):
            _check(told, [*cluster, _Late(loop, late, place)])
            return late
    return most


def _check(program: Program, cluster: Sequence[_Late]) -> None:
    """Refuse unless the loops may run as one.

    Raises:
        LoopbookError: they may not.
    """
    numbers = [one.loop.id for one in cluster]
    if None in numbers:
        raise IllegalStepError("a loop has no number")
    editor = Editor(program, {}, {})
    region = Region.of(editor, numbers[0])  # type: ignore[arg-type]
    read: list[LoopNode] = [region.read(number) for number in numbers]  # type: ignore[arg-type]
    first = read[0]
    fused = replace(first, children=[child for one in read for child in one.children])
    moved = {
        statement: {first.variable: {node.variable: 1, "": one.late}}
        for node, one in zip(read[1:], cluster[1:], strict=True)
        for statement, _ in statements(node)
    }
    check_order(read, [fused], moved, region.around)


# -- one loop ---------------------------------------------------------------------------------


def _fused(level: _Level, cluster: Sequence[_Late]) -> Program:
    """The program with a cluster as one loop, and as few rows of temporaries as can be.

    Raises:
        LoopbookError: no temporary gets smaller, or ends cannot be told apart.
    """
    program, path = level.program, level.path
    own = frozenset(one.place for one in cluster)
    handed = [one for one in level.between(own) if one.places <= own]
    kept = [rows for one in handed if (rows := _rows(one, cluster))]
    if not kept:
        raise SdfgError("no temporary gets smaller")
    editor = Editor(program, {}, {})
    variable = editor.variable("_row", cluster[0].loop.variable)
    firsts = [expr.plus(_start(one.loop), {(): one.late}) for one in cluster]
    ends = [expr.plus(_end(one.loop), {(): one.late}) for one in cluster]
    first = min(firsts, key=lambda one: _number(one, firsts[0]))
    end = max(ends, key=lambda one: _number(one, ends[0]))
    body: list[Node] = []
    for one, low, high in zip(cluster, firsts, ends, strict=True):
        loop = one.loop
        nodes: list[Node] = []
        for node in loop.body.children:
            for rows in kept:
                node = redirected(node, rows.target)
            nodes.append(renamed(node, {loop.variable: _iteration(one, variable)}))
        tests = []
        if _number(low, first):
            tests.append(f"({expr.text(low)} <= {variable})")
        if _number(high, end):
            tests.append(f"({variable} < {expr.text(high)})")
        if tests:
            condition = expr.conjunction(*tests)
            body.append(Branch((Case(condition, Body(tuple(nodes))),)))
        else:
            body += nodes
    made = editor.new_loop("", variable, expr.text(first), f"({expr.text(end)})", body)
    program = editor.program
    siblings = level.siblings
    place, last = cluster[0].place, cluster[-1].place
    between = [siblings[n] for n in range(place, last) if n not in own]
    new = (*siblings[:place], *between, made, *siblings[last + 1 :])
    program = with_serial_loops(program, path)
    if not path:
        return walk.with_children(program, new)
    return walk.replaced(program, path, walk.with_children(walk.at(program, path), new))  # type: ignore


def _iteration(one: _Late, variable: str) -> str:
    """Which of its iterations a loop is in.

    Raises:
        SdfgError: that is none of the one loop's, and the loop takes it for a value.
    """
    if not one.late:
        return variable
    if next(accesses_of(one.loop, one.loop.variable), None) is not None:
        raise SdfgError("it runs late, and its variable is a value")
    return f"({variable} - {one.late})"


@dataclass(frozen=True)
class _Rows:
    """How many rows are kept of a temporary."""

    handed: _Handed
    count: int

    def target(self, access: Access) -> Element | None:
        """Where an element of it is now."""
        found = self.handed.iteration(access)
        if found is None or access.memlet is None:
            return None
        stride, row = self.handed.radix.strides[0], found[0]
        text = expr.text(expr.plus(access.subset[0].polynomial, expr.product(stride, row), -1))
        if self.count > 1:
            text = f"imod({expr.text(row)}, {self.count})*({expr.text(stride)}) + {text}"
        return Element(access.container, (Expr(text),), access.memlet.type)


def _rows(handed: _Handed, cluster: Sequence[_Late]) -> _Rows | None:
    """The rows that are kept of what is handed over; None if that has to stay as it is."""
    lates = {one.place: one for one in cluster}
    writer = lates[handed.writer]
    most = 0
    for place in handed.places:
        one = lates[place]
        for access in accesses_of(one.loop, handed.name):
            found = handed.iteration(access)
            assert found is not None
            behind = expr.plus({(one.loop.variable,): 1}, found[0], -1)
            if set(behind) - {()}:
                return None
            delay = one.late - writer.late + behind.get((), 0)
            if not 0 <= delay <= MOST_LATE:
                return None
            most = max(most, delay)
    return _Rows(handed, most + 1)


def _start(loop: Loop) -> Polynomial:
    return _bounds(loop)[0]


def _end(loop: Loop) -> Polynomial:
    return _bounds(loop)[1]


def _bounds(loop: Loop) -> tuple[Polynomial, Polynomial]:
    """Where a loop begins, and where it ends.

    Raises:
        SdfgError: it has more bounds than one, or leaves something out.
    """
    bounds = loop.bounds
    if loop.step != 1 or len(bounds.lows) != 1 or len(bounds.highs) != 1:
        raise SdfgError("a loop has more than one end")
    return bounds.lows[0], bounds.highs[0]


def _number(one: Polynomial, other: Polynomial) -> int:
    """The difference of two polynomials.

    Raises:
        SdfgError: it is no number.
    """
    gap = expr.plus(one, other, -1)
    if set(gap) - {()}:
        raise SdfgError("loops over different ranges")
    return gap.get((), 0)
