"""Composite moves: what an expert does to a loop nest as one thing.

Each move turns a chain of loops into a list of steps, with parameters drawn at random from ranges
that fit the nest and the machine. Moves need not be legal: docc decides that step by step when they
are applied, and what it refuses is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.step import Step
from loopbook.sdfg.nest import Nest
from loopbook.tuner.chains import Chain, chains

TILES = (8, 16, 32, 64, 128, 256, 512)
ROWS = (2, 3, 4, 6, 8)

Steps = list[Step]


@dataclass(frozen=True)
class Surroundings:
    """What moves draw their parameters from.

    Attributes:
        target: "sequential" or "openmp".
        lanes: doubles in one vector register.
    """

    target: str
    lanes: int

    @classmethod
    def of(cls, hardware: HardwareProfile, target: str) -> Surroundings:
        return cls(target, max(2, hardware.vector_bits // 64))


def step(op: str, *args: str | int) -> Step:
    return Step(op, args)


def reorder(before: Sequence[str], after: Sequence[str]) -> Steps:
    """Interchanges of neighbours that bring loops from order `before` to order `after`."""
    order = list(before)
    rank = {name: place for place, name in enumerate(after)}
    steps: Steps = []
    for end in range(len(order) - 1, 0, -1):
        for place in range(end):
            if rank[order[place]] > rank[order[place + 1]]:
                steps.append(step("interchange", order[place], order[place + 1]))
                order[place], order[place + 1] = order[place + 1], order[place]
    return steps


def tile_all(sizes: dict[str, int]) -> Steps:
    return [step("tile", name, size) for name, size in sizes.items()]


def with_tiles(names: Sequence[str], tiled: Sequence[str]) -> list[str]:
    """The order of loops right after the `tiled` ones of a chain have been tiled."""
    order = []
    for name in names:
        order += [f"{name}.tile", name] if name in tiled else [name]
    return order


# -- moves on one chain ----------------------------------------------------------------------------


def leave(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Nothing: docc's own schedule."""
    return []


