"""The loops of a nest as its program tree has them, before or after a recipe, in numbers: how often
each runs, how it is scheduled, and what the statements in it touch.

A loop that a step makes goes by the loop that it was made of (``L0.tile`` by ``L0``, its *base*):
loops of one base walk along the same dimension. Loops that only fill or empty a buffer are no
bodies of their own: the loop that the buffer is for tells of them. What peeling leaves of tiles is
not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from loopbook.predict.amounts import Amounts
from loopbook.predict.moves import Moves
from loopbook.program import tree
from loopbook.program.accesses import Access, accesses, own_accesses
from loopbook.program.dataflow import Block
from loopbook.program.nest import Nest, Stride
from loopbook.program.walk import Inner, children
from loopbook.steps.unroll import WRITTEN_OUT
from loopbook.steps.workbench import Transformed

LoopNode = tree.Loop | tree.While

ITEM_BYTES = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "half": 2, "bfloat": 2}
ITEM_BYTES |= {"float": 4, "int32": 4, "uint32": 4}
WIDE_ITEM_BYTES = 8

PLAIN = frozenset[str]()


@dataclass(eq=False)
class Node:
    """One loop.

    Attributes:
        base: index of the nest's own loop that it walks along.
        trip: how often it runs, on average over the loops around it.
        size: of the tile that it walks through, 0 if it is none.
        covers: iterations along its base that one of its own iterations stands for.
        ragged: whether its tile may be incomplete.
        skewed: whether both its ends move with a loop around it.
        marks: how it is scheduled: "vectorize", "unroll", "parallel".
        left: whether docc may schedule it.
        loops: those directly inside.
        staged: buffers that are filled before it; "out" for those that are emptied after it, too.
    """

    base: int
    kind: str
    trip: float
    size: int = 0
    covers: float = 1.0
    ragged: bool = False
    skewed: bool = False
    marks: frozenset[str] = PLAIN
    left: bool = False
    loops: list[Node] = field(default_factory=list)
    staged: dict[str, str] = field(default_factory=dict)

    def tree(self) -> Iterator[Node]:
        """This loop and all inside."""
        yield self
        for loop in self.loops:
            yield from loop.tree()


@dataclass(frozen=True, slots=True)
class Reference:
    """Accesses of one array that move alike: neighbours of a stencil count once.

    Attributes:
        strides: base loop index to stride class; loops that are missing do not move it.
    """

    container: str
    bytes: int
    write: bool
    read: bool
    strides: Mapping[int, Stride]

    def stride(self, node: Node) -> Stride:
        return self.strides.get(node.base, Stride.ZERO)


Body = tuple[list[Node], list[Reference]]
"""The loops around statements, outermost first, and what these touch."""


@dataclass
class Loops:
    """All loops of a nest.

    Attributes:
        roots: the outermost ones.
        bodies: the statements of each loop that holds some.
    """

    roots: list[Node] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)

    def shared(self) -> set[Node]:
        """The loops that threads share: those that the recipe says, and what docc takes by itself.
        That is an outermost loop if it is a map; else, in a nest of several maps, the maps directly
        in it. It takes none with a loop inside that is shared already (seen with docc 0.8.1)."""
        nodes = [node for root in self.roots for node in root.tree()]
        told = {node for node in nodes if "parallel" in node.marks}

        def free(node: Node) -> bool:
            return node.left and told.isdisjoint(node.tree())

        several = sum(node.kind == "map" for node in nodes) > 1
        taken = set(told)
        for root in self.roots:
            if free(root):
                taken.add(root)
            elif several:
                taken.update(filter(free, root.loops))
        return taken


class LoopReader:
    """Reads the loops of one nest, however steps have left it.

    Args:
        trips: loop name to how often it runs, where that is known.
    """

    def __init__(self, nest: Nest, trips: Mapping[str, int]) -> None:
        self._amounts = Amounts(nest, trips)
        self._moves = Moves(nest)

    def __call__(self, transformed: Transformed) -> Loops:
        return _Reading(self._amounts, self._moves, transformed).loops


@dataclass(frozen=True, slots=True)
class _Copy:
    """What fills a buffer, or empties it (`back`), and the array at the other end."""

    node: tree.Loop | Block
    buffer: str
    array: str
    back: bool


class _Reading:
    """One nest that is being read.

    Attributes:
        loops: what was found.
    """

    def __init__(self, amounts: Amounts, moves: Moves, transformed: Transformed) -> None:
        self.loops = Loops()
        self._amounts, self._moves = amounts, moves
        self._values = dict(amounts.values)
        self._foreign = transformed.foreign
        self._types = transformed.program.containers
        self._names = {number: name for name, number in transformed.names.items()}
        self._sequence(transformed.program.body.children, [], [], {}, [])

    def _name(self, loop: LoopNode) -> str:
        return self._names.get(-1 if loop.id is None else loop.id, "")

    def _base(self, loop: LoopNode) -> int:
        number = self._name(loop).partition(".")[0][1:]
        return int(number) if number.isdigit() else self._amounts.beyond

    def _sequence(
        self,
        nodes: Sequence[Inner],
        path: list[Node],
        around: list[LoopNode],
        buffered: Mapping[str, Mapping[int, Stride]],
        found: list[Inner],
    ) -> None:
        """Look at what stands in one sequence.

        Args:
            path, around: the loops around it.
            buffered: how what is in the buffers of these moves with them.
            found: gets the statements that stand in no loop of the sequence.
        """
        copies = self._copies(nodes)
        copying = {copy.node for copy in copies}
        for node in nodes:
            if isinstance(node, tree.Loop | tree.While):
                if not (node.id in self._foreign or node in copying or ".rest" in self._name(node)):
                    self._loop(node, path, around, buffered, copies)
            elif isinstance(node, Block | tree.Assignments | tree.Jump):
                if node not in copying:
                    found.append(node)
            else:
                self._sequence(children(node), path, around, buffered, found)

    def _loop(
        self,
        loop: LoopNode,
        path: list[Node],
        around: list[LoopNode],
        buffered: Mapping[str, Mapping[int, Stride]],
        copies: Sequence[_Copy],
    ) -> None:
        node = self._node(loop, path, around)
        (path[-1].loops if path else self.loops.roots).append(node)
        if copies:
            used = {access.container for access in accesses(loop)}
            for copy in copies:
                if copy.buffer in used:
                    back = copy.back or node.staged.get(copy.buffer) == "out"
                    node.staged[copy.buffer] = "out" if back else "in"
                    outside = self._moved([copy.node], around, copy.array)
                    buffered = {**buffered, copy.buffer: outside}
        place, statements = len(self.loops.bodies), list[Inner]()
        self._sequence(children(loop), [*path, node], [*around, loop], buffered, statements)
        if statements:
            references = self._references(statements, [*around, loop], buffered)
            self.loops.bodies.insert(place, ([*path, node], references))

    def _node(self, loop: LoopNode, path: list[Node], around: list[LoopNode]) -> Node:
        base = self._base(loop)
        if isinstance(loop, tree.While):
            return Node(base, "while", self._amounts.trip_of(base))
        tile = next((node.covers for node in reversed(path) if node.base == base), 0.0)
        amount = self._amounts.count(loop, self._values, base, tile)
        outer = {one.variable for one in around if isinstance(one, tree.Loop)}
        schedule = loop.schedule
        marks = {
            "vectorize": schedule.name == tree.VECTORISED.name,
            "parallel": schedule.is_shared,
            "unroll": WRITTEN_OUT in schedule.properties,
        }
        return Node(
            base,
            loop.kind,
            amount.trip,
            amount.size,
            amount.covers,
            amount.ragged,
            not tile and not outer.isdisjoint(amount.slant),
            frozenset(mark for mark, true in marks.items() if true),
            loop.kind == "map" and schedule.name == tree.SEQUENTIAL.name,
        )

    def _copies(self, nodes: Sequence[Inner]) -> list[_Copy]:
        """Those among some nodes that fill or empty a buffer which a loop among them is for."""
        found = []
        loops = [node for node in nodes if isinstance(node, tree.Loop)]
        for node in nodes:
            if isinstance(node, tree.Loop):
                name = self._name(node)
                if ".load" not in name and ".store" not in name:
                    continue
            elif not isinstance(node, Block) or not loops:
                continue
            if (copy := self._copy(node)) is None:
                continue
            if isinstance(node, tree.Loop) or any(self._uses(one, copy.buffer) for one in loops):
                found.append(copy)
        return found

    def _copy(self, node: tree.Loop | Block) -> _Copy | None:
        touched = [access for access in accesses(node) if access.subset]
        reads = {access.container for access in touched if not access.write}
        writes = {access.container for access in touched if access.write}
        if len(reads) != 1 or len(writes) != 1:
            return None
        (source,), (target,) = reads, writes
        if self._moves.own(source) and not self._moves.own(target):
            return _Copy(node, target, source, back=False)
        if self._moves.own(target) and not self._moves.own(source):
            return _Copy(node, source, target, back=True)
        return None

    def _uses(self, loop: tree.Loop, buffer: str) -> bool:
        return any(access.container == buffer for access in accesses(loop))

    # -- what is touched --------------------------------------------------------------------------

    def _moved(
        self, nodes: Sequence[Inner], around: Sequence[LoopNode], array: str
    ) -> dict[int, Stride]:
        """How all that nodes touch of an array moves with the loops around them, by base."""
        moved: dict[int, Stride] = {}
        for access in (one for node in nodes for one in accesses(node)):
            if access.container == array:
                _join(moved, self._by_base(access, around))
        return moved

    def _references(
        self,
        statements: Sequence[Inner],
        around: Sequence[LoopNode],
        buffered: Mapping[str, Mapping[int, Stride]],
    ) -> list[Reference]:
        ways: dict[tuple[str, tuple[tuple[int, Stride], ...]], set[bool]] = {}
        for access in (one for node in statements for one in own_accesses(node)):
            kind = self._types.get(access.container)
            if kind is not None and kind.is_array and access.subset:
                moved = self._by_base(access, around)
                _join(moved, buffered.get(access.container, {}))
                way = access.container, tuple(moved.items())
                ways.setdefault(way, set()).add(access.write)
        return [
            Reference(
                container,
                ITEM_BYTES.get(self._types[container].element, WIDE_ITEM_BYTES),
                True in way,
                False in way,
                dict(moved),
            )
            for (container, moved), way in ways.items()
        ]

    def _by_base(self, access: Access, around: Sequence[LoopNode]) -> dict[int, Stride]:
        """How an access moves with the loops around it."""
        strides = self._moves(access.subset, around)
        moved: dict[int, Stride] = {}
        for loop in around:
            if isinstance(loop, tree.Loop) and (stride := strides.get(loop.variable)):
                _join(moved, {self._base(loop): stride})
        return moved


def _join(moved: dict[int, Stride], more: Mapping[int, Stride]) -> None:
    for base, stride in more.items():
        moved[base] = max(stride, moved.get(base, Stride.ZERO))
