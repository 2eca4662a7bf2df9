"""Optimises an SDFG that somebody else is going to compile, in place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from loopbook import targets
from loopbook.client.decision import NestReport, Plan, left_to_docc
from loopbook.client.layered import LayeredBook
from loopbook.client.opening import open_book
from loopbook.client.plan import plan_nests
from loopbook.errors import SdfgError


@dataclass(frozen=True)
class Report:
    """What `optimize` did.

    Attributes:
        nests: what was found and done for each nest.
    """

    target: str
    nests: tuple[NestReport, ...]

    @property
    def optimised(self) -> int:
        """How many nests a record of the book decided about."""
        return sum(nest.tier != "none" for nest in self.nests)

    def to_json(self) -> dict[str, Any]:
        return {"target": self.target, "nests": [nest.to_json() for nest in self.nests]}


def optimize(
    sdfg: Any,
    *,
    target: str = targets.DEFAULT,
    book: LayeredBook | None = None,
    exclude: Collection[str] = (),
    max_distance: float | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Report:
    """Give an SDFG the schedule that the book knows best, in place.

    It is expanded, simplified and normalised, recipes are applied to its nests, and whatever has
    none gets docc's own schedule. If no nest has one, the result is what docc itself would make.

    Variables cannot be renamed in place. Where loops share induction variables, as they do in most
    Python programs of more than one nest, `loopbook.native` and the ``loopbook`` target do better.

    Args:
        sdfg: docc's ``StructuredSDFG``.
        book: default the user's book over the starter book.
        sizes: values of the SDFG's size symbols, such as ``{"_s0": 1000}``, to choose recipes for.
            Without them, recipes that lost at any size measured are not used.

    Raises:
        InputError: if nothing can be compiled for such a target here.
        SdfgError: if docc cannot handle the SDFG.
        BookError: if a book cannot be read.
    """
    targets.runnable(target)
    if not hasattr(sdfg, "to_json"):
        raise SdfgError(f"a {type(sdfg).__name__} is no SDFG: give docc's StructuredSDFG")
    own = book is None
    book = book or open_book()
    try:
        plan = schedule(sdfg, target, book, exclude=exclude, max_distance=max_distance, sizes=sizes)
        book.note_misses(plan.missed, target)
    finally:
        if own:
            book.close()
    return Report(target, plan.nests)


def schedule(
    sdfg: Any,
    target: str,
    book: LayeredBook,
    *,
    exclude: Collection[str] = (),
    max_distance: float | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Plan:
    """`optimize` without the bookkeeping around it."""
    from loopbook.sdfg import inplace, marks, program

    text = sdfg.to_json()
    copy = program.normalised(text)
    if copy is None:
        reason = "docc normalises the program in a way that may change what it computes"
        prepared, nests = program.prepare_nests(text)
        normal = not marks.misordered(prepared.to_json())  # docc's own way, with fusion
        inplace.schedule(sdfg, target, None, normal=normal)
        return Plan(target, tuple(left_to_docc(nest, None, None, reason) for nest in nests))
    plan = plan_nests(
        program.nests(copy),
        copy.to_json(),
        target,
        book,
        exclude=exclude,
        max_distance=max_distance,
        sizes=sizes,
        in_place=True,
    )
    inplace.schedule(sdfg, target, plan.recipes if plan.active else None)
    return plan
