from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loopbook.dependence import check_order
from loopbook.dependence.body import LoopNode, statements
from loopbook.errors import IllegalStepError, LoopbookError, SdfgError
from loopbook.program import expr, walk
from loopbook.program.accesses import Access, names, own_accesses, own_names, own_symbols, written
from loopbook.program.dataflow import Statement
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.redirect import Element, redirected
from loopbook.program.rename import renamed
from loopbook.program.tree import Assignments, Branch, Case, Node, Program
from loopbook.program.tree import Loop as LoopOfTree
from loopbook.program.tree import Sequence as Body
from loopbook.steps.arguments import Integer, Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.handed import Handed, Level, difference, told
from loopbook.steps.order import with_serial_loops
from loopbook.steps.region import Region
from loopbook.steps.temporaries import accesses_of, changed

MOST_LATE = 4
"""Rows. Chosen: more would have to stay in the caches, and no program seen wants more."""

MOST_LOOPS = 8
"""Of what one loop is made: each is compared with all before it."""


class Roll(Step):
    """One sweep for a loop and so many behind it, each as late as it has to be.

    Of a temporary that they hand over, as many rows are kept as are read late. Before
    ``roll L0 1``::

        for i < n: for j: T[i, j] = A[i, j] + A[i + 1, j] + A[i + 2, j]
        for i < n: for j: A[i + 1, j] = T[i, j]

    and after it, ``L0.rolled``::

        for i < n + 1:
            if i < n:  for j: T[i % 2, j] = A[i, j] + A[i + 1, j] + A[i + 2, j]
            if 1 <= i: for j: A[i, j] = T[(i - 1) % 2, j]

    What stands in between and computes nothing but scalars comes first. It is for one thread.
    """

    name = "roll"
    textbook = "loop fusion with shifting, and array contraction"
    source = "Darte and Huard, IJPP 2000; line buffers in PolyMage (Mullapudi et al., ASPLOS 2015)"
    example = "roll L0 1"
    makes = ("{loop}.rolled",)
    traits = {"fuse": 1.0}

    loop = Loop()
    behind = Integer(1, MOST_LOOPS - 1)

    def apply(self, editor: Editor) -> None:
        """Legal if no iteration needs what a later one makes, so many rows late.

        In a program that uses a temporary elsewhere, too, all of it is kept.
        """
        path = editor.path(editor.id_of(self.loop))
        level = Level(editor.program, path[:-1])
        cluster = cluster_at(level, path[-1], lambda _: True, 1 + self.behind)
        if len(cluster) <= self.behind:
            raise IllegalStepError("the loops cannot be one")
        editor.program = joined(level, cluster, editor, name=f"{self.loop}.rolled")


@dataclass(frozen=True)
class Late:
    """A loop of a cluster.

    Attributes:
        late: how much more the cluster's variable is than the loop's own.
        place: among the siblings.
    """

    loop: LoopOfTree
    late: int
    place: int


# -- which loops, and how late ----------------------------------------------------------------


def cluster_at(
    level: Level, place: int, free: Callable[[LoopOfTree], bool], most: int = MOST_LOOPS
) -> list[Late]:
    """A loop, and as many behind it as may run with it.

    Args:
        free: whether a loop may be changed.
        most: no more loops.
    """
    first = level.siblings[place]
    if not isinstance(first, LoopOfTree):
        return []
    cluster = [Late(first, 0, place)]
    for number in range(place + 1, len(level.siblings)):
        node = level.siblings[number]
        if len(cluster) == most:
            break
        if _may_go_first(node, cluster):
            continue
        if not isinstance(node, LoopOfTree) or not free(node):
            break
        if any(own_symbols(node) & changed(one.loop) for one in cluster):
            break
        try:
            cluster.append(Late(node, _shift(level, cluster, node, number), number))
        except LoopbookError:
            break
    return cluster


def is_closed(level: Level, cluster: Sequence[Late]) -> bool:
    """Whether the last loop has something to do with the others; it came along, if not, but what
    stands behind it did not."""
    last = cluster[-1].place
    handed = level.between([one.place for one in cluster])
    return any(last in one.places for one in handed)


