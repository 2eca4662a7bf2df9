from __future__ import annotations

from dataclasses import replace

from loopbook.dependence import Distances, Meeting, domain, holds
from loopbook.dependence.body import LoopNode, statements
from loopbook.dependence.model import minus, shifted
from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region, neighbours


class FuseTiles(Step):
    """One loop over the tiles of two neighbours; what a tile needs of the other is done twice.

    Before ``fuse_tiles L0.tile L1.tile``::

        for ii by 8: for i in ii … ii + 8: S(i)
        for jj by 8: for j in jj … jj + 8: T(j)

    and after it, ``L0.tile.fused``::

        for ii by 8:
            for i in ii - r … ii + 8 + r: S(i)
            for j in ii … ii + 8: T(j)
    """

    name = "fuse_tiles"
    textbook = "overlapped tiling"
    source = "Krishnamoorthy et al., PLDI 2007"
    example = "fuse_tiles L1.tile L2.tile"
    makes = ("{first_tile_loop}.fused",)
    traits = {"tiles": 0.5, "fuse": 1.0}

    first_tile_loop = Loop()
    second_tile_loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if the second loop's tiles, with as much around them as it reads of what the first
        one writes, cover the first one's iterations.

        What is done twice must come out the same: the first loop may then not read what it writes,
        nor use what the second one writes.
        """
        region, first, second = neighbours(editor, self.first_tile_loop, self.second_tile_loop)
        tiles = first, second
        inner = _inside(tiles[0]), _inside(tiles[1])
        if any(loop.loop.kind != "map" for loop in (*tiles, *inner)):
            raise IllegalStepError("the loops are not all parallel")
        if tiles[0].step != tiles[1].step:
            raise IllegalStepError("the tiles are of different sizes")
        back, forth = _margins(region, tiles, inner)
        _check_covered(region, tiles, (back, forth))
        begin = {tiles[1].variable: 1}
        own = [end for end in inner[0].highs if tiles[0].variable not in end]
        wide = replace(
            inner[0],
            lows=[*tiles[0].lows, shifted(begin, -back)],
            highs=[*own, shifted(begin, tiles[1].step + forth)],
        )
        made = replace(tiles[1].loop, id=editor.new_number(f"{self.first_tile_loop}.fused"))
        fused = replace(tiles[1], loop=made, children=[wide, inner[1]])
        region.put(first, fused, count=2)


def _inside(tiles: LoopNode) -> LoopNode:
    """The loop through one tile, which must be all that a loop over tiles holds."""
    inner = tiles.children[0] if len(tiles.children) == 1 else None
    if (
        not isinstance(inner, LoopNode)
        or inner.lows != [{tiles.variable: 1}]
        or {tiles.variable: 1, "": tiles.step} not in inner.highs
        or inner.step != 1
    ):
        raise IllegalStepError("a loop holds more than the loop through its tiles")
    return inner


def _margins(
    region: Region, tiles: tuple[LoopNode, LoopNode], inner: tuple[LoopNode, LoopNode]
) -> tuple[int, int]:
    """How many iterations before and behind its own tile the second loop needs of the first one."""
    uses = [
        [(statement, touch) for statement, _ in statements(loop) for touch in statement.touches]
        for loop in tiles
    ]
    distances = Distances(tiles, region.around)
    back = forth = 0
    overwrites = False
    for one, first in uses[0]:
        for other, second in uses[1]:
            if first.container != second.container or not (first.write or second.write):
                continue
            gap = distances.between(
                (one, first, inner[0].variable), (other, second, inner[1].variable)
            )
            if gap is Meeting.ANY:
                raise IllegalStepError("it is not known how far the second loop reaches")
            if isinstance(gap, int) and second.write:
                overwrites = True
                if gap:
                    raise IllegalStepError("the second loop writes what others of the first need")
            elif isinstance(gap, int):
                back, forth = max(back, gap), max(forth, -gap)
    written = {touch.container for _, touch in uses[0] if touch.write}
    again = any(touch.container in written for _, touch in uses[0] if not touch.write)
    if (back or forth) and (overwrites or again):
        raise IllegalStepError("iterations that are done twice would not come out the same")
    return back, forth


def _check_covered(
    region: Region, tiles: tuple[LoopNode, LoopNode], margins: tuple[int, int]
) -> None:
    """Refuse unless the second loop's tiles, with margins, take in all iterations of the first."""
    known = domain(region.around)
    begins = any(
        all(holds(known, minus(mine, shifted(low, -margins[0]))) for low in tiles[1].lows)
        for mine in tiles[0].lows
    )
    ends = any(
        all(holds(known, minus(shifted(high, margins[1]), mine)) for high in tiles[1].highs)
        for mine in tiles[0].highs
    )
    if not (begins and ends):
        raise IllegalStepError("the first loop goes further than the second one needs it")
