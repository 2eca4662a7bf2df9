"""Blocks that do nothing but copy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from loopbook.program import dataflow, expr
from loopbook.program.accesses import Part
from loopbook.program.dataflow import AccessNode, Block, Memlet, Statement, Tasklet, part
from loopbook.program.expr import Expr
from loopbook.program.tree import Node, Program
from loopbook.program.types import Type
from loopbook.program.walk import Inner, children, rebuilt, with_new

Outer = TypeVar("Outer", bound=Program | Inner)


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


Place = tuple[str, Iterable[Expr], Type]
"""A container, the indices of an element of it, and the type that a memlet to it has."""


def copying(source: Place, target: Place) -> Block:
    """The block ``target = source``."""
    (start, read, kind), (end, write, other) = source, target
    nodes = AccessNode(start), AccessNode(end), Tasklet("assign", ("_in",), "_out")
    into = Memlet(0, 2, "void", "_in", tuple(read), kind)
    return dataflow.block(nodes, (into, Memlet(2, 1, "_out", "void", tuple(write), other)))


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


def without_idle(nodes: Iterable[Node]) -> list[Node]:
    """Nodes beside each other without copies of an element to itself, such as keep loops apart
    (`loopbook.sdfg.spacing`)."""
    found: list[Node] = []
    for node in nodes:
        busy = _busy(node) if type(node) is Statement else node
        if busy is not None:
            found.append(busy)
    return found


def without_idle_copies(program: Program) -> Program:
    """The program without them, but where a loop would have nothing to do; itself if it has
    none."""

    def busy(node: Outer) -> Outer:
        old = children(node)
        new = without_idle(old)  # type: ignore[arg-type]  # cases are left as they are
        return with_new(node, new) if new else node

    return busy(rebuilt(program, busy))


def _busy(block: Block) -> Block | None:
    """The block without such copies; None if it does nothing else."""
    idle = {
        end
        for place, task in enumerate(block.nodes)
        if isinstance(task, Tasklet) and _is_idle(block, place)
        for end in (place, block.inputs[place][0].source, block.outputs[place][0].target)
    }
    if not idle:
        return block
    memlets = [m for m in block.memlets if not {m.source, m.target} <= idle]
    return part(block, memlets) if memlets else None


def _is_idle(block: Block, place: int) -> bool:
    copy = task_as_copy(block, place)
    return (
        copy is not None
        and copy.source == copy.target
        and expr.normal_forms(index.text for index in copy.read.subset)
        == expr.normal_forms(index.text for index in copy.written.subset)
        and not block.inputs[copy.read.source]
        and not block.outputs[copy.written.target]
    )
