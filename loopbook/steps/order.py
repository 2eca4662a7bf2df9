"""Whether a nest that reads an array still finds the values from before it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from loopbook.dependence import carries_nothing, read_before_written
from loopbook.dependence.body import LoopNode, Statement, read_header, read_loop
from loopbook.dependence.scalars import private_scalars
from loopbook.dependence.touches import Touch, touches
from loopbook.errors import SdfgError
from loopbook.program import walk
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.tree import Loop, Program, While
from loopbook.program.walk import Path
from loopbook.steps.region import serial

Place = tuple[str, ...]


def check_reads(
    program: Program,
    nest: Loop | While,
    around: Sequence[Loop | While],
    container: str,
    places: Iterable[Place],
) -> None:
    """Refuse unless nothing in a nest writes an element before it is read in some places.

    Args:
        around: the loops around the nest, outermost first.
        places: of the reads, as accesses have them (`Touch.place`).

    Raises:
        LoopbookError: it may be written before.
    """
    headers = headers_of(around)
    variables = [one.variable for one in headers]
    whole = read_loop(nest, variables, private_scalars(program), program.containers)
    whole = _apart(whole, container)
    for place in places:
        if not read_before_written(whole, headers, container, place):
            raise SdfgError(f"{container} is overwritten before it is read")


def check_any_order(program: Program, nest: walk.Inner, around: Sequence[Loop | While]) -> None:
    """Refuse unless the iterations of each loop of a perfect nest may run in any order.

    Args:
        around: the loops around the nest, outermost first.

    Raises:
        LoopbookError: two of them may touch the same element, and one writes it.
    """
    headers = headers_of(around)
    variables = [one.variable for one in headers]
    if not isinstance(nest, Loop):
        raise SdfgError("it is no loop")
    node: LoopNode | Statement = read_loop(
        nest, variables, private_scalars(program), program.containers
    )
    while isinstance(node, LoopNode):
        if not carries_nothing(node, headers):
            raise SdfgError("its iterations depend on each other")
        headers.append(node)
        node = node.children[0]


def headers_of(loops: Iterable[Loop | While]) -> list[LoopNode]:
    """Loops without what is in them, outermost first.

    Raises:
        IllegalStepError: one of them counts nothing, or its bounds are not affine.
    """
    headers: list[LoopNode] = []
    for loop in loops:
        headers.append(read_header(loop, [one.variable for one in headers]))
    return headers


def in_order(nest: Loop | While) -> Loop | While:
    """A nest whose loops run in order, since an iteration may read what later ones write now. docc
    finds out again which of them may run in any order."""
    body = walk.rebuilt(nest, lambda node: serial(node) if isinstance(node, Loop) else node)
    return serial(body) if isinstance(body, Loop) else body


def with_serial_loops(program: Program, path: Path) -> Program:
    """The program with all loops in order that are on the way to a path, its end included: their
    iterations share a row.

    Raises:
        IllegalStepError: threads share one of them already.
    """
    for depth in range(1, len(path) + 1):
        loop = walk.at(program, path[:depth])
        if isinstance(loop, Loop):
            program = walk.replaced(program, path[:depth], serial(loop))
    return program


def _apart(loop: LoopNode, container: str) -> LoopNode:
    """A loop whose statements are single nodes, with what reads a container before what writes it
    where a block does both in this order."""
    children: list[LoopNode | Statement] = []
    for child in loop.children:
        if isinstance(child, LoopNode):
            children.append(_apart(child, container))
        elif type(child) is Statement:
            children += _single(child, container)
        else:
            children.append(child)
    return replace(loop, children=children)


def _single(statement: Statement, container: str) -> list[Statement]:
    kept = set(statement.touches)
    found: list[Statement] = []
    for node in statement.nodes:
        own = [touch for touch in touches(node) if _known(touch, kept)]
        if isinstance(node, Block) and _reads_first(node, container):
            found.append(Statement([node], [t for t in own if not t.write]))
            found.append(Statement([node], [t for t in own if t.write]))
        else:
            found.append(Statement([node], own))
    return found


def _known(touch: Touch, kept: set[Touch]) -> bool:
    return any(
        (touch.container, touch.subset, touch.write) == (o.container, o.subset, o.write)
        for o in kept
    )


def _reads_first(block: Block, container: str) -> bool:
    """Whether all that a block writes of a container comes of all that it reads of it."""
    nodes = range(len(block.nodes))
    uses = [
        n
        for n in nodes
        if isinstance(one := block.nodes[n], AccessNode) and one.container == container
    ]
    reads = [n for n in uses if not block.inputs[n]]
    writes = [n for n in uses if block.inputs[n]]
    if any(block.outputs[n] for n in writes):
        return False
    return all(set(reads) <= _before(block, write) for write in writes)


def _before(block: Block, place: int) -> set[int]:
    """The nodes that a node's value comes of."""
    found: set[int] = set()
    waiting = [place]
    while waiting:
        for memlet in block.inputs[waiting.pop()]:
            if memlet.source not in found:
                found.add(memlet.source)
                waiting.append(memlet.source)
    return found
