"""Recipes for whole nests, put together from rules on their bands of loops."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from loopbook.program.nest import Nest
from loopbook.rules.bands import Band, bands
from loopbook.rules.base import ROWS, TILES, BandRule, Steps, TuningContext, order_after, step
from loopbook.rules.jamming import jam
from loopbook.rules.library import library_call
from loopbook.rules.orders import leave, stride_one
from loopbook.rules.reductions import accumulate
from loopbook.rules.registers import packed_tiles, register_tiles
from loopbook.rules.sampled import BAND_RULES, NEST_RULES, all_seeds
from loopbook.rules.staircase import staircase
from loopbook.rules.threads import one_thread, shares
from loopbook.rules.tiling import cache_tiles, unroll_and_jam
from loopbook.rules.triangular import triangle, triangular_tiles
from loopbook.steps import Step

LIBRARY_SHARE = 0.3
"""How often a call is sampled where libraries may be called, compared with `NEST_RULES`."""

SHARED = 2
"""Ways to share a recipe among threads that a search begins with."""

NEST_RULE_SHARE = 0.35
"""How often a recipe is one rule on the whole nest."""


def propose(nest: Nest, random: Random, context: TuningContext) -> tuple[Step, ...]:
    """A whole recipe for a nest: one random rule for each of its bands, then threads."""
    if random.random() < NEST_RULE_SHARE:
        rules = NEST_RULES | ({library_call: LIBRARY_SHARE} if context.libraries else {})
        rule = random.choices(list(rules), weights=list(rules.values()))[0]
        if made := rule(nest, random, context):
            return tuple(made)
    steps: Steps = []
    if random.random() < 0.15:
        steps.append(step("distribute", random.choice(nest.loops).name))
    weights = list(BAND_RULES.values())
    return tuple(steps) + combine(
        nest, lambda: random.choices(list(BAND_RULES), weights=weights)[0], random, context
    )


def seed_population(nest: Nest, context: TuningContext) -> list[tuple[Step, ...]]:
    """Recipes to begin with, the same every time: what usually pays, most promising first."""
    random = Random(0)
    recipes: list[tuple[Step, ...]] = []
    for rule in (
        leave,
        stride_one,
        accumulate,
        packed_tiles,
        register_tiles,
        jam,
        packed_tiles,
        cache_tiles,
        register_tiles,
        unroll_and_jam,
    ):
        recipe = combine(nest, lambda rule=rule: rule, random, context)
        if recipe not in recipes:
            recipes.append(recipe)
    for steps in reversed(all_seeds(nest, context)):
        recipes[1:1] = shares(steps, context)[:SHARED] or [tuple(steps)]
    if any(triangle(band) or staircase(band) for band in bands(nest)):
        for _ in range(2):
            recipes.insert(1, combine(nest, lambda: triangular_tiles, random, context))
    if called := library_call(nest, random, context):
        recipes.insert(1, tuple(called))
    if alone := one_thread(nest, random, context):
        recipes.insert(1, tuple(alone))
    return recipes


def combine(
    nest: Nest, choose: Callable[[], BandRule], random: Random, context: TuningContext
) -> tuple[Step, ...]:
    """One chosen rule for each band; with OpenMP, threads on the outermost parallel loops."""
    steps: Steps = []
    parallel: list[str] = []
    for band in bands(nest):
        made = choose()(band, random, context)
        steps += made
        if context.parallel and not _around(band).intersection(parallel):
            parallel += _parallel_candidates(band, made)
    return (*steps, *(step("parallel", name) for name in parallel))


def random_step(nest: Nest, random: Random, context: TuningContext) -> Step:
    """Any one step on the nest's own loops."""
    loops = [loop.name for loop in nest.loops]
    arrays = [container.name for container in nest.arrays] or ["A0"]
    loop, other = random.choice(loops), random.choice(loops)
    choices = [
        step("tile", loop, random.choice(ROWS + TILES)),
        step("interchange", loop, other),
        step("peel", loop),
        step("vectorize", f"{loop}*"),
        step("unroll", f"{loop}*"),
        step("distribute", loop),
        step("stage", loop, random.choice(arrays), random.choice(("in", "out", "auto"))),
        step("skew", loop, other, random.choice((1, 2))),
        step("fuse", loop, other),
    ]
    if context.parallel:
        choices += [step("parallel", loop), step("parallel", f"{loop}.tile")]
        choices += [step("collapse", loop, 2)]
    return random.choice(choices)


def _around(band: Band) -> set[str]:
    """Names of the loops around the band."""
    return {loop.name for loop in band.nest.ancestry(band.loops[0].index)} - set(band.names)


def _parallel_candidates(band: Band, made: Steps) -> list[str]:
    """Which loops to try to run in parallel: the outermost ones first, after `made`."""
    order = order_after(band.names, made)
    maps = {loop.name for loop in band.loops if loop.kind == "map"}
    allowed = [name for name in order if name.split(".")[0] in maps]
    return allowed[:1]
