"""What to expect of recipes on one nest: the head's predictions for what was ported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from loopbook.client.shelf import Bodies, Neighbour, Shelf
from loopbook.client.sizes import Trips
from loopbook.predict.head import Head, Prediction
from loopbook.predict.rows import Donor, Rows
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Record
from loopbook.sdfg.nest import Nest
from loopbook.sdfg.trips import iterations


class Offer(NamedTuple):
    """A recipe in the nest's own words.

    Attributes:
        near: the neighbour that it was ported from.
        dropped: how many of the neighbour's steps are left out.
    """

    near: Neighbour
    recipe: Recipe
    dropped: int = 0


class Appraisal:
    """Predicts how recipes will do on one nest.

    Args:
        trips: of the nest at the size at hand, as far as they are known.
    """

    def __init__(self, head: Head, shelf: Shelf, nest: Nest, target: str, trips: Trips) -> None:
        self._head, self._shelf = head, shelf
        self._rows = Rows(nest, shelf.hardware(target), target, trips)

    def __call__(self, offers: Sequence[Offer]) -> list[Prediction]:
        """One prediction for each offer.

        Raises:
            BookError: if the nest of an offer's record cannot be read.
        """
        return self._head.predict([self._row(offer) for offer in offers])

    def _row(self, offer: Offer) -> np.ndarray:
        near = offer.near
        donor = Donor(
            *_bodies(self._shelf, near.record),
            speedup=near.record.speedup,
            distance=near.distance,
            hardware_distance=near.hardware_distance,
        )
        return self._rows(offer.recipe.steps, donor, offer.dropped)


def _bodies(shelf: Shelf, record: Record) -> Bodies:
    """The features of a record's nest with and without its recipe, at its largest size."""
    if record.id not in shelf.donors:
        nest = shelf.source(record)
        trips = largest(record, nest)
        rows = Rows(nest, record.hardware, record.target, trips)
        shelf.donors[record.id] = rows.bodies(record.recipe.steps)
    return shelf.donors[record.id]


def largest(record: Record, nest: Nest) -> Trips:
    """How often the loops of a record's nest ran at the largest size measured."""
    sizes = [measured.trips for measured in record.measurements if measured.trips]
    return max(sizes, key=lambda trips: iterations(nest, trips) or 0, default={})
