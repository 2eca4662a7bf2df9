"""Lets dataflow work on other elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loopbook.program.accesses import Access
from loopbook.program.dataflow import AccessNode, Block, Memlet
from loopbook.program.dataflow import Node as FlowNode
from loopbook.program.element import like
from loopbook.program.expr import Expr
from loopbook.program.rename import Renamed
from loopbook.program.types import Type
from loopbook.program.walk import rebuilt


@dataclass(frozen=True)
class Element:
    """An element of a container; a scalar has no indices.

    Attributes:
        type: what memlets to it have as type.
    """

    container: str
    subset: tuple[Expr, ...]
    type: Type


def redirected(node: Renamed, target: Callable[[Access], Element | None]) -> Renamed:
    """A node whose blocks, itself or below it, access other elements.

    Args:
        target: what is accessed in the place of an element; None if that is left as it is.
    """
    if isinstance(node, Block):
        return _block(node, target)
    return rebuilt(node, lambda inner: _block(inner, target) if isinstance(inner, Block) else inner)


def _block(block: Block, target: Callable[[Access], Element | None]) -> Block:
    nodes, memlets = list(block.nodes), list(block.memlets)
    made: dict[tuple[int, str], int] = {}
    for number, memlet in enumerate(block.memlets):
        for end, place, write in (
            ("source", memlet.source, False),
            ("target", memlet.target, True),
        ):
            node = block.nodes[place]
            if not isinstance(node, AccessNode):
                continue
            new = target(Access(node.container, memlet.subset, write, memlet))
            if new is None:
                continue
            key = place, new.container
            if key not in made:
                made[key] = len(nodes)
                nodes.append(like(node, container=new.container, id=None))
            moved = {end: made[key], "subset": new.subset, "type": new.type}
            memlets[number] = like(memlets[number], **moved)
    return _ordered(block, nodes, memlets, made) if made else block


def _ordered(
    block: Block, nodes: list[FlowNode], memlets: list[Memlet], made: Mapping[tuple[int, str], int]
) -> Block:
    """A block whose new nodes stand behind those that they are made of, or in their places."""
    used = {place for memlet in memlets for place in (memlet.source, memlet.target)}
    old = {place for place, _ in made}
    order: list[int] = []
    for place in range(len(block.nodes)):
        if place in used or place not in old:
            order.append(place)
        order += [new for (origin, _), new in made.items() if origin == place]
    at = {place: number for number, place in enumerate(order)}
    return like(
        block,
        nodes=tuple(nodes[place] for place in order),
        memlets=tuple(like(m, source=at[m.source], target=at[m.target]) for m in memlets),
    )
