"""A block's operations, one by one."""

from __future__ import annotations

from collections.abc import Iterator

from loopbook.errors import SdfgError
from loopbook.program.dataflow import Block, Operation, container_at, in_order, part


def units(block: Block) -> Iterator[Block]:
    """Blocks of one operation or copy each, which do the same one after the other.

    Raises:
        SdfgError: one of them would read what another one has overwritten.
    """
    direct = [
        memlet
        for memlet in block.memlets
        if not isinstance(block.nodes[memlet.source], Operation)
        and not isinstance(block.nodes[memlet.target], Operation)
    ]
    stored: set[str] = set()
    for place in in_order(block):
        name = container_at(block, place)
        if block.inputs[place]:
            stored.add(name)
        elif name in stored:
            raise SdfgError(f"{name} is read as it was before, after it is set")
        if isinstance(block.nodes[place], Operation):
            yield part(block, [m for m in block.memlets if place in (m.source, m.target)])
        for memlet in direct:
            if memlet.source == place:
                yield part(block, [memlet])
