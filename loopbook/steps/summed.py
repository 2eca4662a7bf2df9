"""A scalar in which something is added up before it is added to an element of an array.

    s = 0
    for k: s += e(k)
    a[i] -= s

is ``for k: a[i] -= e(k)``, but for the order in which numbers are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loopbook.errors import IllegalStepError
from loopbook.program.accesses import names
from loopbook.program.dataflow import AccessNode, Block, Constant, Memlet, Tasklet
from loopbook.program.dataflow import Node as FlowNode
from loopbook.program.tree import Case, Loop, Node
from loopbook.program.walk import rebuilt
from loopbook.steps.region import serial

NEGATED = {"fp_add": "fp_sub", "fp_sub": "fp_add", "int_add": "int_sub", "int_sub": "int_add"}
"""Each operation that adds, and the one that takes away what it adds."""


@dataclass(frozen=True)
class Summed:
    """A sum among the nodes of a loop's body.

    Attributes:
        first, last: places of the node that sets the scalar to nought, and of the block that adds
            it to an element.
        scalar: where it is added up.
        home, container: what writes the element that it is added to, and its array.
        between: what adds to the scalar, with the sign that the element needs.
        rest: what the last block does besides, if anything.
    """

    first: int
    last: int
    scalar: str
    home: Memlet
    container: str
    between: tuple[Node, ...]
    rest: Block | None


def summed(children: Sequence[Node]) -> Summed | None:
    """The first sum among the nodes of a loop's body; None if there is none."""
    for first, child in enumerate(children):
        scalar = _set_to_nought(child)
        if scalar is None:
            continue
        used = [place for place, node in enumerate(children) if scalar in names(node)]
        last = used[-1]
        end = children[last]
        if used[0] != first or not isinstance(end, Block) or last == first:
            continue
        found = _added(end, scalar)
        if found is None:
            continue
        home, container, negated, rest = found
        try:
            between = tuple(_signed(node, scalar, negated) for node in children[first + 1 : last])
        except IllegalStepError:
            continue
        return Summed(first, last, scalar, home, container, between, rest)
    return None


def _set_to_nought(node: Node) -> str | None:
    """The scalar that a block sets to nought and that does nothing else."""
    if not isinstance(node, Block) or len(node.memlets) != 2:
        return None
    into, out = sorted(node.memlets, key=lambda m: not isinstance(node.nodes[m.source], Constant))
    value, task, target = node.nodes[into.source], node.nodes[into.target], node.nodes[out.target]
    if not isinstance(value, Constant) or not isinstance(target, AccessNode) or out.subset:
        return None
    if out.source != into.target or not isinstance(task, Tasklet) or task.code != "assign":
        return None
    try:
        return None if float(value.text) else target.container
    except ValueError:
        return None


def _added(block: Block, scalar: str) -> tuple[Memlet, str, bool, Block | None] | None:
    """Where a block adds a scalar to, and what is left of the block without that.

    Returns:
        What writes the element, its container, whether the scalar is subtracted, and the rest.
    """
    uses = [m for m in block.memlets if scalar in (_name(block, m.source), _name(block, m.target))]
    if len(uses) != 1 or _name(block, uses[0].source) != scalar:
        return None
    place = uses[0].target
    task, into, out = block.nodes[place], block.inputs[place], block.outputs[place]
    if not isinstance(task, Tasklet) or task.code not in NEGATED or len(into) != 2 or len(out) != 1:
        return None
    (home,) = out
    (old,) = (memlet for memlet in into if memlet is not uses[0])
    negated = task.code.endswith("_sub")
    if negated and uses[0].target_connector != task.inputs[1]:
        return None
    container = _name(block, home.target)
    same = _name(block, old.source) == container and [index.text for index in old.subset] == [
        index.text for index in home.subset
    ]
    if not container or not home.subset or not same:
        return None
    if block.inputs[old.source] or len(block.outputs[old.source]) != 1:
        return None
    behind = _behind(block, home.target)
    taken = (uses[0], old, home)
    left = [m for m in block.memlets if not any(m is one for one in taken)]
    ends = {m.source for m in left} | {m.target for m in left}
    if any(_name(block, end) == container and end not in behind for end in ends):
        return None  # in front of the sum, perhaps
    kept = sorted(ends)
    at = {end: number for number, end in enumerate(kept)}
    rest = replace(
        block,
        nodes=tuple(block.nodes[end] for end in kept),
        memlets=tuple(replace(m, source=at[m.source], target=at[m.target]) for m in left),
    )
    if scalar in names(rest):
        return None  # as an index
    return home, container, negated, rest if left else None


def _behind(block: Block, place: int) -> set[int]:
    """A node of a block and all that is computed from it."""
    found, waiting = {place}, [place]
    while waiting:
        for memlet in block.outputs[waiting.pop()]:
            if memlet.target not in found:
                found.add(memlet.target)
                waiting.append(memlet.target)
    return found


def _signed(node: Node, scalar: str, negated: bool) -> Node:
    """A node that adds to the scalar, or takes away what it adds.

    Raises:
        IllegalStepError: it does something else with the scalar.
    """
    if scalar not in names(node):
        return node
    if not isinstance(node, Loop):
        raise IllegalStepError(f"{scalar} is not added up by a loop")

    def mended(inner: Node | Case) -> Node | Case:
        if isinstance(inner, Block) and scalar in names(inner):
            return _updated(inner, scalar, negated)
        if isinstance(inner, Loop) and scalar in {one.container for one in inner.reductions or ()}:
            return serial(inner)
        return inner

    whole = rebuilt(node, mended)
    return serial(whole) if whole.reductions else whole


def _updated(block: Block, scalar: str, negated: bool) -> Block:
    reads = [m for m in block.memlets if _name(block, m.source) == scalar]
    writes = [m for m in block.memlets if _name(block, m.target) == scalar]
    if len(reads) != 1 or len(writes) != 1 or reads[0].target != writes[0].source:
        raise IllegalStepError(f"{scalar} is not only added to")
    place = writes[0].source
    task, into = block.nodes[place], block.inputs[place]
    if not isinstance(task, Tasklet) or task.code not in NEGATED or len(into) != 2:
        raise IllegalStepError(f"{scalar} is not only added to")
    first = reads[0].target_connector == task.inputs[0]
    if task.code.endswith("_sub") and not first:
        raise IllegalStepError(f"{scalar} is not only added to")
    if not negated:
        return block
    nodes: list[FlowNode] = list(block.nodes)
    nodes[place] = replace(task, code=NEGATED[task.code])
    memlets = block.memlets
    if not first:
        swapped = dict(zip(task.inputs, reversed(task.inputs), strict=True))
        memlets = tuple(
            replace(m, target_connector=swapped[m.target_connector]) if m.target == place else m
            for m in memlets
        )
    return replace(block, nodes=tuple(nodes), memlets=memlets)


def _name(block: Block, place: int) -> str:
    node = block.nodes[place]
    return node.container if isinstance(node, AccessNode) else ""
