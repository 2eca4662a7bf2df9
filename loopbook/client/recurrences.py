"""Recurrences along rows beside each other, also where the book has something else for them.

What the book has was found while rows that a recipe writes out became vectors all the same, and
were gathered.
"""

from __future__ import annotations

from dataclasses import replace

from loopbook.client.decision import Choice
from loopbook.client.fit import Fit
from loopbook.client.orders import Fits
from loopbook.program.nest import Nest
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext
from loopbook.rules.recurrences import recurrences_together


def side_by_side(
    nest: Nest, fit: Fits, near: tuple[Choice, ...], context: TuningContext
) -> tuple[Choice, ...]:
    """Choices that run recurrences of the nest side by side, where that is legal, whatever they did
    with these loops; the others as they are."""
    found = [*recurrences_together(nest, context)]
    if not found:
        return near
    loops = {name for band, _ in found for name in band.names}
    steps = [step for _, own in found for step in own]
    choices = []
    for choice in near:
        kept = [one for one in choice.recipe if loops.isdisjoint(Recipe((one,)).base_loops())]
        fitted = fit(nest, Recipe((*kept, *steps)))
        legal = isinstance(fitted, Fit) and not fitted.dropped
        choices.append(replace(choice, recipe=fitted.recipe) if legal else choice)
    return tuple(choices)
