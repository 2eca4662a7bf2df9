"""Where a search begins: the recipes of near neighbours, ported to the nest at hand."""

from __future__ import annotations

from collections.abc import Collection

from loopbook.client.layered import LayeredBook
from loopbook.client.port import port
from loopbook.program.nest import Nest
from loopbook.recipes.recipe import Recipe

MOST = 6
"""Recipes that are given."""

LOOKED_AT = 16
"""Records looked at; many of them hold the same recipe, or one that cannot be ported."""


def ported_neighbours(
    layered: LayeredBook, nest: Nest, target: str, *, exclude: Collection[str] = ()
) -> list[Recipe]:
    """The recipes of at most `MOST` near neighbours in the words of `nest`, nearest first.

    Args:
        exclude: kernels whose records are left out.

    Raises:
        BookError: if a book cannot be read.
    """
    embedding = layered.encoder.encode(nest)
    recipes: list[Recipe] = []
    for near in layered.neighbours(nest, embedding, LOOKED_AT, target, exclude):
        recipe = near.record.recipe
        if not len(recipe):
            continue
        ported = port(recipe, layered.source(near.record), near.embedding, nest, embedding)
        if ported is not None and ported not in recipes:
            recipes.append(ported)
    return recipes[:MOST]
