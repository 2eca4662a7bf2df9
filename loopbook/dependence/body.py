"""A part of the program tree as loops and statements whose order can be asked about.

A statement is a run of neighbouring nodes without loops in them (blocks, assignments, branches): it
is moved as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from loopbook.dependence import linear
from loopbook.dependence.model import Linear, minus, plus, shifted
from loopbook.dependence.touches import Operators, Touch, seen_touches
from loopbook.dependence.updates import named, updates
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import expr, tree, walk
from loopbook.program.accesses import counted, own_symbols, written
from loopbook.program.bounds import Bounds
from loopbook.program.element import like
from loopbook.program.expr import Expr
from loopbook.program.types import Type


@dataclass(eq=False)
class Statement:
    """What happens as one.

    Attributes:
        nodes: of the tree, in order.
        touches: what they read and write, without private scalars.
    """

    nodes: Sequence[tree.Node]
    touches: list[Touch] = field(default_factory=list)


@dataclass(eq=False)
class Guard(Statement):
    """A branch with loops in it. For the order of what is in it, its cases follow each other.

    Attributes:
        nodes: the branch, which stays as it is.
        touches: all that is read and written in it.
        children: what its cases hold.
    """

    children: list[LoopNode | Statement] = field(default_factory=list)


@dataclass(eq=False)
class LoopNode:
    """A counted loop ``for (v = max(lows); v < each of highs; v += step)``.

    Attributes:
        loop: that it was read from, or is made after.
        rooms: what is 0 or more, too, as long as it runs, and falls with its variable.
    """

    loop: tree.Loop
    variable: str
    lows: list[Linear]
    highs: list[Linear]
    step: int
    children: list[LoopNode | Statement]
    rooms: list[Linear] = field(default_factory=list)
    _read: tuple[list[Linear], list[Linear], list[Linear]] | None = field(default=None, init=False)

    @property
    def id(self) -> int | None:
        """docc's number for the loop."""
        return self.loop.id


Body = LoopNode | Statement


def read_header(
    loop: tree.Loop | tree.While, variables: Iterable[str], *, rooms: bool = False
) -> LoopNode:
    """A loop without what is in it.

    Args:
        variables: the variables of the loops around it.
        rooms: whether it may have some.

    Raises:
        IllegalStepError: it does not count up, or its bounds are not affine.
    """
    if isinstance(loop, tree.While):
        raise IllegalStepError("a loop without a counter cannot be rewritten")
    try:
        found: Bounds = loop.bounds
        known = frozenset(variables)
        lows: list[Linear] = [linear.from_polynomial(low, known) for low in found.lows]
        highs: list[Linear] = [linear.from_polynomial(high, known) for high in found.highs]
        ends = [
            linear.from_polynomial(room, known | {loop.variable})
            for room in (found.room if rooms and found.ends and not highs else ())
        ]
    except SdfgError as error:
        raise IllegalStepError(str(error)) from None
    if found.step is None or found.step < 1 or not (highs or ends):
        raise IllegalStepError(f"the loop over {loop.variable} does not count up to a bound")
    node = LoopNode(loop, loop.variable, lows, highs, found.step, [])
    for end in ends:
        if end[loop.variable] == -1:
            node.highs.append(shifted(plus(end, {loop.variable: 1}), 1))
        else:
            node.rooms.append(end)
    node._read = list(node.lows), list(node.highs), list(node.rooms)
    return node


def read_loop(
    loop: tree.Loop | tree.While,
    variables: Iterable[str],
    private: frozenset[str],
    containers: Mapping[str, Type],
    ignored: frozenset[str] = frozenset(),
    *,
    guards: bool = False,
    rooms: bool = False,
    whiles: bool = False,
) -> LoopNode:
    """A loop with what is in it. Its statements read what its bounds name, too.

    Args:
        variables: the variables of the loops around it.
        private: scalars that no statement takes from another one (`private_scalars`).
        containers: the types of all containers.
        ignored: containers whose accesses do not count.
        guards: whether there may be branches with loops in them.
        rooms: whether loops may have some.
        whiles: whether loops that count nothing are parts of statements, if none that does is in
            them.

    Raises:
        IllegalStepError: something is not affine, jumps, or is not understood.
    """
    reader = _Reader(private, containers, ignored, private | written(loop), guards, rooms, whiles)
    return reader.loop(loop, frozenset(variables), frozenset(), ())


def read_siblings(
    nodes: Sequence[tree.Node],
    variables: Iterable[str],
    private: frozenset[str],
    containers: Mapping[str, Type],
) -> list[LoopNode | Statement]:
    """Loops beside each other, and what stands between them, as `read_loop` reads a loop.

    Raises:
        IllegalStepError: as `read_loop`.
    """
    body = tree.Sequence(tuple(nodes))
    reader = _Reader(private, containers, frozenset(), private | written(body), False, False)
    return reader.children(body, frozenset(variables), frozenset(), ())


