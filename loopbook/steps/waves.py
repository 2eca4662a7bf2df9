"""Time tiles in parallel: waves of tiles that do not need each other.

``for tt in steps of size: for X in steps of width: S`` over tiles of time and skewed space is ::

    for w:                      # waves
        for slot in 0 … count:  # in parallel
            for tt in the time tile that the slot is at:
                for X in the block that this time tile is at

Inside a time tile, X counts from where that tile begins: the next time tile's origin lies
``factor*size`` points further along the skewed space. No dependence points backwards in that space,
so a block needs blocks of its own time tile up to itself, and blocks of the time tile before that
begin less than ``factor*size`` points beyond its own end. A time tile that is `lag` blocks behind
the one before has nothing to wait for, and nobody waits for it, within a wave. The time tiles are
dealt out to slots in turn. A slot goes on through the space of one time tile, as one thread alone
would do, so that this stays in the cache, and then takes its next one: by then the slot before it
is `lag` blocks on, if there are at least ``count*lag`` blocks; else it waits for so many waves.
(Wolfe, "More iteration space tiling", SC 1989; Bondhugula et al., "A practical automatic polyhedral
parallelizer and locality optimizer", PLDI 2008.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from loopbook.program.expr import largest, smallest
from loopbook.program.tree import Loop, Node
from loopbook.steps.editor import Editor


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


def in_turn(editor: Editor, tiles: Tiles, body: Iterable[Node]) -> Loop:
    """The loops that run tiles one after the other, the outermost one.

    Args:
        body: what is done for each tile.
    """
    extent = tiles.low, tiles.high
    space = editor.new_loop(f"{tiles.name}.space", tiles.space, *extent, body, by=tiles.by)
    time = tiles.time, tiles.begin, tiles.end
    return editor.new_loop(f"{tiles.name}.tile", *time, [space], by=tiles.steps)


def in_waves(
    editor: Editor, tiles: Tiles, count: int, width: int, like: str, body: Iterable[Node]
) -> Loop:
    """The loops that run tiles in waves, the outermost one.

    Args:
        count: how many time tiles run at a time.
        width: points of space in the block that one of them does in a wave, a multiple of
            `tiles.by`.
        like: a variable of the type that new ones are to have.
        body: what is done for each tile.
    """
    lag = -(-tiles.factor * tiles.steps // width) + 1
    slot = editor.variable(f"{like}_slot", like)
    wave = editor.variable(f"{like}_wave", like)
    low, high = f"({tiles.low})", f"({tiles.high})"
    blocks = f"idiv({high} - {low} + {width - 1}, {width})"
    turn = f"max({blocks}, {count * lag})"
    # Before a slot begins this is negative, but not below -turn: no block has such a number.
    since = f"({wave} - {lag}*{slot})"
    at = f"{low} + {width}*({since} - {turn}*idiv({since}, {turn}))"
    space = editor.new_loop(
        f"{tiles.name}.space",
        tiles.space,
        largest([low, at]),
        smallest([high, f"{width} + {at}"]),
        body,
        by=tiles.by,
    )
    first = f"{tiles.begin} + {tiles.steps}*({slot} + {count}*idiv({since}, {turn}))"
    time = editor.new_loop(
        f"{tiles.name}.time",
        tiles.time,
        first,
        smallest([tiles.end, f"1 + {first}"]),
        [space],
        by=tiles.steps,
    )
    tile = editor.new_loop(f"{tiles.name}.tile", slot, "0", str(count), [time])
    last = f"idiv({tiles.end} - ({tiles.begin}) - 1, {tiles.steps})"
    turns = f"idiv({last}, {count})"
    waves = f"{blocks} + {turn}*{turns} + {lag}*({last} - {count}*{turns})"
    return editor.new_loop(f"{tiles.name}.wave", wave, "0", waves, [replace(tile, kind="map")])
