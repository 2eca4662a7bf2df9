"""What stands inside of loops that only repeat it, as nests of their own.

Books have nests, and a nest is an outermost loop. In a program that does something several times,
or for several data, such as ::

    for t: for i: for j: for k: C[t, i, j] = min(C[t, i, j], A[t, i, k] + B[t, k, j])

few have met the whole, and many the product in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from loopbook.client.decision import Choice
from loopbook.client.fit import Fit, Refusal, Trials
from loopbook.client.sizes import Trips
from loopbook.client.thresholds import LEAST_SHARE, WORTH_USING
from loopbook.program import expr, walk
from loopbook.program.nest import Nest
from loopbook.program.nests import read_nest
from loopbook.program.tree import Loop, Program
from loopbook.program.trips import iterations
from loopbook.recipes.recipe import Recipe


@dataclass(frozen=True)
class InnerNest:
    """A nest inside another one.

    Attributes:
        nest: as if it were a program's only one.
        trials: of recipes on it.
        trips: how often its loops run, by its own names for them.
        share: of all iterations, those that are its own, 0 to 1.
    """

    nest: Nest
    trials: Trials
    trips: Trips
    share: float
    _around: Nest

    def renamed(self, recipe: Recipe) -> Recipe:
        """A recipe for it in the words of the nest around it."""
        return renamed(recipe, self.nest, self._around)


def renamed(recipe: Recipe, inner: Nest, around: Nest) -> Recipe:
    """A recipe for a nest that stands in another one, in the words of that."""
    first = next(one.index for one in around.loops if one.element_id == inner.loops[0].element_id)
    loops = {one.name: f"L{one.index + first}" for one in inner.loops}
    known = {one.data: one.name for one in around.arrays}
    return recipe.rename(loops, {one.name: known[one.data] for one in inner.arrays})


def of_inner_nests(
    nest: Nest,
    fit: Callable[[Nest, Recipe], Fit | Refusal],
    choices: Callable[[InnerNest], tuple[Choice, ...]],
    trips: Trips,
) -> Choice | None:
    """The choices for the nests inside of one as one choice for it; None if none of them gains.

    Args:
        choices: for a nest by itself, the best first.
    """
    whole = fit(nest, Recipe()) if _inside(nest) else None
    if not isinstance(whole, Fit) or whole.after is None:
        return None
    steps, saved, best = Recipe(), 0.0, None
    for inner in inner_nests(nest, whole.after.program, trips):
        choice = next(filter(_gains, choices(inner)), None)
        if choice is None:
            continue
        found = fit(nest, Recipe((*steps, *inner.renamed(choice.recipe))))
        if isinstance(found, Fit):
            steps = found.recipe
            saved += inner.share * (1 - 1 / choice.predicted_speedup)
            best = choice if best is None else max(best, choice, key=_promise)
    if best is None:
        return None
    left = max(1 - saved, 1 / best.predicted_speedup)  # shares are about right, no more
    return replace(best, recipe=steps, predicted_speedup=1 / left, lower=0.0)


def _promise(choice: Choice) -> float:
    return choice.predicted_speedup


def _gains(choice: Choice) -> bool:
    return len(choice.recipe) > 0 and choice.predicted_speedup > WORTH_USING


def inner_nests(nest: Nest, program: Program, trips: Trips) -> list[InnerNest]:
    """The nests of several loops inside of loops that repeat them, those left out that hardly
    count.

    Args:
        program: that the nest stands in.
        trips: of its loops.
    """
    total = iterations(nest, trips)
    found = []
    for loop in _inside(nest):
        alone = walk.with_children(program, (loop,))
        inner = read_nest(loop, program.containers)
        first = next(one.index for one in nest.loops if one.element_id == loop.id)
        own = {one.name: f"L{one.index + first}" for one in inner.loops}
        known = {name: trips[outer] for name, outer in own.items() if outer in trips}
        repeated = _repeated(nest, first, trips)
        count = iterations(inner, known)
        share = 0.0 if not (total and count and repeated) else repeated * count / total
        if share >= LEAST_SHARE:
            found.append(InnerNest(inner, Trials("", alone), known, share, nest))
    return found


def _inside(nest: Nest) -> list[Loop]:
    """The loops directly inside of a nest's outermost one, if that runs in order, or each of its
    iterations has data of its own. What only stands in each other has to be three loops: of two
    the whole says as much."""
    around = nest.loop
    if not isinstance(around, Loop) or not _stands_around(around, nest):
        return []
    least = 3 if len(around.body.children) == 1 else 2
    loops = (node for node in around.body.children if isinstance(node, Loop))
    return [loop for loop in loops if _height(loop) >= least]


def _stands_around(loop: Loop, nest: Nest) -> bool:
    if loop.kind == "for":
        return True
    arrays = [access for access in nest.accesses if access.subset]
    return all(any(loop.variable in expr.symbols(one) for one in a.subset) for a in arrays)


def _height(loop: Loop) -> int:
    """How many loops stand in each other at most, this one included."""
    inner = (_height(node) for node in loop.body.children if isinstance(node, Loop))
    return 1 + max(inner, default=0)


def _repeated(nest: Nest, number: int, trips: Trips) -> int | None:
    """How often a loop of a nest is reached, as far as that is known."""
    product = 1
    for loop in nest.ancestry(nest.loops[number].parent):
        if loop.name not in trips:
            return None
        product *= max(1, trips[loop.name])
    return product
