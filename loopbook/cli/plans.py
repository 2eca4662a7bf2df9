"""What a query's program is planned to become: `explain` and `optimize` ask for the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loopbook.cli.query import Query
from loopbook.errors import SdfgError

if TYPE_CHECKING:
    from loopbook.client.decision import Plan


def plan_for(query: Query, *, choices: int = 1) -> Plan:
    """The plan for a query's program.

    Args:
        choices: recipes to find for each nest, see `loopbook.client.plan.make_plan`.

    Raises:
        SdfgError: it has no loops, or is no usable SDFG.
    """
    from loopbook.client.opening import open_book
    from loopbook.client.plan import make_plan

    source = query.source
    with open_book(query.book) as layered:
        plan = make_plan(
            source.text,
            query.target,
            layered,
            exclude=query.exclude,
            choices=choices,
            sizes=source.symbols,
            expressions=source.call is not None and source.call.lowered is not None,
        )
    some_nests(list(plan.nests), source.name)
    return plan


def some_nests(nests: list[Any], name: str) -> list[Any]:
    """The nests.

    Raises:
        SdfgError: there are none.
    """
    if not nests:
        raise SdfgError(f"{name} has no loops: there is nothing to look up")
    return nests
