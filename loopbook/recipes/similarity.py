"""Recipe similarity: whether they do the same kind of thing, and with parameters how near.

Names do not count: recipes for different nests can be compared. Each step stands for some traits
with weights (`loopbook.steps.Step.traits`); what a recipe is known by (time tiles, a pushed result,
a buffer) weighs more than what comes with everything (an interchange, a peeled rest). Steps that do
the same in two ways, such as `tile` and `block`, or `stage` and `buffer`, share most traits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from loopbook.recipes.recipe import Recipe
from loopbook.steps import Step

Traits = Mapping[str, float]

OCTAVES = 4.0
"""Parameters this many doublings apart are as far apart as counts."""


def similarity(one: Iterable[Step], other: Iterable[Step]) -> float:
    """0 for recipes that have nothing in common to 1 for those that do the same.

    The weighted Jaccard index of the two recipes' traits; a trait that a recipe has n times counts
    as the square root of n. Two recipes without steps are alike.
    """
    return _similarity(_findable(one), _findable(other))


def _findable(steps: Iterable[Step]) -> Recipe | tuple[Step, ...]:
    """What can be looked up by; a recipe knows its hash."""
    return steps if isinstance(steps, Recipe) else tuple(steps)


@lru_cache(maxsize=65536)
def _similarity(one: Recipe | tuple[Step, ...], other: Recipe | tuple[Step, ...]) -> float:
    return _overlap(traits(tuple(one)), traits(tuple(other)))


@lru_cache(maxsize=4096)
def traits(steps: tuple[Step, ...]) -> Traits:
    """What the recipe is known by, with weights."""
    heaviest: dict[str, float] = {}
    counts: Counter[str] = Counter()
    for step in steps:
        for trait, weight in step.known_by().items():
            counts[trait] += 1
            heaviest[trait] = max(weight, heaviest.get(trait, 0.0))
    return {trait: heaviest[trait] * math.sqrt(count) for trait, count in counts.items()}


def size_distance(one: Iterable[Step], other: Iterable[Step]) -> float:
    """How far the parameters of two recipes are from each other, 0 to 1.

    Sizes of the same operation are compared in doublings, the smallest with the smallest: which
    comes first depends on the order of the loops. 0 where there are no sizes to compare.
    """
    mine, others = _sizes(tuple(one)), _sizes(tuple(other))
    gaps = [
        min(OCTAVES, abs(math.log2(a) - math.log2(b)))
        for op in mine.keys() & others.keys()
        for a, b in zip(mine[op], others[op], strict=False)
    ]
    return math.fsum(gaps) / (OCTAVES * len(gaps)) if gaps else 0.0


def only_reorders(steps: Iterable[Step]) -> bool:
    """Whether a recipe changes nothing but the order in which iterations run. What that gains is
    mostly better strides."""
    return all(step.only_orders for step in steps)


def keeps_order(steps: Iterable[Step], *, parallel: bool) -> bool:
    """Whether a recipe of tiles alone runs the iterations in the order that they had. What it
    gained, with one thread, its program gained by being prepared for it."""
    return not parallel and all(step.op == "tile" for step in steps)


def _overlap(one: Traits, other: Traits) -> float:
    if not one and not other:
        return 1.0
    shared = sum(min(weight, other.get(trait, 0.0)) for trait, weight in one.items())
    return shared / (sum(one.values()) + sum(other.values()) - shared)


@lru_cache(maxsize=4096)
def _sizes(steps: tuple[Step, ...]) -> Mapping[str, list[int]]:
    """The sizes in each place of each operation, the smallest first."""
    found: dict[str, list[int]] = {}
    for step in steps:
        for place, value in enumerate(step.args):
            if isinstance(value, int) and value > 0:
                found.setdefault(f"{step.op} {place}", []).append(value)
    return {op: sorted(values) for op, values in found.items()}
