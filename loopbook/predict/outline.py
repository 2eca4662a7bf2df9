"""The outline of a nest after a recipe: its tree of loops, worked out from the steps alone.

Nothing here asks docc, so it is fast (tens of microseconds) and only roughly right: dependences are
not looked at, a step that cannot be followed is counted and skipped, and the rests that peeling
leaves behind are not drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from loopbook.program.nest import Bound, Loop, Nest
from loopbook.steps import Step, expanded

UNKNOWN_TRIP = 512
"""Iterations of a loop of which nothing is known."""


@dataclass(eq=False)
class Node:
    """One loop of the outline.

    Attributes:
        base: index of the nest's own loop that it walks along.
        trip: how often it runs, on average over the loops around it.
        size: of the tile that it walks through, 0 if it is none.
        items: the loops (`Node`) and blocks (index) in it, in program order.
        marks: operations that were applied to it.
        staged: containers that are copied to a buffer at its beginning, or back at its end.
    """

    name: str
    base: int
    kind: str
    trip: float
    size: int = 0
    items: list[Node | int] = field(default_factory=list)
    parent: Node | None = None
    marks: set[str] = field(default_factory=set)
    staged: dict[str, str] = field(default_factory=dict)

    @property
    def loops(self) -> list[Node]:
        return [item for item in self.items if isinstance(item, Node)]

    def tree(self) -> Iterator[Node]:
        """This loop and all inside."""
        yield self
        for loop in self.loops:
            yield from loop.tree()


@dataclass
class Outline:
    """A tree of loops.

    Attributes:
        refused: how many steps could not be followed.
        single: whether loops that the recipe gives no threads have one.
        counts: operation to how often it was applied, refused or not.
    """

    root: Node
    nodes: dict[str, Node]
    refused: int = 0
    single: bool = False
    counts: Counter[str] = field(default_factory=Counter)

    def sites(self) -> Iterator[tuple[list[Node], list[int]]]:
        """The loops around each place that holds blocks, outermost first, and these blocks."""
        stack = [[self.root]]
        while stack:
            path = stack.pop()
            blocks = [item for item in path[-1].items if isinstance(item, int)]
            if blocks:
                yield path, blocks
            stack += [[*path, loop] for loop in reversed(path[-1].loops)]

    def shared(self) -> set[Node]:
        """The loops that threads share: those that the recipe says, and unless it is `single`, what
        docc takes by itself. That is the outermost loop if it is a map; else, in a nest of several
        maps, the maps directly in it. It takes none with a loop inside that is shared already (seen
        with docc 0.8.1)."""
        nodes = list(self.root.tree())
        told = {node for node in nodes if "parallel" in node.marks}
        if self.single:
            return told

        def free(node: Node) -> bool:
            return node.kind == "map" and told.isdisjoint(node.tree())

        if free(self.root):
            return told | {self.root}
        if sum(node.kind == "map" for node in nodes) < 2:
            return told
        return told | set(filter(free, self.root.loops))

    # -- what steps ask for (`loopbook.steps.drawing.Drawing`) ------------------------------------

    def follow(self, step: Step) -> bool:
        """Apply one step; False where it does not fit."""
        return all(map(self._named, step.loops)) and step.draw(self)

    def mark(self, step: Step) -> bool:
        marked = self._named(step.loops[0]) if step.loops else []
        for node in marked:
            node.marks.add(step.op)
        return bool(marked)

    def stage(self, loop: str, container: str, direction: str) -> bool:
        self._first(loop).staged[container] = direction
        return True

    def tile(self, loop: str, size: int) -> bool:
        node = self._first(loop)
        if size < 1:
            return False
        name = self._free(f"{node.name}.tile")
        outer = Node(name, node.base, node.kind, max(1.0, node.trip / size), node.size)
        self._put_in_place(node, outer)
        outer.items = [node]
        node.parent = outer
        node.trip, node.size = min(node.trip, float(size)), size
        self.nodes[name] = outer
        return True

    def interchange(self, outer: str, inner: str) -> bool:
        one, other = self._first(outer), self._first(inner)
        if other.parent is not one or len(one.items) != 1:
            return False
        self._put_in_place(one, other)
        one.parent = other
        grand = other.items
        other.items, one.items = [one], grand
        for item in grand:
            if isinstance(item, Node):
                item.parent = one
        return True

    def distribute(self, loop: str) -> bool:
        node = self._first(loop)
        if len(node.items) < 2 or node.parent is None:
            return False
        parts = [node]
        for item in node.items[1:]:
            name = self._free(f"{node.name}.part")
            part = Node(name, node.base, node.kind, node.trip, node.size, [item])
            if isinstance(item, Node):
                item.parent = part
            self.nodes[name] = part
            parts.append(part)
        del node.items[1:]
        self._put_in_place(node, *parts)
        return True

    def fuse(self, first: str, second: str) -> bool:
        one, other = self._first(first), self._first(second)
        if one is other or one.parent is not other.parent or one.parent is None:
            return False
        one.parent.items.remove(other)
        one.items += other.items
        for loop in other.loops:
            loop.parent = one
        del self.nodes[other.name]
        return True

    def _first(self, name: str) -> Node:
        return self._named(name)[0]

    def _named(self, name: str) -> list[Node]:
        if not name.endswith("*"):
            return [self.nodes[name]] if name in self.nodes else []
        base = name[:-1]
        copies = (f"{base}.part", f"{base}.rest")
        return [node for key, node in self.nodes.items() if key == base or key.startswith(copies)]

    def _free(self, name: str) -> str:
        number, free = 1, name
        while free in self.nodes:
            number += 1
            free = f"{name}{number}"
        return free

    def _put_in_place(self, node: Node, *fresh: Node) -> None:
        """Let `fresh` stand where `node` stood."""
        if node.parent is None:
            self.root = fresh[0]
        else:
            place = node.parent.items.index(node)
            node.parent.items[place : place + 1] = fresh
        for other in fresh:
            other.parent = node.parent


def outline(nest: Nest, steps: Iterable[Step], trips: Mapping[str, int] | None = None) -> Outline:
    """The nest's loops after `steps`.

    Args:
        trips: loop name to how often it runs, where that is known.
    """
    drawn = _plain(nest, trips or {})
    for step in expanded(steps):
        drawn.counts[step.op] += 1
        if not drawn.follow(step):
            drawn.refused += 1
    return drawn


def _plain(nest: Nest, trips: Mapping[str, int]) -> Outline:
    nodes: list[Node] = []
    for loop in nest.loops:
        parent = nodes[loop.parent] if loop.parent >= 0 else None
        trip = _trip(loop, parent, trips)
        nodes.append(Node(loop.name, loop.index, loop.kind, trip, parent=parent))
    for _, (inner, child) in nest.contains:
        if inner == "loop" and (around := nodes[child].parent) is not None:
            around.items.append(nodes[child])  # perhaps with a branch between the two
        elif inner == "block":
            nodes[nest.blocks[child].parent].items.append(child)
    return Outline(nodes[0], {node.name: node for node in nodes})


def _trip(loop: Loop, parent: Node | None, trips: Mapping[str, int]) -> float:
    known = trips.get(loop.name) or loop.trip
    if known is not None and known > 0:
        return float(known)
    if loop.bound == Bound.ENCLOSING and parent is not None:
        return max(1.0, parent.trip / 2)
    return float(UNKNOWN_TRIP)
