from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopbook.dependence import keep_apart
from loopbook.dependence.body import LoopNode, statements
from loopbook.dependence.touches import Touch
from loopbook.errors import IllegalStepError
from loopbook.program import expr, tree
from loopbook.program.accesses import Access, own_accesses, written
from loopbook.program.dataflow import Block, Memlet, Tasklet
from loopbook.program.expr import Expr
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Branch, Case, Node, Sequence
from loopbook.program.walk import preorder
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region, read_in_place


class Hoist(Step):
    """What an innermost loop reads and never changes, loaded once before the loop.

    A compiler does this itself unless the loop writes to the same array: then it asks while the
    program runs whether what is written may be what is read. Here the indices tell. Before
    ``hoist L1``::

        for j: a[i, j] = min(a[i, j], a[i, k] + a[k, j])

    and after it::

        s = a[i, k]
        for j: a[i, j] = min(a[i, j], s + a[k, j])
    """

    name = "hoist"
    textbook = "scalar replacement of an invariant element"
    source = "Callahan, Carr and Kennedy, PLDI 1990"
    example = "hoist L1"
    refines = True
    traits = {"pivots": 1.0}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal for elements whose indices do not change in the loop, and that it does not write.

        They are loaded only if the loop runs at all. What a branch may leave out is not loaded for
        its sake, but taken from what is.
        """
        region, node = read_in_place(editor, self.loop)
        if any(isinstance(child, LoopNode) for child in node.children):
            raise IllegalStepError("the loop holds loops")
        changing = {node.variable} | written(node.loop)
        found: dict[tuple[str, tuple[str, ...]], list[Memlet]] = {}
        for load, _ in _loads(node.loop.body.children):
            place = Touch(load.container, load.subset, False).place
            if changing.isdisjoint(name for index in place for name in expr.symbols(index)):
                found[load.container, place] = []
        for load, memlet in _loads(preorder(node.loop)):
            place = Touch(load.container, load.subset, False).place
            if (load.container, place) in found:
                found[load.container, place].append(memlet)
        loaded: list[Node] = []
        kept: dict[Memlet | None, Element] = {}
        for (array, place), memlets in found.items():
            if _is_kept(region, node, array, place):
                kind = editor.element_type(array)
                scalar = editor.scalar(f"{array}_kept", kind)
                loaded.append(editor.copy((array, place), (scalar, ())))
                kept |= dict.fromkeys(memlets, Element(scalar, (), kind))
        if not loaded:
            raise IllegalStepError("the loop reads nothing that it does not change")
        loop = redirected(node.loop, lambda a: None if a.write else kept.get(a.memlet))
        region.put(node, _if_it_runs(node.loop, loaded), loop)


def _loads(nodes: Iterable[object]) -> Iterator[tuple[Access, Memlet]]:
    """What the instructions among some nodes read of arrays."""
    for block in nodes:
        if isinstance(block, Block):
            for access in own_accesses(block):
                memlet = access.memlet
                if memlet is None or access.write or not access.subset:
                    continue
                if isinstance(block.nodes[memlet.target], Tasklet):
                    yield access, memlet


def _is_kept(region: Region, loop: LoopNode, array: str, place: tuple[str, ...]) -> bool:
    """Whether the loop writes to no element that it reads in a place of an array."""
    stores = {
        touch.place
        for statement, _ in statements(loop)
        for touch in statement.touches
        if touch.write and touch.container == array
    }
    return all(store and keep_apart(loop, region.around, array, place, store) for store in stores)


def _if_it_runs(loop: tree.Loop, nodes: list[Node]) -> Branch:
    """Nodes for when a loop runs at all."""
    condition = expr.substitute(loop.condition.text, {loop.variable: f"({loop.init})"})
    return Branch((Case(Expr(condition), Sequence(tuple(nodes))),))
