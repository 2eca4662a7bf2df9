"""Several time steps of a stencil on one part of the grid, while that is in cache."""

from __future__ import annotations

from random import Random

from loopbook.program.nest import Loop, Nest, Stride
from loopbook.rules.bands import bands
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.orders import stride_one
from loopbook.rules.sampled import on_nests, seeds
from loopbook.rules.threads import waves

STEPS = (4, 8, 8, 16, 16, 32)
WIDTHS = (4, 8, 8, 16, 16, 32, 64)
UNKNOWN_TRIP = 256

LARGE_TILES = ((16, 32), (8, 16), (4, 8))
"""Time steps and rows of tiles whose rows are `LONG_ROWS` long, so that vectors are filled."""

LONG_ROWS = 256

WHOLE_ROWS = ((8, 4), (4, 4))
"""Time steps and rows of tiles whose rows are as long as the grid's."""


@on_nests(1.0)
def time_tiles(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Time tiles of random sizes, along one or two dimensions of space."""
    depth = _depth(nest)
    if depth < 1:
        return []
    count = 1 if depth < 3 else random.choice((1, 2, 2))
    widths = [random.choice(WIDTHS) for _ in range(count)]
    return _tiled(nest, random.choice(STEPS), widths, context)


@seeds(2)
def fitted_time_tiles(nest: Nest, context: TuningContext) -> list[Steps]:
    """Time tiles whose part of the grid fits the L2 cache, for the seed population.

    A tile of `width` rows touches about as many more rows as it skews; rows that are too long for
    that are tiled along a second dimension too.
    """
    depth = _depth(nest)
    if depth < 1:
        return []
    arrays = sum(container.written for container in nest.arrays) or 1
    trips = [context.trips.get(loop.name, UNKNOWN_TRIP) for loop in _longest(nest)]
    found = []
    for count in range(1, min(2, depth) + 1):
        points = context.l2_bytes // (8 * arrays)
        for trip in trips[count:]:
            points //= max(1, trip)
        rows = points if count == 1 else int(points**0.5)
        if rows < 8 or (found and depth < 3):
            continue
        width = _power_below(rows // 2, 64)
        # Steps beyond a few rows' worth cost more in skew than they save in traffic.
        for steps in dict.fromkeys((_power_below(rows // 2, 16), _power_below(rows // 4, 16))):
            found.append(_tiled(nest, steps, [width] * count, context))
    return found


def time_tiles_from_memory(nest: Nest, context: TuningContext) -> list[Steps]:
    """For one thread, time tiles of a grid that no cache holds, the widest first; none where one
    does, since nests whose temporaries become a few rows are as fast then
    (`loopbook.normal_form.rolling`).

    A step of heat on 2,500 by 2,500 points takes 6.0 ms in rows, 3.4 in tiles of 16 steps; on 1,000
    by 1,000 points, 16 MB that the L3 cache holds, 0.46 and 0.51 (AVX-512, 2026-11-27).
    """
    if context.parallel or _depth(nest) != 2 or not _is_over_time(nest):
        return []
    times = context.trips.get("L0", 0)
    rows, columns = (context.trips.get(loop.name, 0) for loop in _longest(nest))
    point = 8 * len(nest.arrays)
    if rows * columns * point <= context.l3_bytes:
        return []
    rims = [step("distribute", loop.name) for loop in nest.loops if _is_shared(nest, loop)]
    return [
        [*rims, step("time_tile", "L0", steps, width, LONG_ROWS)]
        for steps, width in LARGE_TILES
        if steps <= times
        and point * (width + 2 * steps) * (LONG_ROWS + 2 * steps) <= context.l2_bytes // 2
    ] + [
        [*rims, step("time_tile", "L0", steps, width)]
        for steps, width in WHOLE_ROWS
        if steps <= times and point * columns * (width + steps) <= context.l2_bytes
    ]


def _is_over_time(nest: Nest) -> bool:
    """Whether the outermost loop comes back to all elements of arrays that others run through."""
    return not any(
        one.strides[0] != Stride.ZERO and any(other != Stride.ZERO for other in one.strides[1:])
        for one in nest.accesses
        if nest.containers[one.container].is_array and one.strides
    )


def _is_shared(nest: Nest, loop: Loop) -> bool:
    """Whether a loop below that over time stores more than one thing at a time: conditions at two
    boundaries, say, which are at different places."""
    if loop.depth != 1 or nest.children(loop.index):
        return False
    blocks = {block.index for block in nest.blocks if block.parent == loop.index}
    arrays = {container.index for container in nest.containers if container.is_array}
    stored = [one for one in nest.accesses if one.write and one.block in blocks]
    return sum(one.container in arrays for one in stored) > 1


def _tiled(nest: Nest, steps: int, widths: list[int], context: TuningContext) -> Steps:
    """Time tiles of loops with good strides; with OpenMP in waves, one row of tiles for each
    thread."""
    order = _contiguous(nest, context)
    if context.parallel:
        times = context.trips.get("L0", UNKNOWN_TRIP)
        steps = max(2, min(steps, -(-times // max(2, context.threads))))
        return order + waves(step("time_tile", "L0", steps, *widths), context.threads)
    return [*order, step("time_tile", "L0", steps, *widths)]


def _contiguous(nest: Nest, context: TuningContext) -> Steps:
    """Interchanges that give all loops over space good strides, where some jump through memory:
    statements whose loops are in different orders cannot be tiled together either."""
    found = [each for band in bands(nest) for each in stride_one(band, Random(0), context)]
    return [] if any("L0" in each.args for each in found) else found


def _depth(nest: Nest) -> int:
    """How many loops are below the outermost one, 0 unless it holds loops only."""
    inside = [child for parent, child in nest.contains if parent == ("loop", 0)]
    if not inside or any(kind != "loop" for kind, _ in inside):
        return 0
    return len(_longest(nest))


def _longest(nest: Nest) -> list[Loop]:
    """The longest path of loops below the outermost one."""
    deepest = max(nest.loops, key=lambda loop: loop.depth)
    return list(nest.ancestry(deepest.index))[1:]


def _power_below(number: int, high: int) -> int:
    """The largest power of two up to `number`, from 4 to `high`."""
    return max(4, min(high, 1 << max(0, number.bit_length() - 1)))
