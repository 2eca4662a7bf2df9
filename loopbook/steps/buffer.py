from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopbook.dependence import keep_apart, linear, read_before_written
from loopbook.dependence.body import LoopNode
from loopbook.dependence.model import minus
from loopbook.dependence.touches import Touch, places
from loopbook.errors import IllegalStepError
from loopbook.program import expr, tree
from loopbook.program.accesses import Access, counted
from loopbook.program.expr import Expr
from loopbook.program.redirect import Element, redirected
from loopbook.program.walk import preorder
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.copying import Copying, Place, copied_ends, tile_of
from loopbook.steps.editor import MAX_BYTES, Editor
from loopbook.steps.region import read_in_place


class Buffer(Step):
    """What runs along two loops, in a buffer with a place for each pair of their iterations.

    `stage` holds a container whole, with one box for all accesses to it: not where a product uses
    an array twice (``A A^T``), and what it writes back is the box, which is more than a triangle.
    This holds the accesses that run along just these two loops, and copies what they use. The
    buffer is laid out as the loops run, so a panel of an operand becomes contiguous. Before
    ``buffer L0.tile L2 L1``::

        for ii: for k in kk … kk + 256: for j in jj … jj + 24: … A[j, k] …

    and after it, the copies being ``L0.tile.load`` and ``L0.tile.store``::

        for k, j: a[k - kk, j - jj] = A[j, k]
        for ii: for k in kk … kk + 256: for j in jj … jj + 24: … a[k - kk, j - jj] …
    """

    name = "buffer"
    textbook = "packing"
    source = "Goto and van de Geijn, ACM TOMS 34(3), 2008"
    example = "buffer L0.tile L2 L1"
    makes = ("{scope}.load", "{scope}.store")
    traits = {"hold": 1.5, "buffer": 0.2}

    scope = Loop()
    outer_loop = Loop()
    inner_loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal where no other access may touch the elements that are held, one of them writing.

        What is only read, and before anything writes it, is as good in a copy. Both loops run
        through tiles of constant size, and the copying loops must be exact: what is read is copied
        in before the scope, what is written is copied in, too, and back after it.
        """
        first_id, second_id = (editor.id_of(name) for name in self.loops[1:])
        region, scope = read_in_place(editor, self.scope)
        path = _path(scope, second_id)
        inside = {loop.id: loop for loop in path}
        if first_id == second_id or first_id not in inside or second_id not in inside:
            raise IllegalStepError("the loops are not nested in the scope")
        pair = (inside[first_id], inside[second_id])
        sides = [tile_of(loop, path) for loop in pair]
        held = list(_held(scope, pair, region.around))
        if not held:
            raise IllegalStepError("nothing runs along just these loops")
        indices = [
            linear.text(minus({loop.variable: 1}, side.start))
            for loop, side in zip(pair, sides, strict=True)
        ]
        loop, before, after = scope.loop, list[tree.Node](), list[tree.Node]()
        for part in held:
            name = _declared(editor, part, [side.size for side in sides])
            ends = copied_ends(path, pair, sides[0], written=part.written)
            copying = Copying(region, pair, ends)
            array, buffer = (part.container, part.place), (name, tuple(indices))
            before.append(copying.loops(f"{self.scope}.load", array, buffer))
            if part.written:
                after.append(copying.loops(f"{self.scope}.store", buffer, array))
            loop = _redirected(editor, loop, array, buffer)
        region.put(scope, *before, loop, *after)


@dataclass(frozen=True)
class _Held:
    """Accesses to be held in a buffer: those to one place of a container."""

    container: str
    place: tuple[str, ...]
    written: bool


def _path(scope: LoopNode, number: int) -> list[LoopNode]:
    """The loops from `scope` to the one with a number."""
    if scope.id == number:
        return [scope]
    for child in scope.children:
        if isinstance(child, LoopNode) and (found := _path(child, number)):
            return [scope, *found]
    return []


def _held(scope: LoopNode, pair: Sequence[LoopNode], around: Sequence[LoopNode]) -> Iterator[_Held]:
    """The accesses that run along the pair of loops and nothing else in the scope.

    Raises:
        IllegalStepError: other accesses may touch the same elements, one of them writing.
    """
    variables = counted(scope.loop)
    wanted = {loop.variable for loop in pair}
    found = places(preorder(scope.loop))
    written = {container for container, stored in found.items() if any(stored.values())}
    for container, stored in found.items():
        for place in sorted(filter(None, stored)):
            used = {symbol for index in place for symbol in expr.symbols(index)}
            if used & variables != wanted or used & written:
                continue
            others = [o for o in stored if o != place and (stored[o] or stored[place])]
            if not all(o and keep_apart(scope, around, container, place, o) for o in others):
                if stored[place] or not all(others):
                    raise IllegalStepError(f"{container} is used in more than one place")
                if not read_before_written(scope, around, container, place):
                    raise IllegalStepError(f"{container} is written before it is read")
            if stored[place] and any(loop.loop.kind != "map" for loop in pair):
                raise IllegalStepError("iterations may write the same element")
            yield _Held(container, place, stored[place])


def _declared(editor: Editor, part: _Held, extents: Sequence[int]) -> str:
    """A new buffer."""
    element = editor.element_type(part.container)
    if 8 * extents[0] * extents[1] > MAX_BYTES:
        raise IllegalStepError("the buffer would be too large")
    return editor.fixed_array(f"{part.container}_buffer", element, extents)


def _redirected(editor: Editor, loop: tree.Loop, array: Place, buffer: Place) -> tree.Loop:
    """The loop with all accesses to a place of an array going to its buffer."""
    name, indices = buffer
    element = Element(name, tuple(map(Expr, indices)), editor.program.containers[name])

    def target(access: Access) -> Element | None:
        touch = Touch(access.container, access.subset, access.write)
        return element if (touch.container, touch.place) == array else None

    return redirected(loop, target)
