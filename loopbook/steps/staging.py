"""What a loop uses of an array in a local buffer, for the steps that want it there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from loopbook.dependence import carries_nothing, keep_apart
from loopbook.dependence.body import LoopNode
from loopbook.dependence.model import minus
from loopbook.dependence.subscripts import strides_with_sums
from loopbook.dependence.touches import Touch
from loopbook.errors import IllegalStepError
from loopbook.program.accesses import Access
from loopbook.program.expr import Expr, Monomial
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Node
from loopbook.program.types import Scalar
from loopbook.steps.boxes import Box, Boxes, Use, flat, local, uses
from loopbook.steps.copying import Range, copy_loops
from loopbook.steps.editor import BYTES, MAX_BYTES, Editor
from loopbook.steps.region import Region, serialise_around

INDEX = Scalar("int64")
"""The type of what copies are counted with."""

Group = tuple[tuple[tuple[Monomial, int], ...], ...]
"""Indices without constants: what accesses have in common that lie beside each other."""


def staged(
    editor: Editor,
    number: int,
    name: str,
    container: str,
    rank: Callable[[Sequence[Use]], int] = lambda members: 0,
) -> None:
    """Copy what a loop uses of an array to a local buffer before it, and what it writes back after.

    Args:
        number: of the loop.
        name: of the loop, which those of the copies are made from.
        rank: of accesses that lie beside each other: those of the lowest rank, and of these the
            first, are held if copies can stand for them.

    Raises:
        IllegalStepError: as `loopbook.steps.stage.Stage.apply` says.
    """
    region = Region.of(editor, number, rooms=True)
    scope = region.read(number, rooms=True)
    held = list(uses(scope, container))
    groups = _groups(held)
    _check_apart(region, scope, groups)
    indices = [i for use in held for i in use.touch.indices if i]
    try:
        boxes = Boxes(scope, region.around, indices)
        members, box = _chosen(groups, boxes, container, rank)
    except IllegalStepError as refusal:  # rows may be several times as long as a size
        boxes = Boxes(scope, region.around, indices, strides_with_sums)
        try:
            members, box = _chosen(groups, boxes, container, rank)
        except IllegalStepError:
            raise refusal from None
    written = any(use.touch.write for use in members)
    if written and not box.exact and any(use.touch.write for use in held if use not in members):
        raise IllegalStepError(f"more of {container} would be written back than is used")
    element = editor.element_type(container)
    if BYTES.get(element.dtype, MAX_BYTES) * prod(box.extents) > MAX_BYTES:
        raise IllegalStepError("the buffer would be too large")
    buffer = editor.fixed_array(
        f"{container}_local", element, box.extents, exact=not written or box.exact
    )
    kind = editor.program.containers[buffer]
    places = {
        use.touch.place: Element(buffer, tuple(map(Expr, local(box, boxes.parts(use)))), kind)
        for use in members
    }

    def target(access: Access) -> Element | None:
        if access.container != container:
            return None
        return places.get(Touch(container, access.subset, access.write).place)

    copies = _Copies(region, box, container, buffer)
    new: list[Node] = [copies.nest(f"{name}.load"), redirected(scope.loop, target)]
    if written:
        new.append(copies.nest(f"{name}.store", back=True))
    region.put(scope, *new)
    if written and not box.exact:
        _check_parallel(editor, [loop.id for loop in region.around])


def _chosen(
    groups: Mapping[Group, Sequence[Use]],
    boxes: Boxes,
    container: str,
    rank: Callable[[Sequence[Use]], int],
) -> tuple[Sequence[Use], Box]:
    """The first accesses that copies can stand for, and the box around them.

    Raises:
        IllegalStepError: there are none.
    """
    refusal = IllegalStepError(f"nothing of {container} is used in this way")
    for members in sorted(groups.values(), key=rank):  # which keeps their order
        try:
            return members, boxes.around(members)
        except IllegalStepError as error:
            refusal = error
    raise refusal


def _groups(held: Sequence[Use]) -> dict[Group, list[Use]]:
    """Accesses by what their indices have in common, in program order.

    Raises:
        IllegalStepError: it is not known what an index is.
    """
    found: dict[Group, list[Use]] = {}
    for use in held:
        moving: list[tuple[tuple[Monomial, int], ...]] = []
        for index in use.touch.indices:
            if index is None:
                raise IllegalStepError(f"where {use.touch.container} is used is not known")
            moving.append(tuple(sorted((m, factor) for m, factor in index.items() if m)))
        found.setdefault(tuple(moving), []).append(use)
    return found


def _check_apart(region: Region, scope: LoopNode, groups: Mapping[Group, Sequence[Use]]) -> None:
    """Refuse where an access that a copy does not stand for may touch what it does.

    Raises:
        IllegalStepError: two may touch the same element, one of them writing.
    """
    for one, other in combinations(groups.values(), 2):
        for first in {use.touch.place: use.touch for use in one}.values():
            for second in {use.touch.place: use.touch for use in other}.values():
                writes = any(use.touch.write for use in (*one, *other))
                if writes and not keep_apart(
                    scope, region.around, first.container, first.place, second.place
                ):
                    raise IllegalStepError(f"{first.container} is used in more than one place")


def _check_parallel(editor: Editor, numbers: Sequence[int | None]) -> None:
    """Make loops serial whose iterations may write back what others of them own."""
    for number in numbers:
        if number is None or (loop := editor.at(number)).kind == "for":
            continue
        region = Region.of(editor, number, rooms=True)
        try:
            body = region.read(number, whole=loop, rooms=True)
            independent = carries_nothing(body, region.around)
        except IllegalStepError:
            independent = False
        if not independent:
            serialise_around(editor, [loop])


@dataclass(frozen=True)
class _Copies:
    """Makes the loops that copy between an array and its buffer."""

    region: Region
    box: Box
    container: str
    buffer: str

    def nest(self, name: str, *, back: bool = False) -> Node:
        """The copies into the buffer, or back out of it."""
        editor = self.region.editor
        counters = [editor.scalar(f"{self.container}_copy", INDEX) for _ in self.box.kept]
        array = self.container, [flat(self.box, counters)]
        buffered = self.buffer, counters or ["0"]
        copy = editor.copy(*((buffered, array) if back else (array, buffered)))
        ranges: list[Range] = [
            (counter, [{}], [{"": side.extent}, *(minus(end, side.start) for end in side.ends)])
            for side, counter in zip(self.box.kept, counters, strict=True)
        ]
        return copy_loops(self.region, name, ranges, copy)
