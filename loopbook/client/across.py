"""Ported recipes that would have a sweep go across memory where it goes along it.

A neighbour whose loops go down columns may gain a little by a recipe for columns. Ported, it begins
with the interchange that makes a nest go down columns, too, and costs far more than it gains:
`goes_across` tells such recipes. Steps that change more than order and tiles are not judged: what
they gain may be worth it.
"""

from __future__ import annotations

from loopbook.client.thresholds import FEWER_LINES, SHORTEST_INNERMOST, SWEEP
from loopbook.program.nest import Nest
from loopbook.recipes.recipe import Recipe
from loopbook.rules.bands import Band, bands
from loopbook.rules.base import order_after
from loopbook.steps import Step

ORDERS = frozenset(("tile", "interchange", "peel", "unroll", "vectorize", "parallel", "single"))
"""Steps of which the order of iterations that is left is known here."""


def goes_across(nest: Nest, recipe: Recipe) -> bool:
    """Whether after a recipe some sweep of a nest touches clearly more cache lines than before."""
    if not any(step.op == "interchange" for step in recipe):
        return False
    if any(step.op not in ORDERS for step in recipe):
        return False
    return any(_is_worse(band, recipe) for band in bands(nest) if 1 < len(band.loops) <= SWEEP)


def _is_worse(band: Band, recipe: Recipe) -> bool:
    cost = {loop.name: band.lines_along(loop) for loop in band.loops}
    return cost[_innermost(band, recipe)] >= FEWER_LINES * max(cost[band.names[-1]], 1.0)


def _innermost(band: Band, recipe: Recipe) -> str:
    """The loop of a band that accesses go along after a recipe: the innermost one that is left a
    loop, or its tiles, of more than a few iterations."""
    order = order_after(band.names, recipe)
    short = {str(one.args[0]) for one in recipe if one.op == "tile" and _is_short(one)}
    written_out = {str(one.args[0]).rstrip("*") for one in recipe if one.op == "unroll"}
    left = [name for name in order if name not in short | written_out]
    return (left or order)[-1].removesuffix(".tile")


def _is_short(tile: Step) -> bool:
    return int(tile.args[1]) < SHORTEST_INNERMOST
