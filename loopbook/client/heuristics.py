"""What pays for nests of which no book knows more: rules alone, nothing is ported or measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from loopbook.client.decision import Choice
from loopbook.client.fit import Fit
from loopbook.client.orders import Fits, touched
from loopbook.client.rows_of_data import along_rows_of_data
from loopbook.client.thresholds import LEAST_TILED, UNTOLD_TRIP
from loopbook.dependence.updates import BYTES
from loopbook.program.nest import Nest, Stride
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext
from loopbook.rules.bands import Band, bands
from loopbook.rules.base import Steps
from loopbook.rules.costly import costly_apart
from loopbook.rules.decisions import SampledDecisions
from loopbook.rules.invariants import kept_elements
from loopbook.rules.pivots import pivot_cuts_beside
from loopbook.rules.recurrences import recurrences_together, sweeps_together
from loopbook.rules.registers import multiplies, packed_tiles, register_tiles, roles
from loopbook.rules.shared_sums import shared_sums
from loopbook.rules.short_rows import one_row, rows_added, short_rows
from loopbook.rules.space import combine
from loopbook.rules.strips import sums_beside
from loopbook.rules.timetiling import time_tiles_from_memory
from loopbook.rules.transposes import transposed

FOUR_ROWS = (0, 0, 0, 2)
"""Decisions of `register_tiles`: the first row that there is and all sums, four rows; how many
vectors is left to say."""

VECTORS = (4, 3, 2, 1)
"""Vectors of a row in a register tile, the best first."""

FEW_LEFT = 0.125
"""The share of a row that may be left of whole tiles: it is computed one by one."""


def by_rules(nest: Nest, fit: Fits, context: TuningContext) -> tuple[Choice, ...]:
    """The choice of the first rule that has a legal one for this nest, machine and target."""
    for rule in (beside_recurrences, at_pivots):
        if found := rule(nest, fit, context):
            return found
    for tier, steps in _rules(nest, context):
        if found := _choice(tier, nest, steps, fit):
            return found
    return ()


def by_memory(nest: Nest, fit: Fits, context: TuningContext) -> tuple[Choice, ...]:
    """What goes through short rows as they lie in memory: nothing that keeps them does as well,
    whatever longer rows of its like gained by."""
    if context.parallel:
        return ()
    for steps in (one_row(nest, context.trips), rows_added(nest, context.trips)):
        if found := _choice("collapsed", nest, steps, fit):
            return found
    return ()


def beside_recurrences(nest: Nest, fit: Fits, context: TuningContext) -> tuple[Choice, ...]:
    """Maths functions apart from what iterations hand on, which few recipes of neighbours do."""
    steps = Recipe()
    for ways in () if context.parallel else costly_apart(nest):
        for way in ways:
            found = fit(nest, Recipe((*steps, *way)))
            if isinstance(found, Fit) and not found.dropped:
                steps = found.recipe
                break
    return (Choice("apart", None, 0.0, steps, 0, 1.0),) if len(steps) else ()


def at_pivots(nest: Nest, fit: Fits, context: TuningContext) -> tuple[Choice, ...]:
    """Cuts at a matrix's pivot, whatever else is stored beside it, as the way of a path."""
    steps = [] if context.parallel else pivot_cuts_beside(nest)
    found = fit(nest, Recipe(tuple(steps))) if steps else None
    return (Choice("pivots", None, 0.0, found.recipe, 0, 1.0),) if isinstance(found, Fit) else ()


def in_registers(nest: Nest, fit: Fits, context: TuningContext) -> tuple[Choice, ...]:
    """Tiles in registers for what is like a product, where neighbours say little of it: of whole
    numbers, since books have tuned few such nests, and their neighbours' tiles are as wide as other
    numbers' vectors; and with several loops to sum up over, such as a window and channels."""
    runs = math.prod(context.trips.get(loop.name, UNTOLD_TRIP) for loop in nest.loops)
    if context.parallel or runs < LEAST_TILED:
        return ()
    if {array.dtype for array in nest.arrays} <= BYTES.keys():
        steps = combine(nest, lambda: packed_tiles, SampledDecisions(), context)
        if not any(one.op == "pad" for one in steps):
            return ()
    elif _sums_over_several(nest):
        if not (vectors := _vectors(nest, context)):
            return ()
        chosen = SampledDecisions((*FOUR_ROWS, vectors - 1))
        steps = combine(nest, lambda: register_tiles, chosen, context)
    else:
        return ()
    return _choice("tiles", nest, list(steps), fit)


