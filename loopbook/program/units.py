"""A block's operations, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopbook.errors import SdfgError
from loopbook.program.dataflow import Block, Memlet, Operation, container_at, in_order, part


def units(block: Block) -> Iterator[Block]:
    """Blocks of one operation or copy each, which do the same one after the other.

    What reads a container as it was before comes before what sets it: within a block, nothing else
    says so.

    Raises:
        SdfgError: there is no such order.
    """
    waiting = [*_alone(block)]
    while waiting:
        place = next((n for n in range(len(waiting)) if _may_come(block, n, waiting)), None)
        if place is None:
            raise SdfgError("what a block computes cannot be taken apart")
        yield part(block, waiting.pop(place))


def _alone(block: Block) -> Iterator[list[Memlet]]:
    """The memlets of each operation and copy, in the order of the nodes."""
    operations = {p for p, node in enumerate(block.nodes) if isinstance(node, Operation)}
    for place in in_order(block):
        if place in operations:
            yield [m for m in block.memlets if place in (m.source, m.target)]
        for memlet in block.outputs[place]:
            if operations.isdisjoint((memlet.source, memlet.target)):
                yield [memlet]


def _may_come(block: Block, number: int, waiting: Sequence[list[Memlet]]) -> bool:
    """Whether none of the others sets what one reads, or still has to read what it sets anew."""
    own = waiting[number]
    others = [m for n, memlets in enumerate(waiting) if n != number for m in memlets]
    sources, targets = {m.source for m in own}, {m.target for m in own}
    if any(m.target in sources for m in others):
        return False
    set_here = {container_at(block, place) for place in targets} - {""}
    return not any(
        container_at(block, m.source) in set_here
        and m.source not in targets
        and not block.inputs[m.source]
        for m in others
    )
