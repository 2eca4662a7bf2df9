"""Perfectly nested bands of loops: what tiling and interchange work on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from loopbook.program.nest import Access, Loop, Nest, NodeRef, Stride
from loopbook.program.regions import is_region

MISS_COST = {
    Stride.ZERO: 0.0,
    Stride.UNIT: 1.0,
    Stride.CONSTANT: 4.0,
    Stride.SYMBOLIC: 8.0,
    Stride.NON_AFFINE: 8.0,
}
"""Cache lines that an access touches per iteration of the innermost loop, in eighths of a line."""


@dataclass(frozen=True)
class Band:
    """Loops of which each but the last holds nothing but the next.

    Attributes:
        loops: outermost first.
    """

    nest: Nest
    loops: tuple[Loop, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(loop.name for loop in self.loops)

    def innermost_cost(self, loop: Loop) -> float:
        """How badly the band's accesses would walk memory with `loop` innermost."""
        return self._costs[loop.index]

    @cached_property
    def _costs(self) -> dict[int, float]:
        return {
            loop.index: sum(MISS_COST[stride] for stride, _ in self.strides(loop))
            for loop in self.nest.loops
        }

    def lines_along(self, loop: Loop) -> float:
        """`innermost_cost`, but that what is loaded and stored again is one line."""
        elements = {(a.container, a.subset): a.strides for a in self.accesses}
        own = (strides[loop.depth] for strides in elements.values() if loop.depth < len(strides))
        return sum(MISS_COST[stride] for stride in own)

    def by_locality(self) -> list[str]:
        """The loops' names, the one that suits the innermost place best last."""
        return list(self._by_locality)

    @cached_property
    def _by_locality(self) -> tuple[str, ...]:
        ranked = sorted(self.loops, key=lambda loop: (-self.innermost_cost(loop), loop.index))
        return tuple(loop.name for loop in ranked)

    def moves_output(self, loop: Loop) -> bool:
        """Whether some array that is written moves with `loop`: it is no pure reduction loop."""
        return self._moving[loop.index]

    @cached_property
    def _moving(self) -> dict[int, bool]:
        return {
            loop.index: any(w and stride != Stride.ZERO for stride, w in self.strides(loop))
            for loop in self.nest.loops
        }

    def staged_outputs(self, reduction: str) -> list[str]:
        """Arrays that are read and written inside the band and do not move with `reduction`."""
        loop = next(loop for loop in self.loops if loop.name == reduction)
        read, written, moving = set(), set(), set()
        for access in self.accesses:
            container = self.nest.containers[access.container]
            (written if access.write else read).add(container.name)
            if loop.depth < len(access.strides) and access.strides[loop.depth] != Stride.ZERO:
                moving.add(container.name)
        return sorted((read & written) - moving)

    def inputs(self) -> list[str]:
        """Arrays that the band only reads."""
        read, written = set(), set()
        for access in self.accesses:
            container = self.nest.containers[access.container]
            (written if access.write else read).add(container.name)
        return sorted(read - written)

    def inputs_along(self, loop: Loop, still: Loop) -> list[str]:
        """Arrays only read that move with `loop` and stay the same along `still`."""
        moving, standing = set(), set()
        for access in self.nest.accesses:
            if self._inside(access.block) and max(loop.depth, still.depth) < len(access.strides):
                name = self.nest.containers[access.container].name
                if access.strides[loop.depth] != Stride.ZERO:
                    moving.add(name)
                if access.strides[still.depth] == Stride.ZERO:
                    standing.add(name)
        return [name for name in self.inputs() if name in moving & standing]

    def _inside(self, block: int) -> bool:
        parent = self.nest.blocks[block].parent
        return any(loop.index == self.loops[-1].index for loop in self.nest.ancestry(parent))

    def strides(self, loop: Loop) -> list[tuple[Stride, bool]]:
        """Of each access to an array inside the band: how it moves with a loop, and whether it is
        written."""
        return [
            (access.strides[loop.depth], access.write)
            for access in self.accesses
            if loop.depth < len(access.strides)
        ]

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        """Those of arrays inside the innermost loop."""
        return tuple(
            access
            for access in self.nest.accesses
            if self.nest.containers[access.container].is_array and self._inside(access.block)
        )


def bands(nest: Nest) -> list[Band]:
    """The maximal bands of a nest in preorder; every loop is in exactly one, but a region's own,
    which runs once."""
    if "bands" not in nest.notes:
        # They hold a nest with notes of its own: else this one would hold itself.
        nest.notes["bands"] = tuple(_bands(replace(nest)))
    return list(nest.notes["bands"])


def _bands(nest: Nest) -> Iterator[Band]:
    children: defaultdict[NodeRef, list[NodeRef]] = defaultdict(list)
    for parent, child in nest.contains:
        children[parent].append(child)
    outermost = nest.children(0) if is_region(nest.loop) else nest.loops[:1]
    waiting = [*reversed(outermost)]
    while waiting:
        run = [waiting.pop()]
        while True:
            inner = children["loop", run[-1].index]
            if len(inner) != 1 or inner[0][0] != "loop":
                break
            run.append(nest.loops[inner[0][1]])
        yield Band(nest, tuple(run))
        waiting += reversed(nest.children(run[-1].index))
