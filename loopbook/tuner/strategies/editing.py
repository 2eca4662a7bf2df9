"""Small changes to recipes of which only the steps are known, not the decisions behind them."""

from __future__ import annotations

from random import Random

from loopbook.program.nest import Nest
from loopbook.rules import ROWS, TILES, random_step
from loopbook.rules.bands import bands
from loopbook.steps import MAX_SIZE, Step, base_name
from loopbook.tuner.strategies.base import Problem

MAX_STEPS = 60

TRIES = 8
"""Random steps drawn to find one that fits."""

SIZES = sorted({*ROWS, *TILES, 12, 24, 48, 96, 192, 384, 1024, 2048})
"""Usual tile sizes: a changed one is one of the next two up or down."""

Steps = tuple[Step, ...]


def edited(problem: Problem, steps: Steps, random: Random) -> Steps:
    """The recipe with one or two changes: a tile's size, a step left out, one more, one moved."""
    changed = list(steps)
    for _ in range(random.choice((1, 1, 2))):
        sized = [place for place, step in enumerate(changed) if step.op == "tile"]
        draw = random.random()
        if sized and draw < 0.55:
            place = random.choice(sized)
            changed[place] = resized(changed[place], random)
        elif changed and draw < 0.75:
            del changed[random.randrange(len(changed))]
        elif len(changed) > 1 and draw < 0.8:
            changed.insert(
                random.randrange(len(changed)), changed.pop(random.randrange(len(changed)))
            )
        elif len(changed) < MAX_STEPS:
            changed = _with_one_more(problem, changed, random)
    return tuple(changed)


def _with_one_more(problem: Problem, steps: list[Step], random: Random) -> list[Step]:
    """`steps` with a random one somewhere; as they are if none is found that seems to fit."""
    fits = len(problem.transformed(steps)[1])
    for _ in range(TRIES):
        fresh = random_step(problem.nest, random, problem.context)
        place = random.randint(0, len(steps))
        longer = [*steps[:place], fresh, *steps[place:]]
        if fresh not in steps and len(problem.transformed(longer)[1]) <= fits:
            return longer
    return steps


def resized(tile: Step, random: Random) -> Step:
    """The tile with a size near its own."""
    size = int(tile.args[1])
    near = [s for s in SIZES if s < size][-2:] + [s for s in SIZES if s > size][:2]
    return Step(tile.op, (tile.args[0], min(random.choice(near), MAX_SIZE), *tile.args[2:]))


def grafted(nest: Nest, first: Steps, second: Steps, random: Random) -> Steps:
    """For each band of loops the steps of one of the parents; steps that touch several bands
    come from `first`."""
    home = {loop.name: number for number, band in enumerate(bands(nest)) for loop in band.loops}
    taken = {number for number in set(home.values()) if random.random() < 0.5}
    from_second = [step for step in second if _only_in(step, home, taken)]
    kept = [step for step in first if not _only_in(step, home, taken)]
    own = [step for step in kept if step.op != "parallel"]
    return (*own, *from_second, *(step for step in kept if step.op == "parallel"))[:MAX_STEPS]


def _only_in(step: Step, home: dict[str, int], chosen: set[int]) -> bool:
    """Whether all loops that a step names are in chosen bands."""
    loops = [base_name(name) for name in step.loops]
    return bool(loops) and all(home.get(loop) in chosen for loop in loops)
