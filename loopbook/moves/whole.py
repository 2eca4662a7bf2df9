"""Recipes for whole nests, put together from moves on their chains of loops."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from loopbook.moves.base import ROWS, TILES, Move, Steps, Surroundings, step
from loopbook.moves.chains import Chain, chains
from loopbook.moves.factor import factor_tiles, fitted_factors
from loopbook.moves.fission import fitted_factorisations, right_looking
from loopbook.moves.jamming import jam
from loopbook.moves.library import library_call
from loopbook.moves.orders import leave, permute, stride_one
from loopbook.moves.packing import pack
from loopbook.moves.pivots import fitted_pivot_cuts, pivot_cuts
from loopbook.moves.reductions import accumulate
from loopbook.moves.registers import packed_tiles, register_tiles
from loopbook.moves.separation import fitted_separations, separate
from loopbook.moves.skewing import skew
from loopbook.moves.staircase import staircase
from loopbook.moves.strips import fitted_strips, strips
from loopbook.moves.threads import one_thread, shares
from loopbook.moves.tiling import cache_tiles, strip_mine, unroll_and_jam
from loopbook.moves.timetiling import fitted_time_tiles, time_tiles
from loopbook.moves.triangular import triangle, triangular_tiles
from loopbook.moves.wavefront import fitted_wavefronts, wavefront
from loopbook.program.nest import Nest
from loopbook.steps import Step

MOVES: dict[Move, float] = {
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
"""The moves on one chain and how often each is drawn."""

NestMove = Callable[[Nest, Random, Surroundings], Steps]

NEST_MOVES: dict[NestMove, float] = {
    time_tiles: 1.0,
    wavefront: 1.0,
    strips: 1.5,
    right_looking: 1.0,
    separate: 1.0,
    factor_tiles: 1.0,
    pivot_cuts: 0.5,
}
"""The moves on a whole nest and how often each is drawn; those that do not fit give no steps."""

LIBRARY_MOVES: dict[NestMove, float] = NEST_MOVES | {library_call: 0.3}
"""These moves where libraries may be called."""

SHARED = 2
"""Ways to share a recipe among threads that a search begins with."""

NEST_MOVE_SHARE = 0.35
"""How often a recipe is one move on the whole nest."""


def propose(nest: Nest, random: Random, around: Surroundings) -> tuple[Step, ...]:
    """A whole recipe for a nest: one random move for each of its chains, then threads."""
    if random.random() < NEST_MOVE_SHARE:
        moves = LIBRARY_MOVES if around.libraries else NEST_MOVES
        move = random.choices(list(moves), weights=list(moves.values()))[0]
        if moved := move(nest, random, around):
            return tuple(moved)
    steps: Steps = []
    if random.random() < 0.15:
        steps.append(step("distribute", random.choice(nest.loops).name))
    weights = list(MOVES.values())
    return tuple(steps) + combine(
        nest, lambda: random.choices(list(MOVES), weights=weights)[0], random, around
    )


def openings(nest: Nest, around: Surroundings) -> list[tuple[Step, ...]]:
    """Recipes to begin with, the same every time: what usually pays, most promising first."""
    random = Random(0)
    recipes: list[tuple[Step, ...]] = []
    for move in (
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
        recipe = combine(nest, lambda move=move: move, random, around)
        if recipe not in recipes:
            recipes.append(recipe)
    whole = (
        fitted_separations(nest, around)
        + fitted_time_tiles(nest, around)
        + fitted_strips(nest, around)
        + fitted_wavefronts(nest, around)
        + fitted_factors(nest, around)
        + fitted_pivot_cuts(nest, around)
        + fitted_factorisations(nest)
    )
    for steps in reversed(whole):
        recipes[1:1] = shares(steps, around)[:SHARED] or [tuple(steps)]
    if any(triangle(chain) or staircase(chain) for chain in chains(nest)):
        for _ in range(2):
            recipes.insert(1, combine(nest, lambda: triangular_tiles, random, around))
    if called := library_call(nest, random, around):
        recipes.insert(1, tuple(called))
    if alone := one_thread(nest, random, around):
        recipes.insert(1, tuple(alone))
    return recipes


def combine(
    nest: Nest, choose: Callable[[], Move], random: Random, around: Surroundings
) -> tuple[Step, ...]:
    """One chosen move for each chain; with OpenMP, threads on the outermost parallel loops."""
    steps: Steps = []
    parallel: list[str] = []
    for chain in chains(nest):
        moved = choose()(chain, random, around)
        steps += moved
        if not _around(chain).intersection(parallel):
            parallel += _parallel_candidates(chain, moved)
    if around.parallel:
        steps += [step("parallel", name) for name in parallel]
    return tuple(steps)


def random_step(nest: Nest, random: Random, around: Surroundings) -> Step:
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
    if around.parallel:
        choices += [step("parallel", loop), step("parallel", f"{loop}.tile")]
        choices += [step("collapse", loop, 2)]
    return random.choice(choices)


def _around(chain: Chain) -> set[str]:
    """Names of the loops around the chain."""
    return {loop.name for loop in chain.nest.ancestry(chain.loops[0].index)} - set(chain.names)


def _parallel_candidates(chain: Chain, moved: Steps) -> list[str]:
    """Which loops to try to run in parallel: the outermost ones first, after `moved`."""
    order = list(chain.names)
    for op, args in moved:
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
    maps = {loop.name for loop in chain.loops if loop.kind == "map"}
    allowed = [name for name in order if name.split(".")[0] in maps]
    return allowed[:1]
