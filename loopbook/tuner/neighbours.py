"""Where a search begins: the recipes of near neighbours, ported to the nest at hand, and what is
served where nobody has searched."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from loopbook.client.fit import Trials
from loopbook.client.heuristics import UNHEARD_OF, by_rules
from loopbook.client.inner_nests import renamed
from loopbook.client.layered import LayeredBook
from loopbook.client.orders import along_memory, taken_apart
from loopbook.client.plan import plan_nests
from loopbook.client.port import port
from loopbook.program import walk
from loopbook.program.accesses import counted, names, written
from loopbook.program.json_text import dumped
from loopbook.program.nest import Nest
from loopbook.program.nests import read_nest
from loopbook.program.regions import is_like_region, is_region
from loopbook.program.tree import Loop, Program
from loopbook.program.write import write
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext
from loopbook.rules.sweeps import all_as_one
from loopbook.steps.workbench import Transformed

MOST = 6
"""Recipes that are given."""

LOOKED_AT = 16
"""Records looked at; many of them hold the same recipe, or one that cannot be ported."""


def ported_neighbours(
    layered: LayeredBook, nest: Nest, target: str, *, exclude: Collection[str] = ()
) -> list[Recipe]:
    """What the books would serve, then the recipes of near neighbours in the words of `nest`,
    nearest first; at most `MOST` together. Of a region, what its nests get one by one comes first.

    Args:
        exclude: kernels whose records are left out.

    Raises:
        BookError: if a book cannot be read.
    """
    whole = is_region(nest.loop)
    embedding = layered.encoder.encode(nest)
    first = _one_by_one if whole else _planned
    recipes: list[Recipe] = [*first(layered, nest, target, exclude)]
    for near in layered.neighbours(nest, embedding, LOOKED_AT, target, exclude):
        recipe = near.record.recipe
        if not len(recipe):
            continue
        source = layered.source(near.record)
        if is_like_region(source.loop) != whole:
            continue
        ported = port(recipe, source, near.embedding, nest, embedding)
        if ported is not None and ported not in recipes:
            recipes.append(ported)
    return recipes[:MOST]


def by_rules_alone(nest: Nest, context: TuningContext) -> list[Recipe]:
    """What would be served to a nest of which no book knew anything: what a search finds is served
    in its place, and has to be no slower."""
    if is_region(nest.loop):
        return []
    fit = Trials("", _by_itself(nest)).answer
    found = [
        *along_memory(nest, fit, ()),
        *(choice for rule in UNHEARD_OF for choice in rule(nest, fit, context)),
        *by_rules(nest, fit, context),
    ]
    if not context.parallel:
        found += taken_apart(nest, fit)
    return list(dict.fromkeys(choice.recipe for choice in found if len(choice.recipe)))


def _by_itself(nest: Nest) -> Program:
    """A program that consists of the nest, and is told its sizes."""
    program = Transformed.of(nest).program
    given = names(nest.loop) - written(nest.loop) - counted(nest.loop) - {*program.arguments}
    return replace(program, arguments=(*program.arguments, *sorted(given)))


def _planned(
    layered: LayeredBook, nest: Nest, target: str, exclude: Collection[str]
) -> Iterator[Recipe]:
    """What the nest gets by itself."""
    program = _by_itself(nest)
    own = read_nest(nest.loop, program.containers)
    text = dumped(write(program))
    plan = plan_nests([own], text, target, layered, exclude=exclude, tree=program)
    if len(recipe := plan.recipes.get(own.position, Recipe())):
        yield recipe


def _one_by_one(
    layered: LayeredBook, region: Nest, target: str, exclude: Collection[str]
) -> Iterator[Recipe]:
    """What the nests of a region get, as recipes for the region: that, and what makes one sweep of
    them then."""
    program = _by_itself(region)
    steps = Recipe()
    for loop in region.loop.body.children:
        if not isinstance(loop, Loop):
            continue
        alone = walk.with_children(program, (loop,))
        inner = read_nest(loop, program.containers)
        plan = plan_nests(
            [inner], dumped(write(alone)), target, layered, exclude=exclude, tree=alone
        )
        if (recipe := plan.recipes.get(inner.position)) is not None:
            steps = Recipe((*steps, *renamed(recipe, inner, region)))
    if len(steps):
        yield steps
        context = TuningContext.of(layered.hardware(target), target)
        yield from (Recipe((*steps, *joined)) for joined in all_as_one(region, context))
