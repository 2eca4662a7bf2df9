"""The nests that records are about, and what planning wants to know of them: read once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from loopbook.errors import BookError
from loopbook.recipes.record import Record

if TYPE_CHECKING:
    from loopbook.client.sketch import Sketch
    from loopbook.program.nest import Nest
    from loopbook.recipes.book import Book

Bodies = tuple[np.ndarray, np.ndarray]
"""Features of a nest before and after its recipe, see `loopbook.predict.rows.Donor`."""


class Sources:
    """What has been read of records' nests."""

    def __init__(self) -> None:
        self._nests: dict[str, Nest] = {}
        self._sketches: dict[str, Sketch] = {}
        self._bodies: dict[str, Bodies] = {}

    def nest(self, record: Record) -> Nest:
        """The nest that a record is about.

        Raises:
            BookError: if the record's nest cannot be read.
        """
        from loopbook.client.sketch import nest_of

        if record.nest_json not in self._nests:
            self._nests[record.nest_json] = nest_of(record)
        return self._nests[record.nest_json]

    def sketches(self, records: Sequence[Record], books: Sequence[Book]) -> list[Sketch]:
        """The records' sketches: as books have them, else made from the nests.

        Raises:
            BookError: if a nest has to be read and cannot be.
        """
        from loopbook.client.sketch import kept, sketch

        missing = {record.id: record for record in records if record.id not in self._sketches}
        for book in books if missing else ():
            with suppress(BookError):  # it is damaged: what it lacks is made
                self._sketches |= kept(book, missing.values())
            missing = {n: record for n, record in missing.items() if n not in self._sketches}
        for name, record in missing.items():
            self._sketches[name] = sketch(record, self.nest(record))
        return [self._sketches[record.id] for record in records]

    def bodies(self, record: Record, source: Sketch) -> Bodies:
        """The features of a record's nest with and without its recipe, at its largest size.

        Args:
            source: the record's sketch.

        Raises:
            BookError: if the nest has to be read and cannot be.
        """
        from loopbook.client.sketch import bodies_of

        if (known := source.bodies) is not None:
            return known
        if record.id not in self._bodies:
            self._bodies[record.id] = bodies_of(record, self.nest(record))
        return self._bodies[record.id]
