"""Rectangular tiles of two loops whose bounds depend on each other.

Tiled one after the other, the tiles of a triangle's rows begin and end elsewhere for each row, and
the loops over tiles cannot change places. Here a tile is a rectangle that stands on a line for all
columns; the tiles are visited column by column, and of each column only those that meet the
triangle. (Wolf and Lam, "A loop transformation theory", IEEE TPDS 1991, section on tiling
trapezoids; the bounds are Fourier and Motzkin's.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopbook.errors import IllegalStepError
from loopbook.sdfg import affine
from loopbook.sdfg.affine import Linear
from loopbook.sdfg.looptree import LoopNode
from loopbook.sdfg.rewrites.document import Draft
from loopbook.sdfg.rewrites.interchange import turned
from loopbook.sdfg.rewrites.region import Region


def block(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``block L0 L1 4 32``: tiles of 4 iterations of ``L0`` by 32 of ``L1``.

    The loops are ``L1.tile``, ``L0.tile``, ``L0``, ``L1`` then, outermost first. Legal for two
    maps: no iteration of either needs another one.

    Raises:
        IllegalStepError: the loops are no perfectly nested maps, or a bound has a variable with a
            factor.
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
    if any(loop.element.get("sub_type") != "map" or loop.step != 1 for loop in (outer, inner)):
        raise IllegalStepError("the loops are no maps that advance by one")
    column, row = turned(outer, inner)
    tiles = _tiles(draft, inner, columns), _tiles(draft, outer, rows)
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


def _tiles(draft: Draft, loop: LoopNode, size: int) -> LoopNode:
    """A parallel loop over the tiles of a loop, without bounds yet."""
    variable = draft.fresh_variable(f"{loop.variable}_tile", loop.variable)
    name = draft.names.get(loop.element["element_id"], loop.variable)
    element = draft.loop(f"{name}.tile", variable, ("0", "0"), [], by=size)
    element["type"] = element["sub_type"] = "map"
    return LoopNode(element, variable, [], [], size, [])


def _extreme(
    bounds: Iterable[Linear], variable: str, rising: Linear, falling: Linear
) -> Iterable[Linear]:
    """The bounds with `variable` at the end of its range where each leaves most room."""
    for bound in bounds:
        yield affine.replaced(bound, {variable: rising if bound.get(variable, 0) > 0 else falling})
