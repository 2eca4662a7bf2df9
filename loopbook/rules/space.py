"""Recipes for whole nests, put together from rules on their bands of loops."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from loopbook.program.nest import Nest
from loopbook.rules.bands import Band, bands
from loopbook.rules.base import ROWS, TILES, BandRule, Steps, TuningContext, step
from loopbook.rules.factor import factor_tiles, fitted_factors
from loopbook.rules.fission import fitted_factorisations, right_looking
from loopbook.rules.jamming import jam
from loopbook.rules.library import library_call
from loopbook.rules.orders import leave, permute, stride_one
from loopbook.rules.packing import pack
from loopbook.rules.pivots import fitted_pivot_cuts, pivot_cuts
from loopbook.rules.reductions import accumulate
from loopbook.rules.registers import packed_tiles, register_tiles
from loopbook.rules.separation import fitted_separations, separate
from loopbook.rules.skewing import skew
from loopbook.rules.staircase import staircase
from loopbook.rules.strips import fitted_strips, strips
from loopbook.rules.threads import one_thread, shares
from loopbook.rules.tiling import cache_tiles, strip_mine, unroll_and_jam
from loopbook.rules.timetiling import fitted_time_tiles, time_tiles
from loopbook.rules.triangular import triangle, triangular_tiles
from loopbook.rules.wavefront import fitted_wavefronts, wavefront
from loopbook.steps import Step

BAND_RULES: dict[BandRule, float] = {
    leave: 1.0,
    stride_one: 2.0,
    permute: 2.0,
    cache_tiles: 3.0,
    register_tiles: 3.0,
    packed_tiles: 2.5,
    triangular_tiles: 1.5,
    unroll_and_jam: 1.5,
    pack: 0.7,
    skew: 0.7,
    strip_mine: 0.8,
    accumulate: 1.5,
    jam: 1.0,
}
"""The rules on one band and how often each is sampled."""

NestRule = Callable[[Nest, Random, TuningContext], Steps]

NEST_RULES: dict[NestRule, float] = {
    time_tiles: 1.0,
    wavefront: 1.0,
    strips: 1.5,
    right_looking: 1.0,
    separate: 1.0,
    factor_tiles: 1.0,
    pivot_cuts: 0.5,
}
"""The rules on a whole nest and how often each is sampled; those that do not fit give no steps."""

LIBRARY_RULES: dict[NestRule, float] = NEST_RULES | {library_call: 0.3}
"""These rules where libraries may be called."""

SHARED = 2
"""Ways to share a recipe among threads that a search begins with."""

NEST_RULE_SHARE = 0.35
"""How often a recipe is one rule on the whole nest."""


def propose(nest: Nest, random: Random, context: TuningContext) -> tuple[Step, ...]:
    """A whole recipe for a nest: one random rule for each of its bands, then threads."""
    if random.random() < NEST_RULE_SHARE:
        rules = LIBRARY_RULES if context.libraries else NEST_RULES
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
    whole = (
        fitted_separations(nest, context)
        + fitted_time_tiles(nest, context)
        + fitted_strips(nest, context)
        + fitted_wavefronts(nest, context)
        + fitted_factors(nest, context)
        + fitted_pivot_cuts(nest, context)
        + fitted_factorisations(nest)
    )
    for steps in reversed(whole):
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
    order = list(band.names)
    for op, args in made:
        if op == "tile":
            order.insert(order.index(str(args[0])), f"{args[0]}.tile")
        elif op == "block":
            outer, inner = map(str, args[:2])
            order.remove(inner)
            place = order.index(outer)
            order[place : place + 1] = [f"{inner}.tile", f"{outer}.tile", outer, inner]
        elif op == "interchange" and args[0] in order and args[1] in order:
            a, b = order.index(str(args[0])), order.index(str(args[1]))
            order[a], order[b] = order[b], order[a]
    maps = {loop.name for loop in band.loops if loop.kind == "map"}
    allowed = [name for name in order if name.split(".")[0] in maps]
    return allowed[:1]
