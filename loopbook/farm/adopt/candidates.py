"""Which recipes to compare on a nest: those of its own records from other machines, and what the
model takes for the best of its neighbours'."""

from __future__ import annotations

from collections.abc import Iterable

from loopbook.client.layered import LayeredBook
from loopbook.client.plan import plan_nests
from loopbook.errors import LoopbookError
from loopbook.farm.adopt.worklist import Entry
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.rescale import rescaled
from loopbook.sdfg.arguments import size_names
from loopbook.sdfg.program import prepare_apart
from loopbook.sdfg.untrusted import admit
from loopbook.tuner.sizes import sizes_for

OWN, NEAR = 4, 2
"""Recipes of the nest's own records, and of neighbours."""


class Proposals:
    """Proposes recipes of a layered book for its own nests."""

    def __init__(self, layered: LayeredBook) -> None:
        self._layered = layered
        # As if the nest at hand were unknown: planning would look no further than its own records.
        self._apart = LayeredBook(
            layered.books, layered.encoder, cost_model=layered.cost_model, lent=layered.books
        )
        self._apart.profile = layered.profile

    def __call__(self, entry: Entry) -> list[Recipe]:
        """The recipes to compare on a nest, the most promising first; none without steps.

        Raises:
            BookError: a book can't be read.
        """
        own = self._own(entry)[:OWN]
        near = [] if entry.strange else [one for one in self._near(entry) if one not in own]
        return [*own, *near[:NEAR]]

    def _own(self, entry: Entry) -> list[Recipe]:
        """The recipes of the nest's records with sizes for this machine, and behind these as they
        are: machines may like what a wider one likes."""
        record = entry.record
        here = self._layered.hardware(record.target)
        found = self._layered.exact(record.fingerprint, record.target)
        found.sort(key=lambda one: (one.id != record.id, here.distance(one.hardware), -one.best))
        anew = _different(rescaled(one.recipe, one.hardware, here) for one in found)
        return _different([*anew[: OWN - 1], *(one.recipe for one in found), *anew])

    def _near(self, entry: Entry) -> list[Recipe]:
        """What planning would measure if the books did not know the nest; nothing where the nest
        can't be read or planned for."""
        record = entry.record
        self._apart.without = frozenset([record.fingerprint])
        self._apart.forget()
        try:
            text, nests = prepare_apart(admit(record.nest_json).text)
            if len(nests) != 1:
                return []
            sizes = sizes_for(nests[0], size_names(text), entry.trips)
            plan = plan_nests(
                nests, text, record.target, self._apart, choices=OWN + NEAR, sizes=sizes
            )
        except LoopbookError:
            return []
        return _different(choice.recipe for choice in plan.choices.get(0, ()))


def _different(recipes: Iterable[Recipe]) -> list[Recipe]:
    return [one for one in dict.fromkeys(recipes) if len(one)]
