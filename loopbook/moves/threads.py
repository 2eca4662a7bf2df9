"""Threads for what was found for one thread."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.moves.base import Steps, step
from loopbook.recipes.step import Step

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
    return [
        [*variant, step("parallel", name)]
        for variant in (*buffered(steps), steps)
        for name in outer[:MOST]
    ]


def buffered(steps: Sequence[Step]) -> list[Steps]:
    """The packed tiles of a matrix product, staged in a way that clang keeps in registers also in
    the body of an OpenMP loop: see `loopbook.moves.registers`. Empty for other recipes."""
    packed = [s for s in steps if s.op == "stage" and s.args[2:] == ("in",)]
    summed = [s for s in steps if s.op == "stage" and s.args[2:] == ("out",)]
    inner = {s.op: str(s.args[0]).rstrip("*") for s in steps if s.op in ("vectorize", "unroll")}
    if len(packed) != 1 or len(summed) != 1 or len(inner) != 2:
        return []
    reduction = str(summed[0].args[0])
    tiles, row, column = str(packed[0].args[0]), inner["unroll"], inner["vectorize"]
    made = {
        packed[0]: step("buffer", tiles, reduction, column),
        summed[0]: step("buffer", reduction, row, column),
    }
    return [[made.get(s, s) for s in steps]]
