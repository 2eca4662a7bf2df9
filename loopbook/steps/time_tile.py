from __future__ import annotations

from loopbook.steps.arguments import MAX_SIZE, CacheSize, Integer, Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.time_tiling import tile_time


class TimeTile(Step):
    """Several time steps of a stencil on one part of the grid while that is in cache.

    Before ``time_tile L0 16 32``::

        for t: S1; S2; …

    with loops over space in each S, and after it::

        for tt by 16:                           # L0.tile
            for X by 32:                        # L0.space, L0.space2: tiles of skewed space
                for t in tt … tt + 16:          # L0
                    S1 for x with X <= x + factor*(t - tt) + shift1 < X + 32
                    S2 for x with X <= x + factor*(t - tt) + shift2 < X + 32

    Each statement keeps its own loops and its order (a loop for one point of a dimension that a
    statement lacks is called ``.point``); the least factor and shifts that keep all dependences are
    taken.
    """

    name = "time_tile"
    textbook = "time skewing, time tiling"
    source = "Wonnacott, IJPP 2002; Bondhugula et al., PLDI 2008"
    example = "time_tile L0 16 16"
    makes = ("{time_loop}.tile", "{time_loop}.space", "*.point")
    traits = {"time": 3.0, "time tiles": 1.0}

    time_loop = Loop()
    steps = Integer(2, MAX_SIZE)
    width = CacheSize(1, MAX_SIZE)
    second_width = CacheSize(1, MAX_SIZE, optional=True)

    def apply(self, editor: Editor) -> None:
        """Legal if some skew of space lets no dependence point to an earlier tile."""
        tile_time(editor, self.time_loop, self.steps, self.sizes[1:])
