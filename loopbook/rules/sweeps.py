"""Neighbouring loops as one sweep: what one of them makes, the next one finds in a cache.

They stand side by side in a region (`loopbook.program.regions`) or in a loop through time. Which of
them become one is sampled, and how: over the same range (``fuse``); each as late as it has to be,
with the rows kept that are read late (``roll``); tile by tile, with what a tile needs of the other
computed twice (``fuse_tiles``), which threads can share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random

from loopbook.program.nest import Loop, Nest
from loopbook.rules.bands import bands
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.orders import leave, permute, stride_one
from loopbook.rules.sampled import on_nests, seeds
from loopbook.steps.roll import MOST_LOOPS

TILES = (8, 16, 32, 64)
"""Rows of a tile; twice computed are a few of them."""

Joining = Callable[[Sequence[Loop]], Steps]


@on_nests(1.5)
def sweeps(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Some neighbours as one, in one of the ways, the loops inside in any order; none where no
    loops are neighbours."""
    found = [*runs(nest)]
    steps = [one for run in found for part in _parts(run, random) for one in _some(part, random)]
    if not steps:
        return []
    inner: Steps = []
    if random.random() < 0.5:
        for band in bands(nest):
            rule = random.choice((leave, stride_one, stride_one, permute))
            inner += rule(band, random, context)
    if context.parallel:
        steps += [step("parallel", name) for name in _made(steps)]
    return inner + steps


@seeds(2)
def all_as_one(nest: Nest, context: TuningContext) -> list[Steps]:
    """All neighbours of each run as one, in each of the ways."""
    found = [*runs(nest)]
    ways: list[Joining] = [_fused, _tiled] if context.parallel else [_rolled, _fused]
    made = [[one for run in found for one in join(run)] for join in ways]
    if context.parallel:
        made = [[*steps, *(step("parallel", name) for name in _made(steps))] for steps in made]
    return [steps for steps in made if steps]


def runs(nest: Nest) -> Iterator[list[Loop]]:
    """Loops of which each is followed by the next, at least two; what computes scalars may stand in
    between."""
    parents = dict.fromkeys(loop.parent for loop in nest.loops if loop.parent >= 0)
    for parent in parents:
        run = [loop for loop in nest.children(parent) if loop.kind != "while"]
        if len(run) > 1:
            yield run[:MOST_LOOPS]


def _parts(run: Sequence[Loop], random: Random) -> Iterator[Sequence[Loop]]:
    """A run cut in some places; parts of one loop are left out."""
    share = random.choice((0.0, 0.2, 0.5))
    cuts = [0, *(place for place in range(1, len(run)) if random.random() < share), len(run)]
    for first, end in pairwise(cuts):
        if end - first > 1:
            yield run[first:end]


def _some(run: Sequence[Loop], random: Random) -> Steps:
    joined = random.choice((_fused, _rolled, _rolled, None))
    return _tiled(run, random.choice(TILES)) if joined is None else joined(run)


def _fused(run: Sequence[Loop]) -> Steps:
    first, *others = run
    return [step("fuse", first.name, other.name) for other in others]


def _rolled(run: Sequence[Loop]) -> Steps:
    return [step("roll", run[0].name, len(run) - 1)]


def _tiled(run: Sequence[Loop], rows: int = 32) -> Steps:
    """Two and two."""
    steps: Steps = []
    for one, two in zip(run[::2], run[1::2], strict=False):
        steps += [step("tile", loop.name, rows) for loop in (one, two)]
        steps.append(step("fuse_tiles", f"{one.name}.tile", f"{two.name}.tile"))
    return steps


def _made(steps: Steps) -> list[str]:
    """The loops that others have become."""
    return list(
        dict.fromkeys(
            f"{one.args[0]}.fused" if one.op == "fuse_tiles" else str(one.args[0])
            for one in steps
            if one.op in ("fuse", "fuse_tiles")
        )
    )
