"""Threads for what was found for one thread."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.recipes.step import Step
from loopbook.tuner.moves.base import Steps, step

ROWS = 32
"""Rows of a wavefront that a thread does before it waits for the others."""

MOST = 4
"""Variants of one recipe at most."""


def waves(time: Step, threads: int) -> Steps:
    """The tiles of a `time_tile` or `wavefront` in parallel, one row of tiles for each thread.

    More of them at a time would only take each thread's part of the grid out of its cache.
    """
    loop, *sizes = time.args
    count = max(2, threads)
    if time.op == "time_tile":
        made = step("time_waves", str(loop), count, *map(int, sizes))
    else:
        made = step("wavefront", str(loop), int(sizes[0]), count, ROWS)
    return [made, step("parallel", f"{loop}.tile")]


def threaded(steps: Sequence[Step], threads: int) -> list[Steps]:
    """The steps with threads, in several ways; not all of them need be legal."""
    for place, found in enumerate(steps):
        if found.op in ("time_tile", "wavefront") and found.args[0] == "L0":
            made, parallel = waves(found, threads)
            return [[*steps[:place], made, *steps[place + 1 :], parallel]]
    tiled = [f"{s.args[0]}.tile" for s in steps if s.op in ("tile", "sink")]
    blocked = [f"{name}.tile" for s in steps if s.op == "block" for name in s.args[1::-1]]
    outer = list(dict.fromkeys([*tiled, *blocked, "L0"]))
    return [[*steps, step("parallel", name)] for name in outer[:MOST]]
