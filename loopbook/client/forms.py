"""Another form of a nest, which the book may know better.

NumPy's ``A[i, j] -= A[i, :j] @ A[:j, j]`` sums up in a scalar what a loop of the textbook takes
from the element. Recipes for factorisations are of the latter. And what a textbook has in one loop,
array programs have in several: ``A[i, 1:-1] += A[i - 1, 2:] + …`` before a loop along the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loopbook.client.fit import Fit, Refusal, Trials
from loopbook.client.sizes import Trips
from loopbook.client.thresholds import SUM_ACROSS, SUM_IN_ROWS
from loopbook.program.nest import Loop, Nest, Stride
from loopbook.program.nests import read_nest
from loopbook.program.walk import outermost
from loopbook.recipes.recipe import Recipe
from loopbook.rules.bands import bands
from loopbook.rules.base import reorder
from loopbook.rules.fission import carried, ends_in_copy, lie_in_rows
from loopbook.steps import Step

BYTES = 8
"""Of an element, as far as it matters here."""


@dataclass(frozen=True)
class Form:
    """A nest in another form.

    Attributes:
        recipe: leads there.
        nest: has the loops of the nest that it comes from.
        trials: of recipes on it.
        slower: how many times as long it takes as the nest, both with docc's own schedule.
        names: what its loops are called in the nest that it comes from.
    """

    recipe: Recipe
    nest: Nest
    trials: Trials
    slower: float
    names: Mapping[str, str]

    def trips(self, trips: Trips) -> Trips:
        """How often its loops run, from how often those of the nest do that it comes from."""
        return {name: trips[own] for name, own in self.names.items() if own in trips}

    def whole(self, recipe: Recipe) -> Recipe:
        """A recipe for it as one for the nest that it comes from."""
        return Recipe((*self.recipe, *recipe.rename(self.names)))


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


def batches_first(nest: Nest, fit: Callable[[Nest, Recipe], Fit | Refusal]) -> Form | None:
    """The nest with those loops outermost of which each iteration has data of its own, and what is
    done with it inside of them; None if that is so, or there are no such loops.

    ::

        for i, j, b, k: C[i, b, j] += A[i, b, k] * B[b, k, j]
        for b: for i, j, k: …                  # a product for each b
    """
    around = bands(nest)[0].loops
    wanted = [loop for loop in around if _has_own_data(nest, loop)]
    order = [*wanted, *(loop for loop in around if loop not in wanted)]
    if not wanted or order == list(around) or len(wanted) == len(around):
        return None
    if _reads_others(nest):
        return None
    steps = reorder([loop.name for loop in around], [loop.name for loop in order])
    found = fit(nest, Recipe(tuple(steps)))
    return _form(nest, found, 1.0, order[0].element_id) if isinstance(found, Fit) else None


def _reads_others(nest: Nest) -> bool:
    """Whether elements are computed of others of their array, as in recurrences and sweeps: other
    rules put those in order."""
    stored = {access.container for access in nest.accesses if access.write}
    places = {(a.container, a.subset) for a in nest.accesses if a.subset and a.container in stored}
    return len(places) > len({container for container, _ in places})


def _has_own_data(nest: Nest, loop: Loop) -> bool:
    """Whether no two iterations of a loop touch one element of an array, nor such as lie beside
    each other: vectors go along those."""
    arrays = [a for a in nest.accesses if nest.containers[a.container].is_array]
    strides = [a.strides[loop.depth] if loop.depth < len(a.strides) else None for a in arrays]
    return bool(strides) and not {Stride.ZERO, Stride.UNIT, None} & set(strides)


def sums_apart(nest: Nest, fit: Callable[[Nest, Recipe], Fit | Refusal]) -> Form | None:
    """What a nest sums up in scalars, and then only stores, as a nest of its own, with the sums in
    the elements that they are stored to; None if it does nothing of the kind.

    ::

        for i, j: s = 0; (for k, l: s += …); C[i, j] = s
        for i, j: C[i, j] = 0                     # L0
        for i, j: for k, l: C[i, j] += …          # L0.part1
    """
    around = bands(nest)[0].loops
    inside = nest.children(around[-1].index)
    if len(around) < 2 or len(inside) != 1 or len(around) + 1 == len(nest.loops):
        return None
    steps = [Step("reg2mem", (around[-1].name,))]
    steps += [Step("distribute", (loop.name,)) for loop in reversed(around)]
    found = fit(nest, Recipe(tuple(steps)))
    if not isinstance(found, Fit) or found.dropped or found.after is None:
        return None
    return _form(nest, found, 1.0, found.after.names.get("L0.part1"))


def _form(nest: Nest, found: Fit, slower: float, first: int | None = None) -> Form | None:
    """The form that steps have led to.

    Args:
        first: the number of the loop that is outermost in it; as before, if not given.
    """
    if found.after is None:
        return None
    program, own = found.after.program, nest.loops[0].element_id if first is None else first
    known = {number: name for name, number in found.after.names.items()}
    for loop in outermost(program):
        if loop.id == own:
            new = read_nest(loop, program.containers, nest.position)
            names = {one.name: known[one.element_id] for one in new.loops}
            return Form(found.recipe, new, Trials("", program), slower, names)
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