def stride_one(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Interchange until the loop with the best strides is innermost."""
    names = list(chain.names)
    best = chain.by_locality()[-1]
    return reorder(names, [n for n in names if n != best] + [best])


def permute(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Any order, more often than not with good strides innermost."""
    return reorder(chain.names, _some_order(chain, random))


def cache_tiles(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Tile some loops and move the loops over tiles outside."""
    names = list(chain.names)
    count = random.randint(1, min(3, len(names)))
    tiled = sorted(random.sample(names, count), key=names.index)
    points = _some_order(chain, random)
    outer = [f"{name}.tile" for name in random.sample(tiled, count)]
    steps = tile_all({name: random.choice(TILES) for name in tiled})
    return steps + reorder(with_tiles(names, tiled), outer + points)


def register_tiles(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Keep a small tile of the result in registers while the reduction runs.

    Rows by columns of the result are tiled, the reduction is moved outside the tile, the tile is
    staged in a local buffer, rows are unrolled and columns vectorised (the micro-kernel of BLIS,
    Van Zee and van de Geijn 2015). Incomplete tiles are peeled off before or after.
    """
    roles = _roles(chain, random)
    if roles is None:
        return stride_one(chain, random, around)
    row, column, reduction = roles
    rows = random.choice(ROWS)
    columns = around.lanes * random.choice((1, 2, 2, 3, 4, 4, 8))
    names = list(chain.names)
    rest = [name for name in names if name not in roles]
    sizes = {row: rows, column: columns}
    tiles = [f"{row}.tile", f"{column}.tile"]
    if random.random() < 0.5:
        tiles.reverse()
    if random.random() < 0.4:
        sizes[reduction] = random.choice(TILES[3:])
        tiles.insert(random.randint(0, 2), f"{reduction}.tile")
    tiled = sorted(sizes, key=names.index)
    steps = tile_all({name: sizes[name] for name in tiled})
    early = random.random() < 0.6
    middle = rest + tiles + [row, column, reduction]
    final = rest + tiles + [reduction, row, column]
    steps += reorder(with_tiles(names, tiled), middle)
    if early:
        steps.append(step("peel", row))
    steps += reorder(middle, final)
    for container in chain.staged_outputs(reduction):
        steps.append(step("stage", reduction, container, "out"))
    if not early:
        steps.append(step("peel", row))
    steps.append(step("vectorize", f"{column}*"))
    steps.append(step("unroll", f"{row}*"))
    return steps


def unroll_and_jam(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Tile an outer loop by a few, move it inside the middle loops, unroll it there."""
    if len(chain.loops) < 2:
        return []
    order = _some_order(chain, random)
    jammed = random.choice(order[:-1])
    size = random.choice((2, 4, 8))
    names = list(chain.names)
    inner = [name for name in order if name != jammed]
    place = random.choice((len(inner) - 1, len(inner)))
    final = [f"{jammed}.tile", *inner[:place], jammed, *inner[place:]]
    return [
        step("tile", jammed, size),
        *reorder(with_tiles(names, [jammed]), final),
        step("peel", jammed),
        step("unroll", f"{jammed}*"),
    ]


def pack(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Cache tiles, with one operand copied to a local buffer."""
    steps = cache_tiles(chain, random, around)
    operands = chain.inputs()
    if operands:
        steps.append(step("stage", random.choice(chain.names), random.choice(operands), "in"))
    return steps


def skew(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Skew an inner loop by an outer one, so that dependences allow an interchange or tiles."""
    if len(chain.loops) < 2:
        return []
    place = random.randrange(len(chain.loops) - 1)
    outer, inner = chain.names[place], chain.names[place + 1]
    steps = [step("skew", outer, inner, random.choice((1, 1, 2)))]
    if random.random() < 0.7:
        steps.append(step("interchange", outer, inner))
    return steps


def strip_mine(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Tile the innermost loop by a few vectors and peel the incomplete tile off."""
    order = _some_order(chain, random)
    name = order[-1]
    return [
        *reorder(chain.names, order),
        step("tile", name, around.lanes * random.choice((2, 4, 8, 16))),
        step("peel", name),
        step("vectorize", f"{name}*"),
    ]


Move = Callable[[Chain, Random, Surroundings], Steps]

MOVES: dict[Move, float] = {
    leave: 1.0,
    stride_one: 2.0,
    permute: 2.0,
    cache_tiles: 3.0,
    register_tiles: 4.0,
    unroll_and_jam: 1.5,
    pack: 0.7,
    skew: 0.7,
    strip_mine: 0.8,
}
"""The moves on one chain and how often each is drawn."""


# -- whole nests -----------------------------------------------------------------------------------


def propose(nest: Nest, random: Random, around: Surroundings) -> tuple[Step, ...]:
    """A whole recipe for a nest: one random move for each of its chains, then threads."""
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
    for move in (leave, stride_one, register_tiles, cache_tiles, register_tiles, unroll_and_jam):
        recipe = combine(nest, lambda move=move: move, random, around)
        if recipe not in recipes:
            recipes.append(recipe)
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
    if around.target == "openmp":
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
    if around.target == "openmp":
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
        elif op == "interchange" and args[0] in order and args[1] in order:
            a, b = order.index(str(args[0])), order.index(str(args[1]))
            order[a], order[b] = order[b], order[a]
    maps = {loop.name for loop in chain.loops if loop.kind == "map"}
    allowed = [name for name in order if name.split(".")[0] in maps]
    return allowed[:1]


def _some_order(chain: Chain, random: Random) -> list[str]:
    """A random order of the chain's loops; mostly with the best strides innermost."""
    names = list(chain.names)
    random.shuffle(names)
    if random.random() < 0.7:
        best = chain.by_locality()[-1]
        names.remove(best)
        names.append(best)
    return names


def _roles(chain: Chain, random: Random) -> tuple[str, str, str] | None:
    """Row, column and reduction loop of something like a matrix product."""
    moving = [loop for loop in chain.loops if chain.moves_output(loop)]
    still = [loop for loop in chain.loops if not chain.moves_output(loop)]
    if len(moving) < 2 or not still:
        return None
    column = min(moving, key=chain.innermost_cost)
    row = random.choice([loop for loop in moving if loop is not column])
    reduction = random.choice(still)
    return row.name, column.name, reduction.name
