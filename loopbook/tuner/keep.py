"""Puts what the tuner found into a book."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loopbook.embed.inference import Encoder
from loopbook.program.load import load_json
from loopbook.program.nests import read_nests
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
        return [record for record in records if record.hardware.key == key]

    def keep(self, records: Sequence[Record]) -> None:
        """Add a program's records with their embeddings in one transaction, all or none.

        Raises:
            BookError: if the book cannot be written.
        """
        nests = [read_nests(load_json(record.nest_json))[0] for record in records]
        embeddings = self._encoder.encode_many(nests)
        self._book.add_many(
            (record, [embedding]) for record, embedding in zip(records, embeddings, strict=True)
        )
