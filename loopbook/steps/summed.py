"""A scalar in which something is added up before it is added to an element of an array.

    s = 0
    for k: s += e(k)
    a[i] -= s

is ``for k: a[i] -= e(k)``, but for the order in which numbers are added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loopbook.errors import IllegalStepError
from loopbook.program.accesses import names
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    Constant,
    Memlet,
    Tasklet,
    container_at,
    part,
)
from loopbook.program.dataflow import Node as FlowNode
from loopbook.program.tree import Case, Loop, Node
from loopbook.program.walk import rebuilt
from loopbook.steps.region import in_order, serial

NEGATED = {"fp_add": "fp_sub", "fp_sub": "fp_add", "int_add": "int_sub", "int_sub": "int_add"}
"""Each operation that adds, and the one that takes away what it adds."""

Product = Callable[[str], AccessNode]
"""Gives a new scalar of the type of a known one."""


@dataclass(frozen=True)
class Summed:
    """A sum among the nodes of a loop's body.

    Attributes:
        first, last: places of the node that sets the scalar to nought, and of the block that adds
            it to an element.
        scalar: where it is added up.
        home, container: what reads or writes the element that it is added to, and its array.
        between: what adds to the scalar, with the sign that the element needs.
        rest: what the last block does besides, if anything.
        middle: a scalar that the last block leaves the result in, and `rest` does not; or empty.
    """

    first: int
    last: int
    scalar: str
    home: Memlet
    container: str
    between: tuple[Node, ...]
    rest: Block | None
    middle: str = ""


def summed(children: Sequence[Node], product: Product) -> Summed | None:
    """The first sum among the nodes of a loop's body; None if there is none.

    Args:
        product: makes a scalar for what is multiplied in a sum.
    """
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
        try:
            between = tuple(
                _signed(node, scalar, found.negated, product) for node in children[first + 1 : last]
            )
        except IllegalStepError:
            continue
        return Summed(
            first, last, scalar, found.home, found.container, between, found.rest, found.middle
        )
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


@dataclass(frozen=True)
class _Addition:
    """Where a block adds a scalar to an element.

    Attributes:
        home, container: what reads or writes the element, and its array.
        negated: whether the scalar is subtracted.
        rest: what the block does besides, if anything.
        middle: the scalar that it leaves the result in; empty if that is the element.
    """

    home: Memlet
    container: str
    negated: bool
    rest: Block | None
    middle: str = ""


def _added(block: Block, scalar: str) -> _Addition | None:
    """Where a block adds a scalar to, and what is left of the block without that."""
    uses = [
        m
        for m in block.memlets
        if scalar in (container_at(block, m.source), container_at(block, m.target))
    ]
    if len(uses) != 1 or container_at(block, uses[0].source) != scalar:
        return None
    place = uses[0].target
    task, into, out = block.nodes[place], block.inputs[place], block.outputs[place]
    if not isinstance(task, Tasklet) or task.code not in NEGATED or len(into) != 2 or len(out) != 1:
        return None
    (home,) = out
    (old,) = (memlet for memlet in into if memlet is not uses[0])
    if task.code.endswith("_sub") and uses[0].target_connector != task.inputs[1]:
        return None
    if not old.subset or block.inputs[old.source] or len(block.outputs[old.source]) != 1:
        return None
    found = _in_place if home.subset else _passed_on
    addition = found(block, old, home, [m for m in block.memlets if m not in (uses[0], old, home)])
    if addition is None or (addition.rest and scalar in names(addition.rest)):  # as an index
        return None
    return replace(addition, negated=task.code.endswith("_sub"))


def _in_place(block: Block, old: Memlet, home: Memlet, left: list[Memlet]) -> _Addition | None:
    """The result goes to the element at once; `left` are the other memlets."""
    container = container_at(block, home.target)
    if (
        not container
        or container_at(block, old.source) != container
        or _subset(old) != _subset(home)
    ):
        return None
    behind = _behind(block, home.target)
    ends = {m.source for m in left} | {m.target for m in left}
    if any(container_at(block, end) == container and end not in behind for end in ends):
        return None  # in front of the sum, perhaps
    return _Addition(home, container, False, part(block, left) if left else None)


def _passed_on(block: Block, old: Memlet, home: Memlet, left: list[Memlet]) -> _Addition | None:
    """The result goes to a scalar, and what is computed from that to the element in the end, as in
    ``a[i] = sqrt(a[i] - s)``."""
    container, middle = container_at(block, old.source), container_at(block, home.target)
    alike = [end for end in range(len(block.nodes)) if container_at(block, end) == middle]
    if alike != [home.target] or len(block.inputs[home.target]) != 1:
        return None
    used = [
        m
        for m in left
        if container in (container_at(block, m.source), container_at(block, m.target))
    ]
    if len(used) != 1 or container_at(block, used[0].target) != container:
        return None
    if _subset(used[0]) != _subset(old) or used[0].target not in _behind(block, home.target):
        return None
    read = [
        replace(m, source=old.source, subset=old.subset, type=old.type)
        if m.source == home.target
        else m
        for m in left
    ]
    return _Addition(old, container, False, part(block, read), middle)


def _subset(memlet: Memlet) -> list[str]:
    return [index.text for index in memlet.subset]


def _behind(block: Block, place: int) -> set[int]:
    """A node of a block and all that is computed from it."""
    found, waiting = {place}, [place]
    while waiting:
        for memlet in block.outputs[waiting.pop()]:
            if memlet.target not in found:
                found.add(memlet.target)
                waiting.append(memlet.target)
    return found


def _signed(node: Node, scalar: str, negated: bool, product: Product) -> Node:
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
            return _updated(_taken_apart(inner, scalar, negated, product), scalar, negated)
        return inner

    whole = in_order(rebuilt(node, mended), scalar)
    return serial(whole) if whole.reductions else whole


def _taken_apart(block: Block, scalar: str, negated: bool, product: Product) -> Block:
    """A block that multiplies and adds to the scalar in two instructions, if one does both and
    what it adds is to be taken away: there is none that takes a product away."""
    writes = [m for m in block.memlets if container_at(block, m.target) == scalar]
    if not negated or len(writes) != 1:
        return block
    place = writes[0].source
    task = block.nodes[place]
    if not isinstance(task, Tasklet) or task.code != "fp_fma":
        return block
    one, other, old = task.inputs
    nodes: list[FlowNode] = list(block.nodes)
    nodes[place] = replace(task, code="fp_mul", inputs=(one, other))
    found, added = len(nodes), len(nodes) + 1
    nodes += [product(scalar), Tasklet("fp_add", (one, other), task.output)]
    kind = writes[0].type
    memlets = [
        replace(memlet, target=added, target_connector=one)
        if memlet.target == place and memlet.target_connector == old
        else replace(memlet, source=added)
        if memlet is writes[0]
        else memlet
        for memlet in block.memlets
    ]
    memlets += [
        Memlet(place, found, task.output, "void", (), kind),
        Memlet(found, added, "void", other, (), kind),
    ]
    return replace(block, nodes=tuple(nodes), memlets=tuple(memlets))


def _updated(block: Block, scalar: str, negated: bool) -> Block:
    reads = [m for m in block.memlets if container_at(block, m.source) == scalar]
    writes = [m for m in block.memlets if container_at(block, m.target) == scalar]
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
