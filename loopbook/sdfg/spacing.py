"""Statements between loops that follow each other, over which docc fuses nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from loopbook.program.dataflow import AccessNode, Block, Memlet, Tasklet, block
from loopbook.program.expr import Expr
from loopbook.program.tree import Loop, Program
from loopbook.program.walk import Inner, children, with_new

Outer = TypeVar("Outer", bound=Program | Inner)

Between = Callable[[Loop, Loop], Block | None]
"""What is to stand between a loop and the one behind it; None for nothing."""


def spaced(node: Outer, between: Between) -> Outer:
    """What is below a node, with statements between loops; the node itself if there are none."""
    old = children(node)
    made: list[Inner] = []
    for place, child in enumerate(old):
        if isinstance(child, Loop):
            ahead = _loop_ahead(old[:place])
            statement = None if ahead is None else between(ahead, child)
            made += [] if statement is None else [statement]
        made.append(spaced(child, between))
    return with_new(node, made)


def _loop_ahead(ahead: Sequence[Inner]) -> Loop | None:
    """The loop in front, with nothing but scalars between the two: docc writes them, such as
    bounds, into what uses them, and then the loops are neighbours."""
    for node in reversed(ahead):
        if isinstance(node, Loop):
            return node
        if not isinstance(node, Block) or any(memlet.subset for memlet in node.memlets):
            return None
    return None


def copy_of_first(name: str, stored: Memlet) -> Block:
    """A block that copies an array's first element to where it is: it changes nothing.

    Args:
        stored: by which the array is stored into elsewhere.
    """
    first = (Expr("0"),) * len(stored.subset)
    into = Memlet(0, 1, "void", "_in", first, stored.type)
    out = Memlet(1, 2, "_out", "void", first, stored.type)
    return block(
        (AccessNode(name), Tasklet("assign", ("_in",), "_out"), AccessNode(name)), (into, out)
    )


def loads_of(node: Inner) -> Iterator[tuple[str, Memlet]]:
    """Containers that a block reads, each with the memlet."""
    if isinstance(node, Block):
        for memlet in node.memlets:
            if isinstance(end := node.nodes[memlet.source], AccessNode):
                yield end.container, memlet


def stores_of(node: Inner) -> Iterator[tuple[str, Memlet]]:
    """Containers that a block stores into, each with the memlet."""
    if isinstance(node, Block):
        for memlet in node.memlets:
            if isinstance(end := node.nodes[memlet.target], AccessNode):
                yield end.container, memlet
