"""Another form of a nest, which the book may know better.

NumPy's ``A[i, j] -= A[i, :j] @ A[:j, j]`` sums up in a scalar what a loop of the textbook takes
from the element. Recipes for factorisations are of the latter. And what a textbook has in one loop,
array programs have in several: ``A[i, 1:-1] += A[i - 1, 2:] + …`` before a loop along the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loopbook.client.fit import Fit, Refusal, Trials
from loopbook.client.sizes import Trips
from loopbook.client.thresholds import SUM_ACROSS, SUM_IN_ROWS
from loopbook.program.nest import Loop, Nest
from loopbook.program.nests import read_nest
from loopbook.program.walk import outermost
from loopbook.recipes.recipe import Recipe
from loopbook.rules.fission import carried, ends_in_copy, lie_in_rows
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
    outer = dict.fromkeys(o.name for o, _ in carried(nest) if not _is_only_stored(nest, o))
    steps = [Step("reg2mem", (loop,)) for loop in outer]
    while steps:
        found = fit(nest, Recipe(tuple(steps)))
        if isinstance(found, Refusal):
            if found.position is None:
                return None
            del steps[found.position]
            continue
        return _form(nest, found, _slower(nest, trips, cache))
    return None


def _is_only_stored(nest: Nest, loop: Loop) -> bool:
    """Whether what a loop sums up is stored, not added to an element."""
    first = min(block.index for block in nest.blocks if block.parent == loop.index)
    loads = (nest.containers[a.container].is_array for a in nest.accesses if a.block == first)
    return ends_in_copy(nest, loop) and not any(loads)


def rows_in_one(nest: Nest, fit: Callable[[Nest, Recipe], Fit | Refusal]) -> Form | None:
    """The nest with one innermost loop for all that its loops hold beside each other, if one of
    them goes along what it computes itself, and waits for it; None if there is no such loop, or it
    cannot be one."""
    first, *others = (loop for loop in nest.loops if not nest.children(loop.index))
    parent = nest.loops[first.parent] if others else None
    if parent is None or parent.parent < 0 or nest.children(parent.index) != (first, *others):
        return None
    inside = sum(node == ("loop", parent.index) for node, _ in nest.contains)
    if inside != 1 + len(others) or others[-1].kind != "for":
        return None
    found = fit(nest, Recipe(tuple(Step("fuse", (first.name, one.name)) for one in others)))
    return _form(nest, found, 1.0) if isinstance(found, Fit) and not found.dropped else None


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