def _may_go_first(node: walk.Inner, cluster: Sequence[Late]) -> bool:
    """Whether what stands between loops computes nothing but scalars, which these do not know."""
    if type(node) is not Statement and not isinstance(node, Assignments):
        return False
    if any(access.write and access.subset for access in own_accesses(node)):
        return False
    return not any(
        written(node) & names(one.loop) or own_names(node) & changed(one.loop) for one in cluster
    )


def _shift(level: Level, cluster: Sequence[Late], loop: LoopOfTree, place: int) -> int:
    """How late a loop has to run behind a cluster.

    Raises:
        LoopbookError: it cannot be told, or it is too late.
    """
    places = [*(one.place for one in cluster), place]
    asked = told(level, level.between(places), places)
    least = -difference(_start(loop), _start(cluster[0].loop))
    most = least + MOST_LATE
    _check(asked, [*cluster, Late(loop, most, place)])  # the later it runs, the more is legal
    for late in range(least, most):
        with contextlib.suppress(LoopbookError):
            _check(asked, [*cluster, Late(loop, late, place)])
            return late
    return most


def _check(program: Program, cluster: Sequence[Late]) -> None:
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


def joined(
    level: Level,
    cluster: Sequence[Late],
    editor: Editor,
    *,
    name: str = "",
    sparing: bool = False,
) -> Program:
    """The program with a cluster as one loop, and as few rows of temporaries as can be.

    Args:
        editor: of the program.
        name: of the loop.
        sparing: refuse where no temporary gets smaller.

    Raises:
        LoopbookError: it is refused, or ends cannot be told apart.
    """
    path = level.path
    own = frozenset(one.place for one in cluster)
    handed = [one for one in level.between(own) if one.places <= own]
    kept = [rows for one in handed if (rows := _rows(one, cluster))]
    if sparing and not kept:
        raise SdfgError("no temporary gets smaller")
    variable = editor.variable("_row", cluster[0].loop.variable)
    firsts = [expr.plus(_start(one.loop), {(): one.late}) for one in cluster]
    ends = [expr.plus(_end(one.loop), {(): one.late}) for one in cluster]
    first = min(firsts, key=lambda one: difference(one, firsts[0]))
    end = max(ends, key=lambda one: difference(one, ends[0]))
    body: list[Node] = []
    for one, low, high in zip(cluster, firsts, ends, strict=True):
        loop = one.loop
        nodes: list[Node] = []
        for node in loop.body.children:
            for rows in kept:
                node = redirected(node, rows.target)
            nodes.append(renamed(node, {loop.variable: _iteration(one, variable)}))
        tests = []
        if difference(low, first):
            tests.append(f"({expr.text(low)} <= {variable})")
        if difference(high, end):
            tests.append(f"({variable} < {expr.text(high)})")
        if tests:
            condition = expr.conjunction(*tests)
            body.append(Branch((Case(condition, Body(tuple(nodes))),)))
        else:
            body += nodes
    made = editor.new_loop(name, variable, expr.text(first), f"({expr.text(end)})", body)
    program = editor.program
    siblings = level.siblings
    place, last = cluster[0].place, cluster[-1].place
    between = [siblings[n] for n in range(place, last) if n not in own]
    new = (*siblings[:place], *between, made, *siblings[last + 1 :])
    program = with_serial_loops(program, path)
    if not path:
        return walk.with_children(program, new)
    return walk.replaced(program, path, walk.with_children(walk.at(program, path), new))  # type: ignore


def _iteration(one: Late, variable: str) -> str:
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

    handed: Handed
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


def _rows(handed: Handed, cluster: Sequence[Late]) -> _Rows | None:
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


def _start(loop: LoopOfTree) -> Polynomial:
    return _bounds(loop)[0]


def _end(loop: LoopOfTree) -> Polynomial:
    return _bounds(loop)[1]


def _bounds(loop: LoopOfTree) -> tuple[Polynomial, Polynomial]:
    """Where a loop begins, and where it ends.

    Raises:
        SdfgError: it has more bounds than one, or leaves something out.
    """
    bounds = loop.bounds
    if loop.step != 1 or len(bounds.lows) != 1 or len(bounds.highs) != 1:
        raise SdfgError("a loop has more than one end")
    return bounds.lows[0], bounds.highs[0]
