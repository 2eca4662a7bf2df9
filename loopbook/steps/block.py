from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from loopbook.dependence import Tile, check_order
from loopbook.dependence.body import LoopNode, statements
from loopbook.dependence.model import Linear, replaced, shifted
from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import MAX_SIZE, Loop, TileSize
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.interchange import turned
from loopbook.steps.region import Region, only_child, read_in_place, serialise


class Block(Step):
    """Rectangular tiles of two loops whose bounds depend on each other.

    Tiled one after the other, the tiles of a triangle's rows begin and end elsewhere for each row.
    Here a tile is a rectangle that stands on a line for all columns; tiles are visited column by
    column, and of each column only those that meet the triangle. Before ``block L0 L1 4 24``::

        for i in 0 … n:
            for j in 0 … i: S(i, j)

    and after it, ``L1.tile`` around ``L0.tile`` around both loops::

        for jj in 0 … n by 24:
            for ii in jj … n by 4:
                for i in ii … min(ii + 4, n):
                    for j in jj … min(jj + 24, i): S(i, j)
    """

    name = "block"
    textbook = "tiling of trapezoids"
    source = "Wolf and Lam, A loop transformation theory, IEEE TPDS 1991"
    example = "block L0 L1 8 24"
    makes = ("{inner_loop}.tile", "{outer_loop}.tile")
    frees = True
    traits = {"tiles": 1.5, "block": 0.5}

    outer_loop = Loop()
    inner_loop = Loop()
    rows_size = TileSize(1, MAX_SIZE, of="outer_loop", label="rows")
    columns_size = TileSize(1, MAX_SIZE, of="inner_loop", label="columns")

    def apply(self, editor: Editor) -> None:
        """Legal for two maps, of which no iteration needs another one; otherwise dependences must
        allow the order. Bounds of tiles that stand on a line for all columns are Fourier and
        Motzkin's."""
        rows, columns = self.sizes
        if min(rows, columns) < 1:
            raise IllegalStepError("a tile has at least one iteration")
        whole = editor.loop(self.inner_loop)
        region, outer = read_in_place(editor, self.outer_loop, whole=whole)
        inner = only_child(outer, editor.id_of(self.inner_loop))
        if any(loop.step != 1 for loop in (outer, inner)):
            raise IllegalStepError("the loops do not advance by one")
        maps = [loop.loop.kind == "map" for loop in (inner, outer)]
        column, row = turned(outer, inner)
        tiles = (
            tile_loop(editor, inner, columns, parallel=maps[0]),
            tile_loop(editor, outer, rows, parallel=maps[1]),
        )
        if not all(maps):
            _check(region, outer, inner, tiles)
            # A map's iterations do not need each other; those of the inner one only within one
            # iteration of the outer one, unless that is a map itself.
            if not maps[1]:
                serialise(tiles[0], tiles[1], outer)
        start = {tiles[0].variable: 1}
        end = shifted(start, columns - 1)
        tiles[0].lows, tiles[0].highs = column.lows, column.highs
        tiles[1].lows = list(_extreme(row.lows, inner.variable, start, end))
        tiles[1].highs = list(_extreme(row.highs, inner.variable, end, start))
        for loop, tile, size in ((inner, tiles[0], columns), (outer, tiles[1], rows)):
            loop.lows = [*loop.lows, {tile.variable: 1}]
            loop.highs = [*loop.highs, {tile.variable: 1, "": size}]
        tiles[0].children, tiles[1].children = [tiles[1]], [outer]
        region.tighten(tiles[0])
        region.put(outer, tiles[0])


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
    after = replace(tiles[0], children=[replace(tiles[1], children=[outer])])
    check_order([outer], [after], moved, region.around)


def tile_loop(editor: Editor, loop: LoopNode, size: int, *, parallel: bool) -> LoopNode:
    """A loop over the tiles of a loop, without bounds yet."""
    variable = editor.variable(f"{loop.variable}_tile", loop.variable)
    name = f"{editor.name_of(loop.loop, loop.variable)}.tile"
    made = editor.new_loop(name, variable, "0", "0", by=size)
    if parallel:
        made = replace(made, kind="map")
    return LoopNode(made, variable, [], [], size, [])


def _extreme(
    bounds: Iterable[Linear], variable: str, rising: Linear, falling: Linear
) -> Iterable[Linear]:
    """The bounds with `variable` at the end of its range where each leaves most room."""
    for bound in bounds:
        yield replaced(bound, {variable: rising if bound.get(variable, 0) > 0 else falling})