@dataclass(frozen=True)
class _Reader:
    """Reads loops, as `read_loop` says.

    Attributes:
        changing: what may have another value each time.
    """

    private: frozenset[str]
    containers: Mapping[str, Type]
    ignored: frozenset[str]
    changing: frozenset[str]
    guards: bool
    rooms: bool
    whiles: bool = False

    def loop(
        self,
        loop: tree.Loop | tree.While,
        variables: frozenset[str],
        needed: frozenset[str],
        conditions: tuple[Expr, ...],
    ) -> LoopNode:
        """A loop with what is in it.

        Args:
            variables: of the loops around it.
            needed: what bounds and conditions around it name.
            conditions: of the branches around it.
        """
        node = read_header(loop, variables, rooms=self.rooms)
        known = variables | {node.variable}
        needed = (needed | own_symbols(loop)) & self.containers.keys() - known
        node.children = self.children(loop.body, known, needed, conditions)
        return node

    def children(
        self,
        sequence: tree.Sequence,
        known: frozenset[str],
        needed: frozenset[str],
        conditions: tuple[Expr, ...],
    ) -> list[LoopNode | Statement]:
        found: list[LoopNode | Statement] = []
        for node in _runs(sequence.children, self.guards, self.whiles):
            if isinstance(node, tree.Branch):
                found.append(self._guard(node, known, needed, conditions))
            elif isinstance(node, Statement):
                own = named(tuple(node.nodes)) | needed
                node.touches = [
                    replace(seen, conditions=(*conditions, *seen.conditions))
                    if conditions
                    else seen
                    for seen in seen_touches(
                        tuple(node.nodes),
                        Operators(updates(node.nodes, self.containers)),
                        self.changing & own,
                        self.private & own,
                        (known | self.ignored) & own,
                        needed,
                    )
                ]
                found.append(node)
            else:
                found.append(self.loop(node, known, needed, conditions))
        return found

    def _guard(
        self,
        branch: tree.Branch,
        known: frozenset[str],
        needed: frozenset[str],
        conditions: tuple[Expr, ...],
    ) -> Guard:
        tests = [case.condition for case in branch.cases]
        named = frozenset[str]().union(*(test.symbols for test in tests))
        needed = needed | (named & self.containers.keys() - known)
        guard = Guard([branch])
        for case in branch.cases:
            inside = (case.condition, *conditions)
            guard.children += self.children(case.body, known, needed, inside)
        guard.touches = [
            t for child in guard.children for s, _ in statements(child) for t in s.touches
        ]
        return guard


def tiles(loop: LoopNode) -> Iterator[tuple[Linear, Linear, int]]:
    """The tiles that a loop may run through: pairs of bounds that are so many iterations apart."""
    if loop.step == 1:
        for low, high in product(loop.lows, loop.highs):
            size = minus(high, low)
            if set(size) == {""} and size[""] > 0:
                yield low, high, size[""]


def _runs(
    nodes: Iterable[tree.Node], guards: bool, whiles: bool
) -> Iterator[Statement | tree.Branch | tree.Loop | tree.While]:
    """Loops, and statements for what stands between them.

    Args:
        guards: whether branches with loops in them stand for themselves, too.
        whiles: as in `read_loop`.
    """
    run: list[tree.Node] = []
    for node in nodes:
        if whiles and isinstance(node, tree.While) and not counted(node):
            run.append(node)
        elif isinstance(node, tree.Loop | tree.While) or (
            guards and isinstance(node, tree.Branch) and _holds_loops(node)
        ):
            if run:
                yield Statement(run)
                run = []
            yield node
        else:
            run.append(node)
    if run:
        yield Statement(run)


def _holds_loops(branch: tree.Branch) -> bool:
    return any(isinstance(node, tree.Loop | tree.While) for node in walk.preorder(branch))


def write_loop(node: LoopNode) -> tree.Loop:
    """The tree's loop for one whose bounds, variable or children may be others now. What is as it
    was read stays the same object, of which much is known."""
    header = node.variable, node._read, node.step
    bounds = node.lows, node.highs, node.rooms
    same = header == (node.loop.variable, bounds, node.loop.step)
    children: list[tree.Node] = []
    for child in node.children:
        children += [write_loop(child)] if isinstance(child, LoopNode) else child.nodes
    if same:
        return walk.with_new(node.loop, children)
    tests = [f"({node.variable} < {linear.text(high)})" for high in node.highs]
    tests += [f"(0 <= {linear.text(room)})" for room in node.rooms]
    return like(
        node.loop,
        variable=node.variable,
        init=Expr(expr.largest(map(linear.text, node.lows))),
        condition=Expr(tests[0] if len(tests) == 1 else f"And({', '.join(tests)})"),
        update=Expr(f"{node.step} + {node.variable}"),
        body=like(node.loop.body, children=tuple(children)),
    )


def statements(
    body: Body, path: tuple[LoopNode, ...] = ()
) -> Iterator[tuple[Statement, tuple[LoopNode, ...]]]:
    """All statements in program order, those in branches too, each with the loops around it from
    `body` on."""
    if isinstance(body, LoopNode):
        path = (*path, body)
    elif not isinstance(body, Guard):
        yield body, path
        return
    for child in body.children:
        yield from statements(child, path)
