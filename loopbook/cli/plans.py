"""What a query's program is planned to become: `explain` and `optimize` ask for the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from loopbook.cli.answers import Answer
from loopbook.cli.query import Query
from loopbook.errors import SdfgError

if TYPE_CHECKING:
    from loopbook.client.decision import Plan


class Nest(Answer):
    """What is served for a nest.

    Attributes:
        loops: as the program calls them.
        tier: exact, near, library, rows, order, kept, strips, time, threads, sums, or none for
            docc's own schedule.
        neighbour: the record's nest that the recipe is from, or the nearest one.
        distance: to it; null where there is none.
        recipe: its steps, a line each; empty for docc's own schedule.
        predicted_speedup: over docc's own schedule.
    """

    loops: list[str]
    tier: str
    neighbour: str | None
    distance: float | None
    recipe: str
    predicted_speedup: float


WHENCE = {
    "exact": "of this very nest, {neighbour}",
    "near": "ported from {neighbour} at distance {distance:.3f}",
    "library": "a product, which a library computes",
}
"""What is said of a recipe of a tier, where it is not what a plan's report says."""


def whence(nest: Mapping[str, Any]) -> str:
    """Where the recipe of a nest comes from, by what is told of it in JSON."""
    from loopbook.client import decision

    tier = nest["tier"]
    return (WHENCE.get(tier) or decision.WHENCE[tier]).format_map(nest)


def plans_for(query: Query, *choices: int) -> list[Plan]:
    """Plans for a query's program, of one look into the books.

    Args:
        choices: for each of them, recipes to find for a nest, see
            `loopbook.client.plan.make_plan`.

    Raises:
        SdfgError: it has no loops, or is no usable SDFG.
    """
    from loopbook.client.opening import open_book
    from loopbook.client.plan import make_plan

    source = query.source
    with open_book(query.book) as layered:
        plans = [
            make_plan(
                source.text,
                query.target,
                layered,
                exclude=query.exclude,
                choices=count,
                sizes=source.symbols,
                expressions=source.call is not None and source.call.lowered is not None,
                libraries=True,
            )
            for count in choices
        ]
    for plan in plans:
        some_nests(list(plan.nests), source.name)
    return plans


def some_nests(nests: list[Any], name: str) -> list[Any]:
    """The nests.

    Raises:
        SdfgError: there are none.
    """
    if not nests:
        raise SdfgError(f"{name} has no loops: there is nothing to look up")
    return nests
