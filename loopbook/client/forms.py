"""Another form of a nest, which the book may know better.

NumPy's ``A[i, j] -= A[i, :j] @ A[:j, j]`` sums up in a scalar what a loop of the textbook takes
from the element. Recipes for factorisations are of the latter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loopbook.client.fit import Fit, Refusal, Trials
from loopbook.client.sizes import Trips
from loopbook.client.thresholds import SUM_ACROSS, SUM_IN_ROWS
from loopbook.program.nest import Nest
from loopbook.program.nests import read_nest
from loopbook.program.walk import outermost
from loopbook.recipes.recipe import Recipe
from loopbook.rules.fission import carried, lie_in_rows
from loopbook.steps import Step

BYTES = 8
"""Of an element, as far as it matters here."""


@dataclass(frozen=True)
class Form:
    """A nest in another form.

    Attributes:
        recipe: leads there.
        nest: has the loops of the nest that it comes from, by the same names.
        trials: of recipes on it.
        slower: how many times as long it takes as the nest, both with docc's own schedule.
    """

    recipe: Recipe
    nest: Nest
    trials: Trials
    slower: float


def sums_in_memory(
    nest: Nest, fit: Callable[[Nest, Recipe], Fit | Refusal], trips: Trips, cache: int
) -> Form | None:
    """The nest with what it sums up in the elements that it is added to; None if there is no such
    sum.

    Args:
        cache: bytes that a core has for itself.
    """
    steps = [Step("reg2mem", (loop,)) for loop in dict.fromkeys(o.name for o, _ in carried(nest))]
    while steps:
        found = fit(nest, Recipe(tuple(steps)))
        if isinstance(found, Refusal):
            if found.position is None:
                return None
            del steps[found.position]
            continue
        return _form(nest, found, _slower(nest, trips, cache))
    return None


def _form(nest: Nest, found: Fit, slower: float) -> Form | None:
    if found.after is None:
        return None
    program = found.after.program
    for loop in outermost(program):
        if loop.id == nest.loops[0].element_id:
            new = read_nest(loop, program.containers, nest.position)
            return Form(found.recipe, new, Trials("", program), slower)
    return None


def _slower(nest: Nest, trips: Trips, cache: int) -> float:
    """A sum in memory waits for what was stored last; in a scalar only for the last addition, and
    if what it adds up lies in rows, several are added up at once."""
    loops = [loop for _, loop in carried(nest)]
    if not lie_in_rows(nest, loops):
        return SUM_ACROSS
    counts = [trips.get(nest.loops[0].name), *(trips.get(loop.name) for loop in loops)]
    known = [count for count in counts if count is not None]
    fits = len(known) == len(counts) and BYTES * known[0] * max(known[1:]) <= 2 * cache
    return SUM_IN_ROWS[fits]
