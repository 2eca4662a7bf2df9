"""In which order blocks are run, and what they cost."""

from __future__ import annotations

from loopbook.interpreter.faults import NotInterpretedError
from loopbook.program import walk
from loopbook.program.dataflow import Block, age
from loopbook.program.tree import Loop, Node, While


def ordered(block: Block) -> list[int]:
    """The places of the nodes, each after what flows into it, the oldest first: where one statement
    reads what another one changes, nothing flows, and their order in the text is that of
    addresses in docc's memory."""
    waiting = {place: len(block.inputs[place]) for place in range(len(block.nodes))}
    found: list[int] = []
    while waiting:
        ready = [place for place, count in waiting.items() if count == 0]
        if not ready:
            raise NotInterpretedError("a block goes in a circle")
        place = min(ready, key=lambda place: age(block.nodes[place]))
        del waiting[place]
        found.append(place)
        for memlet in block.outputs[place]:
            waiting[memlet.target] -= 1
    return found


def cost(node: Node) -> int:
    """Operations that are done once where a node is: those in loops are counted there."""
    match node:
        case Block():
            return sum(1 for _ in node.operations())
        case Loop() | While():
            return 1
    return sum(map(cost, walk.children(node)))  # pyright: ignore[reportArgumentType]
