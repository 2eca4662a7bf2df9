"""Optimises an SDFG that somebody else is going to compile."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from loopbook import targets
from loopbook.client.decision import NestReport, nests_table, told_of_nests
from loopbook.client.plan import finish_plan
from loopbook.client.served import Book, served
from loopbook.display import brief
from loopbook.errors import SdfgError


@dataclass(frozen=True)
class Optimized:
    """What `optimize` has made of an SDFG.

    ::

        done = loopbook.optimize(sdfg)
        f"{done.optimised} of {len(done.nests)} nests"

    Attributes:
        sdfg: docc's ``StructuredSDFG``, scheduled: what is left to do is to compile it.
        target: what it is scheduled for.
        nests: what was found and done for each nest; none where docc cannot prepare the program.
    """

    sdfg: Any
    target: str
    nests: tuple[NestReport, ...]

    def __repr__(self) -> str:
        return brief(self, told_of_nests(self.target, self.nests))

    def _repr_html_(self) -> str:
        return nests_table(self.nests, f"Optimised {told_of_nests(self.target, self.nests)}")

    @property
    def optimised(self) -> int:
        """How many nests a record of the book decided about."""
        return sum(nest.tier != "none" for nest in self.nests)

    def to_json(self) -> dict[str, Any]:
        """The report, without the SDFG."""
        return {"target": self.target, "nests": [nest.to_json() for nest in self.nests]}


def optimize(
    sdfg: Any,
    *,
    target: str = targets.DEFAULT,
    book: Book = None,
    exclude: Collection[str] = (),
    max_distance: float | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Optimized:
    """A new SDFG, scheduled in the best way that the book knows.

    It is what `loopbook.native` would compile: the program is prepared, recipes of every kind are
    applied to its nests, and whatever has none gets docc's own schedule. If no nest has one, the
    result is what docc itself would make. It has the name, the arguments and the metadata of the
    one given, which is left as it is.

    ::

        done = loopbook.optimize(sdfg, target="openmp", sizes={"_s0": 1000})
        done.sdfg                      # to be compiled
        done.nests[0].reason           # "ported from a neighbour"

    Args:
        sdfg: docc's ``StructuredSDFG``, as its front end makes it: not scheduled yet.
        book: an open `LayeredBook`, or the path of one to put over the starter book; default
            the user's.
        sizes: values of the SDFG's size symbols, such as ``{"_s0": 1000}``, to choose recipes for.
            Without them, recipes that lost at any size measured are not used.

    Raises:
        InputError: if nothing can be compiled for such a target here.
        SdfgError: if docc cannot handle the SDFG.
        BookError: if a book cannot be read.
        RunError: if docc crashes or hangs.
    """
    targets.runnable(target)
    if not hasattr(sdfg, "to_json"):
        raise SdfgError(f"a {type(sdfg).__name__} is no SDFG: give docc's StructuredSDFG")
    from loopbook.sdfg import program

    plan, finished = served(
        sdfg.to_json(),
        target,
        finish_plan,
        book,
        exclude=exclude,
        max_distance=max_distance,
        sizes=sizes,
    )
    return Optimized(program.parse(finished), target, plan.nests)
