"""Puts what the tuner found into a book."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loopbook.embed.inference import Encoder
from loopbook.program.load import load_json
from loopbook.program.nest import Nest
from loopbook.program.nests import read_nests
from loopbook.program.regions import is_region
from loopbook.recipes.book import Book
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Record
from loopbook.tuner.seed import Job


class Keeper:
    """A book and the encoder that makes its nests comparable.

    Args:
        hardware: target to the profile that is tuned for.
    """

    def __init__(
        self, book: Book, encoder: Encoder, hardware: Callable[[str], HardwareProfile]
    ) -> None:
        self._book = book
        self._encoder = encoder
        self._hardware = hardware

    def known(self, job: Job) -> list[Record]:
        """The records that the book holds for a job, of this hardware."""
        key = self._hardware(job.target).key
        records = self._book.records(target=job.target, kernel=job.task.name)
        return [
            record
            for record in records
            if record.hardware.key == key and is_region(_nest(record).loop) == job.regions
        ]

    def keep(self, records: Sequence[Record]) -> list[Record]:
        """Add a program's records with their embeddings in one transaction, all or none.

        What the book says already is not added: to tune a program once more, and to find the same,
        is nothing new.

        Returns:
            The records as the book has them: in place of what is not added, what says the same.

        Raises:
            BookError: if the book cannot be written.
        """
        kept = [self._known_as(record) or record for record in records]
        new = [record for record, own in zip(records, kept, strict=True) if own is record]
        embeddings = self._encoder.encode_many([*map(_nest, new)])
        self._book.add_many(
            (record, [embedding]) for record, embedding in zip(new, embeddings, strict=True)
        )
        return kept

    def _known_as(self, record: Record) -> Record | None:
        known = self._book.exact(record.fingerprint, record.target, record.hardware.key)
        return next((one for one in known if _says(one) == _says(record)), None)


def _nest(record: Record) -> Nest:
    return read_nests(load_json(record.nest_json))[0]


def _says(record: Record) -> tuple[object, ...]:
    """What a record claims; how it was measured is left out, but for the versions and sizes."""
    made = record.provenance
    return (
        record.nest,
        record.recipe,
        (made.kernel, made.docc, made.compiler, made.loopbook),
        [dict(one.sizes) for one in record.measurements],
    )
