"""Time tiles in parallel: waves of tiles that do not need each other.

``for tt in steps of size: for X in steps of width: S`` over tiles of time and skewed space is ::

    for group in steps of count*size:       # as many time tiles as run at a time
        for w:                              # waves
            for tt in group … group + count*size:               # in parallel
                for X in one block, the (w - lag*(tt - group)/size)th

Inside a time tile, X counts from where that tile begins: the next time tile's origin lies
``factor*size`` points further along the skewed space. No dependence points backwards in that space,
so a block needs blocks of its own time tile up to itself, and blocks of the time tile before that
begin less than ``factor*size`` points beyond its own end. A time tile that is `lag` blocks behind
the one before has nothing to wait for, and nobody waits for it, within a wave. Each thread goes on
through the space of one time tile, as one alone would do. (Wolfe, "More iteration space tiling",
SC 1989; Bondhugula et al., "A practical automatic polyhedral parallelizer and locality optimizer",
PLDI 2008.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopbook.sdfg.rewrites.document import Draft, Json, largest, smallest


@dataclass(frozen=True)
class Tiles:
    """Tiles of time and of skewed space, in whose space no dependence points backwards.

    Attributes:
        name: what recipes call the time loop.
        time, space: the loops' variables.
        begin, end: of the time loop.
        low, high: from where to where the space of every time tile goes. They must be the same for
            each time tile.
        steps: in a time tile.
        by: the space loop's step.
        factor: how far the space is skewed for each time step.
    """

    name: str
    time: str
    space: str
    begin: str
    end: str
    low: str
    high: str
    steps: int
    by: int
    factor: int


def in_waves(
    draft: Draft, tiles: Tiles, count: int, width: int, like: str, body: Sequence[Json]
) -> Json:
    """The loops that run tiles in waves, the outermost one.

    Args:
        count: how many time tiles run at a time, at most.
        width: points of space in the block that one of them does in a wave, a multiple of
            `tiles.by`.
        like: a variable of the type that new ones are to have.
        body: what is done for each tile.
    """
    lag = -(-tiles.factor * tiles.steps // width) + 1
    group = draft.fresh_variable(f"{like}_group", like)
    wave = draft.fresh_variable(f"{like}_wave", like)
    low, high = f"({tiles.low})", f"({tiles.high})"
    blocks = f"idiv({high} - {low} + {width - 1}, {width})"
    last = smallest([tiles.end, f"{count * tiles.steps} + {group}"])
    behind = f"idiv({last} - {group} - 1, {tiles.steps})"

    at = f"{low} + {width}*({wave} - {lag}*idiv({tiles.time} - {group}, {tiles.steps}))"
    space = draft.loop(
        f"{tiles.name}.space",
        tiles.space,
        (largest([low, at]), smallest([high, f"{width} + {at}"])),
        body,
        by=tiles.by,
    )
    # Time tiles that have come to their end, or not begun, have no block in this wave.
    done = f"idiv(max({wave} - {blocks} + {lag}, 0), {lag})"
    begun = f"idiv({wave}, {lag}) + 1"
    bounds = (
        f"{group} + {tiles.steps}*{done}",
        smallest([last, f"{group} + {tiles.steps}*({begun})"]),
    )
    tile = draft.loop(f"{tiles.name}.tile", tiles.time, bounds, [space], by=tiles.steps)
    tile["type"] = tile["sub_type"] = "map"
    waves = draft.loop(f"{tiles.name}.wave", wave, ("0", f"{blocks} + {lag}*{behind}"), [tile])
    return draft.loop(
        f"{tiles.name}.group", group, (tiles.begin, tiles.end), [waves], by=count * tiles.steps
    )
