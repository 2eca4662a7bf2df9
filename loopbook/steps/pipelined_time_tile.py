from __future__ import annotations

from loopbook.steps.arguments import MAX_SIZE, CacheSize, Integer, Loop, Threads
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.time_tiling import tile_time


class PipelinedTimeTile(Step):
    """As `time_tile`, in waves of tiles that threads can do at the same time.

    Before ``pipelined_time_tile L0 2 16 32``::

        for t: S1; S2; …

    and after it::

        for wave:                               # L0.wave
            for w in 0 … 2:                     # L0.tile, parallel
                for tt, X on this wave:         # L0.time, L0.space, L0.space2
                    for t in tt … tt + 16: S1 …; S2 …
    """

    name = "pipelined_time_tile"
    recorded_as = "time_waves"
    textbook = "pipelined time tiling"
    source = "Wolfe, IJPP 1986; Bondhugula et al., PLDI 2008"
    example = "pipelined_time_tile L0 2 16 16"
    makes = (
        "{time_loop}.wave",
        "{time_loop}.tile",
        "{time_loop}.time",
        "{time_loop}.space",
        "*.point",
    )
    frees = True
    traits = {"time": 3.0, "time tiles": 1.0}

    time_loop = Loop()
    at_a_time = Threads(2, MAX_SIZE, label="count")
    steps = Integer(2, MAX_SIZE)
    width = CacheSize(1, MAX_SIZE)
    second_width = CacheSize(1, MAX_SIZE, optional=True)

    def apply(self, editor: Editor) -> None:
        """Legal if `time_tile` is: see `loopbook.steps.waves` for which tiles wait for which."""
        tile_time(editor, self.time_loop, self.steps, self.sizes[2:], self.at_a_time)
