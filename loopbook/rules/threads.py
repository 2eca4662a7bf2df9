"""Threads for what was found for one thread."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from loopbook.program.nest import Nest
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.steps import Step, base_name

ROWS = 32
"""Rows of a wavefront that a thread does before it waits for the others."""

MOST = 6
"""Loops of one recipe to try at most."""

MAKERS = ("tile", "block")
"""Steps that make loops over tiles."""

SINGLE = step("single")


def one_thread(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """One thread where docc takes several: where each of them has little to do, waiting for all is
    most of the time. Nothing for other targets."""
    return [SINGLE] if context.parallel else []


def waves(time: Step, threads: int) -> Steps:
    """The tiles of a `time_tile` or `wavefront` in parallel, one row of tiles for each thread.

    More of them at a time would only take each thread's part of the grid out of its cache.
    """
    loop, *sizes = time.args
    count = max(2, threads)
    if time.op == "time_tile":
        made = step("pipelined_time_tile", str(loop), count, *map(int, sizes))
    else:
        made = step("wavefront", str(loop), int(sizes[0]), count, ROWS)
    return [made, step("parallel", f"{loop}.tile")]


def in_waves(steps: Sequence[Step], threads: int) -> Steps:
    """The steps with threads for their tiles in time; nothing where there are none."""
    for place, found in enumerate(steps):
        if found.op in ("time_tile", "wavefront") and found.args[0] == "L0":
            made, parallel = waves(found, threads)
            return [*steps[:place], made, *steps[place + 1 :], parallel]
    return []


def threaded(steps: Sequence[Step], threads: int) -> list[Steps]:
    """The steps with threads, in several ways, and without; not all of them need be legal.

    None gets threads that it does not ask for: what the recipe leaves alone had one thread when it
    was found to be fast.
    """
    if made := in_waves(steps, threads):
        return [made, [*steps, SINGLE]]
    tiled = [f"{s.args[0]}.tile" for s in steps if s.op in ("tile", "strip_and_sink")]
    blocked = [f"{name}.tile" for s in steps if s.op == "block" for name in s.args[1::-1]]
    outer = list(dict.fromkeys([*tiled, *blocked, "L0"]))
    shared = [
        [*variant, step("parallel", name), SINGLE]
        for name in outer[:MOST]
        for variant in (*buffered(steps), *proven(steps, name), steps)
    ]
    return [*together(steps), *shared[:1], [*steps, SINGLE], *shared[1:]]


def shares(steps: Sequence[Step], context: TuningContext) -> list[tuple[Step, ...]]:
    """Ways to share a recipe among threads, most promising first; none for other targets, without
    steps, or where the recipe says itself who does what."""
    said = any(made.op in ("parallel", "single") for made in steps)
    if not context.parallel or said or not steps:
        return []
    return [tuple(variant) for variant in threaded(steps, context.threads)]


def together(steps: Sequence[Step]) -> list[Steps]:
    """Where a loop was cut into parts with tiles of their own: threads on all of their tiles."""
    tiled: dict[str, list[str]] = {}
    for s in steps:
        if s.op == "tile":
            tiled.setdefault(base_name(str(s.args[0])), []).append(f"{s.args[0]}.tile")
    found: list[Steps] = []
    for names in tiled.values():
        if len(names) < 2:
            continue
        made = list(steps)
        for name in names:
            made = next(iter(proven(made, name)), made)
        found.append([*made, *(step("parallel", name) for name in names), SINGLE])
    return found


def proven(steps: Sequence[Step], name: str) -> list[Steps]:
    """The steps with the proof that a loop over tiles is parallel, as soon as it is in its place:
    docc sees that of few loops. Empty where nothing else is proven: there docc's own word will do.
    """
    base = name.removesuffix(".tile")
    made = (n for n, s in enumerate(steps) if s.op in MAKERS and base in s.args[:2])
    first = next(made, len(steps))
    filled = (
        n for n, s in enumerate(steps) if n > first and s.op in ("block", "buffer", "mark_parallel")
    )
    place = next(filled, 0)
    return [[*steps[:place], step("mark_parallel", name), *steps[place:]]] if place else []


def buffered(steps: Sequence[Step]) -> list[Steps]:
    """The packed tiles of a matrix product, staged in a way that clang keeps in registers also in
    the body of an OpenMP loop: see `loopbook.rules.registers`. Empty for other recipes."""
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
