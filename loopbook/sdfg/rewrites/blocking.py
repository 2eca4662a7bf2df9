"""How `block` is done: the bounds of tiles that stand on a line for all columns are Fourier and
Motzkin's; the order must keep the dependences, unless both loops are maps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopbook.dependence import Tile, check_order
from loopbook.errors import IllegalStepError
from loopbook.sdfg import affine
from loopbook.sdfg.affine import Linear
from loopbook.sdfg.looptree import LoopNode, statements
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.sdfg.rewrites.interchange import turned
from loopbook.sdfg.rewrites.region import Region, serialise
from loopbook.steps.block import Block


@rewriting(Block)
def block(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``block L0 L1 4 32``: tiles of 4 iterations of ``L0`` by 32 of ``L1``.

    The loops are ``L1.tile``, ``L0.tile``, ``L0``, ``L1`` then, outermost first. Legal for two
    maps, of which no iteration needs another one; otherwise the dependences must allow the order.

    Raises:
        IllegalStepError: the loops are not perfectly nested, a dependence forbids it, or a bound
            has a variable with a factor.
    """
    (outer_id, inner_id), (rows, columns) = loops, numbers
    if min(rows, columns) < 1:
        raise IllegalStepError("a tile has at least one iteration")
    region = Region.of(draft, outer_id)
    outer = region.tree(outer_id)
    inner = outer.children[0]
    if (
        len(outer.children) != 1
        or not isinstance(inner, LoopNode)
        or inner.element["element_id"] != inner_id
    ):
        raise IllegalStepError("the second loop is not all that the first one holds")
    if any(loop.step != 1 for loop in (outer, inner)):
        raise IllegalStepError("the loops do not advance by one")
    maps = [loop.element.get("sub_type") == "map" for loop in (inner, outer)]
    column, row = turned(outer, inner)
    tiles = _tiles(draft, inner, columns, maps[0]), _tiles(draft, outer, rows, maps[1])
    if not all(maps):
        _check(region, outer, inner, tiles)
        # A map's iterations do not need each other; those of the inner one only within one
        # iteration of the outer one, unless that is a map itself.
        if not maps[1]:
            serialise(tiles[0], tiles[1], outer)
    start = {tiles[0].variable: 1}
    end = affine.shifted(start, columns - 1)
    tiles[0].lows, tiles[0].highs = column.lows, column.highs
    tiles[1].lows = list(_extreme(row.lows, inner.variable, start, end))
    tiles[1].highs = list(_extreme(row.highs, inner.variable, end, start))
    for loop, tile, size in ((inner, tiles[0], columns), (outer, tiles[1], rows)):
        loop.lows = [*loop.lows, {tile.variable: 1}]
        loop.highs = [*loop.highs, {tile.variable: 1, "": size}]
    tiles[0].children, tiles[1].children = [tiles[1]], [outer]
    region.tighten(tiles[0])
    region.put(region.place(outer_id), 1, [tiles[0]])


def _check(
    region: Region, outer: LoopNode, inner: LoopNode, tiles: tuple[LoopNode, LoopNode]
) -> None:
    """Refuse unless the dependences allow to run the loops tile by tile.

    Wherever the tiles begin: that is the same for all iterations whose tiles are compared, those of
    rows in one column of tiles.
    """
    lies_in = {
        tile.variable: Tile({loop.variable: 1, f"{tile.variable} begin": -1}, tile.step)
        for tile, loop in zip(tiles, (inner, outer), strict=True)
    }
    moved = {statement: lies_in for statement, _ in statements(outer)}
    after = _holding(tiles[0], _holding(tiles[1], outer))
    check_order([outer], [after], moved, region.around)


def _holding(loop: LoopNode, child: LoopNode) -> LoopNode:
    return LoopNode(loop.element, loop.variable, loop.lows, loop.highs, loop.step, [child])


def _tiles(draft: Draft, loop: LoopNode, size: int, parallel: bool) -> LoopNode:
    """A loop over the tiles of a loop, without bounds yet."""
    variable = draft.fresh_variable(f"{loop.variable}_tile", loop.variable)
    name = draft.names.get(loop.element["element_id"], loop.variable)
    element = draft.loop(f"{name}.tile", variable, ("0", "0"), [], by=size)
    if parallel:
        element["type"] = element["sub_type"] = "map"
    return LoopNode(element, variable, [], [], size, [])


def _extreme(
    bounds: Iterable[Linear], variable: str, rising: Linear, falling: Linear
) -> Iterable[Linear]:
    """The bounds with `variable` at the end of its range where each leaves most room."""
    for bound in bounds:
        yield affine.replaced(bound, {variable: rising if bound.get(variable, 0) > 0 else falling})
