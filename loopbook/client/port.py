"""Rewrites a recipe's steps for another nest.

Loops and containers get the names of their partners (`loopbook.client.match`). Where the nest has
them in another order than the recipe's own nest had, interchanges in front restore the order that
the steps start from; an interchange that the recipe would only undo is left out.

Nothing here decides whether the result is legal: docc does, in `loopbook.client.fit`. A wrong match
can make a recipe illegal or slow, never wrong.
"""

from __future__ import annotations

from itertools import pairwise

from loopbook.client.match import band, match_containers, match_loops
from loopbook.program.nest import Nest
from loopbook.program.shape import Shape
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.recipe import Recipe
from loopbook.steps import Step


def port(
    recipe: Recipe,
    source: Shape,
    source_embedding: Embedding,
    nest: Nest,
    embedding: Embedding,
) -> Recipe | None:
    """`recipe`, written for `source`, in the words of `nest`.

    Nests with one fingerprint share their names: the recipe comes back as it is.

    Returns:
        None if a loop or container that the recipe speaks of has no partner in `nest`.
    """
    if source.fingerprint == nest.fingerprint or not len(recipe):
        return recipe
    loops = match_loops(source, source_embedding, nest, embedding, recipe.base_loops())
    if loops is None:
        return None
    containers = match_containers(source, source_embedding, nest, embedding, recipe.containers())
    if containers is None:
        return None
    renamed = recipe.rename(loops, containers)
    order = [loop.name for loop in band(nest)]
    steps = [*_reordering(order, _wanted(source, loops, order)), *renamed]
    return Recipe(tuple(_without_detours(steps)))


def _wanted(source: Shape, loops: dict[str, str], order: list[str]) -> list[str]:
    """The band's loops as the recipe expects them: partners in its own nest's order, one directly
    inside the other, the loops that it does not know around them."""
    partners = [
        loops[loop.name]
        for loop in source.loops
        if loop.name in loops and loops[loop.name] in order
    ]
    places = [order.index(name) for name in partners]
    if all(b == a + 1 for a, b in pairwise(places)):
        return order
    return [name for name in order if name not in partners] + partners


def _reordering(order: list[str], wanted: list[str]) -> list[Step]:
    """Interchanges of neighbours that bring the loops from `order` to `wanted`."""
    order = list(order)
    rank = {name: place for place, name in enumerate(wanted)}
    steps: list[Step] = []
    swapped = True
    while swapped:
        swapped = False
        for place in range(len(order) - 1):
            outer, inner = order[place], order[place + 1]
            if rank[outer] > rank[inner]:
                steps.append(Step("interchange", (outer, inner)))
                order[place], order[place + 1] = inner, outer
                swapped = True
    return steps


def _without_detours(steps: list[Step]) -> list[Step]:
    """Without pairs of interchanges of which the second undoes the first."""
    done: list[Step] = []
    for step in steps:
        undone = step.op == "interchange" and Step(step.op, step.args[::-1])
        if done and done[-1] == undone:
            done.pop()
        else:
            done.append(step)
    return done
