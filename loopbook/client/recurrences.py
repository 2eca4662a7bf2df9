"""Recurrences along rows beside each other, also where the book has something else for them.

What the book has was found while rows that a recipe writes out became vectors all the same, and
were gathered. And rows were gathered where the greatest element of each was looked for, for which
there were no vectors along them (`loopbook.sdfg.extremes`).
"""

from __future__ import annotations

from dataclasses import replace

from loopbook.client.across import ORDERS
from loopbook.client.decision import Choice
from loopbook.client.fit import Fit
from loopbook.client.orders import Fits
from loopbook.client.sizes import Trips
from loopbook.program.nest import Nest
from loopbook.recipes.recipe import Recipe
from loopbook.rules.base import Steps
from loopbook.rules.recurrences import recurrences_together, sweeps_together
from loopbook.rules.strips import only_gather
from loopbook.targets import TARGETS


def side_by_side(
    nest: Nest, fit: Fits, near: tuple[Choice, ...], target: str, trips: Trips
) -> tuple[Choice, ...]:
    """Choices that run recurrences of the nest side by side, where that is legal, whatever they did
    with these loops; the others as they are, and all for several threads, which share the rows.

    Args:
        near: what the book has for the nest.
        trips: how often loops run, as far as that is known.
    """
    found = [*recurrences_together(nest, trips)]
    if not found or TARGETS[target].parallel:
        return near
    return tuple(_with(nest, fit, choice, found) for choice in near)


def rows_of_sweeps(
    nest: Nest, fit: Fits, near: tuple[Choice, ...], trips: Trips
) -> tuple[Choice, ...]:
    """Choices that put as many rows of a sweep together as do best, where they put some together or
    change the order: what neighbours do with theirs is one of several ways to the same end.

    Args:
        near, trips: as in `side_by_side`; for one thread.
    """
    found = [*sweeps_together(nest, trips)]
    if not found:
        return near
    return tuple(
        choice
        if any(one.op not in ORDERS for one in choice.recipe) or not len(choice.recipe)
        else _with(nest, fit, choice, found)
        for choice in near
    )


def _with(nest: Nest, fit: Fits, choice: Choice, found: list[tuple[set[str], Steps]]) -> Choice:
    """A choice with other steps for some loops, if they are legal."""
    loops = set[str]().union(*(names for names, _ in found))
    steps = [step for _, own in found for step in own]
    kept = [one for one in choice.recipe if loops.isdisjoint(Recipe((one,)).base_loops())]
    fitted = fit(nest, Recipe((*kept, *steps)))
    if isinstance(fitted, Fit) and not fitted.dropped:
        return replace(choice, recipe=fitted.recipe)
    return choice


def without_gathers(
    nest: Nest, fit: Fits, near: tuple[Choice, ...], trips: Trips
) -> tuple[Choice, ...]:
    """Choices without strips that would gather rows which are computed in vectors as they lie;
    those of which nothing is left are left out."""
    choices = []
    for choice in near:
        kept = [
            one
            for one in choice.recipe
            if one.op != "strip_and_sink" or not only_gather(nest, str(one.args[0]), trips)
        ]
        if len(kept) < len(choice.recipe):
            fitted = fit(nest, Recipe(tuple(kept)))
            if not isinstance(fitted, Fit) or fitted.dropped or not kept:
                continue
            choice = replace(choice, recipe=fitted.recipe)
        choices.append(choice)
    return tuple(choices)