def again_and_again(nest: Nest, fit: Fits, context: TuningContext) -> tuple[Choice, ...]:
    """No step for elements that a loop computes again and again, each by itself: they take steps
    together, in vectors (`loopbook.sdfg.iterated`), where nothing is staged. Numbers of 10,000
    epidemics after 20 steps: 0.33 to 0.05 ms (AVX-512, 2026-11-28)."""
    repeated = not context.parallel and any(map(_repeats, bands(nest)))
    return (Choice("order", None, 0.0, Recipe(), 0, 1.0),) if repeated else ()


def _repeats(band: Band) -> bool:
    """Whether all that a loop moves along are the elements that the one in it computes anew."""
    *outer, last = band.loops
    if not outer or last.kind != "for" or band.nest.children(last.index):
        return False
    along = band.strides(outer[-1])
    still = all(stride == Stride.ZERO for stride, _ in band.strides(last))
    apart = all(stride in (Stride.ZERO, Stride.UNIT) for stride, _ in along)
    return still and apart and (Stride.UNIT, True) in along and (Stride.ZERO, True) not in along


UNHEARD_OF = (by_memory, in_registers, beside_recurrences, along_rows_of_data, again_and_again)
"""What comes before recipes of neighbours, for nests that no book knows."""


def _sums_over_several(nest: Nest) -> bool:
    """Whether a nest is a product of rows and columns that are summed up over several loops."""
    band, *others = bands(nest)
    if others or (found := roles(band)) is None:
        return False
    rows, column, reductions = found
    return len(reductions) > 1 and any(multiplies(band, row, column) for row in rows)


def _vectors(nest: Nest, context: TuningContext) -> int:
    """How many vectors of a row a register tile has: no more than the row, of which it leaves but
    little; 0 where a row is shorter than one."""
    (band,) = bands(nest)
    found = roles(band)
    trip = None if found is None else context.trips.get(found[1].name)
    if trip is None:
        return VECTORS[0]
    fitting = [one for one in VECTORS if one * context.lanes <= trip]
    few = [one for one in fitting if trip % (one * context.lanes) <= FEW_LEFT * trip]
    return next(iter(few or fitting), 0)


def _rules(nest: Nest, context: TuningContext) -> Iterator[tuple[str, Steps]]:
    """Tiers and steps, the best first."""
    if context.parallel:
        yield "sums", shared_sums(nest, Random(0), context)
        return
    yield "columns", transposed(nest, context.trips)
    yield "strips", sums_beside(nest, context.trips)
    for rule in (recurrences_together, sweeps_together):
        yield "strips", [one for _, steps in rule(nest, context.trips) for one in steps]
    yield "collapsed", short_rows(nest, context.trips)
    for steps in time_tiles_from_memory(nest, context):
        yield "time", steps


def with_kept(
    nest: Nest, fit: Fits, usable: tuple[Choice, ...], context: TuningContext
) -> tuple[Choice, ...]:
    """Choices that also load once what loops read and do not change, for one thread."""
    steps = [] if context.parallel else kept_elements(nest)
    begun = usable or ((Choice("kept", None, 0.0, Recipe(()), 0, 1.0),) if steps else ())
    found = tuple(_beside(nest, fit, choice, steps) for choice in begun)
    return found if usable or any(len(choice.recipe) for choice in found) else ()


def _choice(tier: str, nest: Nest, steps: Steps, fit: Fits) -> tuple[Choice, ...]:
    """What a rule makes of a nest, if all of that is legal."""
    found = fit(nest, Recipe(tuple(steps))) if steps else None
    if not isinstance(found, Fit) or found.dropped:
        return ()
    return (Choice(tier, None, 0.0, found.recipe, 0, 1.0),)


def _beside(nest: Nest, fit: Fits, choice: Choice, steps: Steps) -> Choice:
    """A choice with more steps, none of which needs another one: those that are legal behind its
    own, for loops that these do not touch."""
    done = touched(choice.recipe)
    for one in steps:
        if done.isdisjoint(touched(Recipe((one,)))):
            found = fit(nest, Recipe((*choice.recipe, one)))
            if isinstance(found, Fit) and not found.dropped:
                choice = replace(choice, recipe=found.recipe)
    return choice
