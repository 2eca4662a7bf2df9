"""Blocks that do nothing but copy."""

from __future__ import annotations

from dataclasses import dataclass

from loopbook.program.accesses import Part
from loopbook.program.dataflow import AccessNode, Block, Memlet, Tasklet


@dataclass(frozen=True)
class Copy:
    """``target = source``.

    Attributes:
        read, written: the memlets, whose subsets say which elements.
    """

    source: str
    read: Memlet
    target: str
    written: Memlet


def as_copy(node: Part) -> Copy | None:
    """What a block copies that does nothing else; None for other nodes."""
    if not isinstance(node, Block) or len(node.memlets) != 2:
        return None
    tasks = [place for place, task in enumerate(node.nodes) if not isinstance(task, AccessNode)]
    return task_as_copy(node, tasks[0]) if len(tasks) == 1 else None


def task_as_copy(block: Block, place: int) -> Copy | None:
    """What a node of a block copies from one container to another; None for other nodes."""
    task, into, out = block.nodes[place], block.inputs[place], block.outputs[place]
    if not isinstance(task, Tasklet) or task.code != "assign" or len(into) != 1 or len(out) != 1:
        return None
    source, target = block.nodes[into[0].source], block.nodes[out[0].target]
    if not isinstance(source, AccessNode) or not isinstance(target, AccessNode):
        return None
    return Copy(source.container, into[0], target.container, out[0])
