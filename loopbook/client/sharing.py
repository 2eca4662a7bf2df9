"""Threads for what is planned for one thread.

What a nest gains by for one thread it gains by for several, each with iterations of its own. Books
know more of one thread; and neighbours that were tuned for several say which of their own loops
threads share: often one further in, for which threads are woken and waited for again and again.
docc makes one loop of loops in each other, with a quotient and a remainder in each index: a Sobel
filter takes 9 ms so, with one thread, and 3 as it was (AVX-512, 2026-11-27).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence

from loopbook.client.fit import Fit
from loopbook.client.orders import Fits
from loopbook.client.sizes import Trips
from loopbook.client.thresholds import ASKED_TO_SHARE, REMAINDER, UNTOLD_TRIP, WORTH_WAKING
from loopbook.errors import SdfgError
from loopbook.program import walk
from loopbook.program.nest import Nest
from loopbook.program.tree import Loop, Program, While
from loopbook.recipes.recipe import Recipe
from loopbook.rules.base import step
from loopbook.rules.reductions import held
from loopbook.rules.threads import SINGLE, in_waves, proven
from loopbook.steps import Step, base_name

Names = Mapping[int, str]
"""docc's numbers of a nest's loops to what recipes call them."""


def shared_among_threads(
    nest: Nest, fit: Fits, recipe: Recipe, trips: Trips, threads: int
) -> Recipe | None:
    """A recipe for one thread, with threads on the outermost loops that may have them and are worth
    it each time; None if there are none, or the recipe is not legal.

    Sums in elements are kept in registers besides: clang, which sees the bodies of such loops as
    functions, cannot tell that they are nobody else's.
    """
    found = fit(nest, recipe)
    if not isinstance(found, Fit) or found.after is None:
        return None
    if tiles := _in_waves(nest, fit, recipe, threads):
        return tiles
    names = {number: name for name, number in found.after.names.items()}
    own = [one for one in walk.preorder(found.after.program) if isinstance(one, Loop)]
    if not any(one.id in names and _is_worth_it(one, names, trips) for one in own):
        return None
    waiting = [*_outermost(found.after.program, names)]
    kept = _sums(nest, fit, recipe)
    now: Sequence[Step] = recipe.steps
    shared: list[Step] = []
    for _ in range(ASKED_TO_SHARE):
        if not waiting:
            break
        loop = waiting.pop(0)
        name = names[loop.id or -1]
        for steps in _shown(now, loop, name) if _is_worth_it(loop, names, trips) else ():
            made = (*steps, *kept, *shared, step("parallel", name), SINGLE)
            tried = fit(nest, Recipe(made))
            if isinstance(tried, Fit) and step("parallel", name) in tried.recipe.steps:
                now = steps
                shared.append(step("parallel", name))
                break
        else:
            waiting += _outermost(loop.body, names)
    return Recipe((*now, *kept, *shared, SINGLE)) if shared else None


def _shown(steps: Sequence[Step], loop: Loop | While, name: str) -> list[Sequence[Step]]:
    """The steps, with one that shows that a loop may be shared where docc does not know: before
    anything else is done with a loop of the nest, as soon as it is there with one over tiles."""
    if isinstance(loop, While):
        return []
    if loop.kind == "map":
        return [steps]
    if base_name(name) == name:
        return [(step("mark_parallel", name), *steps)]
    return [*proven(steps, name)]


def _is_worth_it(loop: Loop | While, names: Names, trips: Trips) -> bool:
    """Whether a run of a loop, with all loops in it, takes much longer than to wake threads."""
    if isinstance(loop, While):
        return False
    inner = (node for node in walk.preorder(loop) if isinstance(node, Loop))
    counts: dict[str, float] = {}
    for node in inner:  # of copies of one loop the longest
        name = names.get(node.id or -1, "")
        whole = name.endswith(".tile")
        key = base_name(name) + (".tile" if whole else "")
        known = trips if not name.endswith(".rest") else {base_name(name): REMAINDER}
        counts[key] = max(_count(node, base_name(name), known), counts.get(key, 1.0))
    return math.prod(counts.values()) >= WORTH_WAKING


def _count(loop: Loop, base: str, trips: Trips) -> float:
    """How often a loop runs, about."""
    with contextlib.suppress(SdfgError):
        bounds = loop.bounds
        width = bounds.width()
        if width is not None:
            return max(1.0, width / abs(bounds.step or 1))
        return trips.get(base, UNTOLD_TRIP) / abs(bounds.step or 1)
    return UNTOLD_TRIP


def _in_waves(nest: Nest, fit: Fits, recipe: Recipe, threads: int) -> Recipe | None:
    """Tiles in time, some of which threads work on at the same time; None if there are none."""
    if not (steps := in_waves(recipe.steps, threads)):
        return None
    tried = fit(nest, Recipe((*steps, SINGLE)))
    return tried.recipe if isinstance(tried, Fit) and not tried.dropped else None


def _outermost(node: walk.Inner | Program, names: Names) -> Iterator[Loop | While]:
    """The outermost loops of a nest in a node."""
    for child in walk.children(node):
        if isinstance(child, Loop | While) and child.id in names:
            yield child
        else:
            yield from _outermost(child, names)


def _sums(nest: Nest, fit: Fits, recipe: Recipe) -> list[Step]:
    """Steps that keep sums in registers, of innermost loops that a recipe leaves as they are."""
    touched = recipe.base_loops()
    kept: list[Step] = []
    for loop in nest.loops:
        if nest.children(loop.index) or loop.name in touched or loop.kind == "while":
            continue
        for name in held(nest, loop):
            one = step("stage", loop.name, name, "out")
            tried = fit(nest, Recipe((*recipe, *kept, one)))
            if isinstance(tried, Fit) and one in tried.recipe.steps:
                kept.append(one)
    return kept
