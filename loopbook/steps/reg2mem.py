from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from loopbook.dependence import never_meet
from loopbook.dependence.body import LoopNode, Statement, statements
from loopbook.dependence.scalars import live_out
from loopbook.dependence.touches import Touch, touches
from loopbook.errors import IllegalStepError
from loopbook.program import tree
from loopbook.program.accesses import Access, accesses, names, own_accesses, own_names
from loopbook.program.copies import as_copy, without_idle
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Node
from loopbook.program.types import type_of
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region, in_order, read_in_place
from loopbook.steps.summed import Summed, summed


class Reg2Mem(Step):
    """Scalars that stand for an array element go back to it.

    A scalar that is carried from statement to statement holds them together. In its element of
    memory each iteration has a value of its own, and loops can be interchanged, distributed and
    pushed. Before ``reg2mem L1``::

        for j:
            w = A[i, j]
            for k: w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]

    and after it::

        for j:
            for k: A[i, j] -= A[i, k] * A[k, j]
            A[i, j] = A[i, j] / A[j, j]

    The same comes from a scalar ``w`` that begins as nought and is subtracted from the element
    where the loop over k has ended, whatever is computed from the difference before it is stored;
    and from one that is set first, to anything, and copied to the element last.
    """

    name = "reg2mem"
    recorded_as = "demote"
    textbook = "inverse of scalar replacement"
    source = "Callahan, Carr and Kennedy, Improving register allocation, PLDI 1990"
    example = "reg2mem L1"
    traits = {"right_looking": 0.3}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal for a scalar that the loop's body begins with loading, or setting, and ends with
        storing, or in which it adds up what it then adds to an element, if nothing in between uses
        the element, and nothing behind the loop what is left in the scalar."""
        region, body = read_in_place(editor, self.loop)
        children = without_idle(body.loop.body.children)
        if (kept := _kept(children) or _set(children)) is not None:
            new = _in_memory(editor, region, body, children, kept)
        elif (found := summed(children, partial(_product, editor))) is not None:
            new = _added_up(editor, region, body, children, found)
        else:
            raise IllegalStepError("no scalar is loaded first and stored last, or only added to")
        loop = replace(body.loop, body=replace(body.loop.body, children=new))
        editor.put(self.loop, loop)


def _product(editor: Editor, like: str) -> AccessNode:
    return AccessNode(editor.variable(f"{like}_product", like))


class _Kept(NamedTuple):
    """A scalar that is loaded from an element, or set, and stored to it.

    Attributes:
        first, last: places of the nodes that do so among those of the loop's body.
        loaded: whether the first of them is needed no more.
    """

    first: int
    last: int
    scalar: str
    element: Element
    loaded: bool = True

    @property
    def home(self) -> Touch:
        return Touch(self.element.container, self.element.subset, True)


def _kept(children: Sequence[Node]) -> _Kept | None:
    """The first scalar that is loaded, if its load comes first and its store last."""
    for first, child in enumerate(children):
        load = as_copy(child)
        if load is None or not load.read.subset or load.written.subset:
            continue
        used = [place for place, node in enumerate(children) if load.target in names(node)]
        home = Touch(load.source, load.read.subset, True)
        alone = used[0] == first < used[-1] and _ends(children[used[-1]], load.target, home)
        element = Element(load.source, load.read.subset, load.read.type)
        return _Kept(first, used[-1], load.target, element) if alone else None
    return None


def _set(children: Sequence[Node]) -> _Kept | None:
    """The first scalar that a block sets, whatever to, and that is copied to an element last."""
    for last, child in enumerate(children):
        store = as_copy(child)
        if store is None or store.read.subset or not store.written.subset:
            continue
        used = [place for place, node in enumerate(children) if store.source in names(node)]
        if used[0] < used[-1] == last and _only_sets(children[used[0]], store.source):
            element = Element(store.target, store.written.subset, store.written.type)
            return _Kept(used[0], last, store.source, element, loaded=False)
    return None


def _only_sets(node: Node, scalar: str) -> bool:
    """Whether a block writes the scalar and does not read it."""
    return isinstance(node, Block) and all(
        access.write for access in own_accesses(node) if access.container == scalar
    )


def _in_memory(
    editor: Editor, region: Region, body: LoopNode, children: Sequence[Node], kept: _Kept
) -> tuple[Node, ...]:
    """What a loop holds without a scalar that is loaded, or set, first and stored last."""
    between = children[kept.first + kept.loaded : kept.last + 1]
    _check_scalar(editor, body.loop, kept.scalar, kept.home)
    _check_alone(region, body, kept.home, between, store=between[-1])
    new = [_with_element(node, kept.scalar, kept.element) for node in between]
    if as_copy(new[-1]):  # of the element to itself
        new.pop()
    return (*children[: kept.first], *new, *children[kept.last + 1 :])


def _added_up(
    editor: Editor, region: Region, body: LoopNode, children: Sequence[Node], found: Summed
) -> tuple[Node, ...]:
    """What a loop holds with a sum in its element all the time."""
    home = Touch(found.container, found.home.subset, True)
    _check_scalar(editor, body.loop, found.scalar, home)
    # What the last block does behind its sum is not in between.
    _check_alone(region, body, home, children[found.first + 1 : found.last])
    others = [node for place, node in enumerate(children) if place != found.last]
    if found.middle and (
        found.middle in live_out(editor.program, body.loop) | own_names(body.loop)
        or any(found.middle in names(node) for node in others)
    ):
        raise IllegalStepError(f"{found.middle} is used elsewhere, too")
    element = Element(found.container, found.home.subset, found.home.type)
    between = [_with_element(node, found.scalar, element) for node in found.between]
    rest = () if found.rest is None else (found.rest,)
    return (*children[: found.first], *between, *rest, *children[found.last + 1 :])


def _check_scalar(editor: Editor, loop: tree.Loop, scalar: str, home: Touch) -> None:
    """Refuse an element that is not the same all the time or holds other values than the scalar,
    and a scalar that is needed elsewhere."""
    types = editor.program.containers
    indices = {name for index in home.subset for name in index.symbols}
    if not indices.isdisjoint(access.container for access in accesses(loop) if _sets(access)):
        raise IllegalStepError(f"the element of {scalar} changes with what the loop computes")
    if type_of(scalar, types).element != type_of(home.container, types).element:
        raise IllegalStepError(f"{scalar} is not of the type of its element")
    if scalar in own_names(loop) | live_out(editor.program, loop):
        raise IllegalStepError(f"the program uses what the loop leaves in {scalar}")


def _sets(access: Access) -> bool:
    return access.write and not access.subset


def _ends(node: Node, scalar: str, home: Touch) -> bool:
    """Whether a block reads the scalar and writes its element, and nothing else."""
    if not isinstance(node, Block):
        return False
    read, stores = False, list[Touch]()
    for access in own_accesses(node):
        if not access.write:
            read = read or access.container == scalar
        elif access.subset:
            stores.append(Touch(access.container, access.subset, True))
        elif access.container == scalar:
            return False
    return read and [(one.container, one.place) for one in stores] == [(home.container, home.place)]


def _check_alone(
    region: Region,
    loop: LoopNode,
    home: Touch,
    nodes: Sequence[Node],
    store: Node | None = None,
) -> None:
    """Refuse if anything but the scalar's load and store uses its element meanwhile."""
    around = [*region.around, loop]
    held: list[tuple[Statement, Sequence[LoopNode]]] = []
    for child in loop.children:
        if isinstance(child, LoopNode) and child.loop in nodes:
            held += [(statement, [*around, *path]) for statement, path in statements(child)]
    for node in nodes:
        if not isinstance(node, tree.Loop):
            own = [t for t in touches(node) if not (node is store and t.write)]
            held.append((Statement([node], own), around))
    for statement, path in held:
        for touch in statement.touches:
            if touch.container == home.container and not never_meet(statement, path, home, touch):
                raise IllegalStepError(f"{home.container} may be used where the scalar stands")


def _with_element(node: Node, scalar: str, element: Element) -> Node:
    """A node whose blocks access the element in the place of the scalar. Loops that add something
    up in it run in order.

    Raises:
        IllegalStepError: the scalar stands elsewhere, too.
    """
    new = redirected(node, lambda access: element if access.container == scalar else None)
    new = in_order(new, scalar)
    if scalar in names(new):
        raise IllegalStepError(f"{scalar} is used where no array can be")
    return new
