"""Rows of the tables to records and embeddings."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from loopbook.errors import BookError, InputError
from loopbook.recipes import _digests
from loopbook.recipes._insert import batches
from loopbook.recipes.embedding import Embedding, from_bytes
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import MAX_NEST, Measurement, Provenance, Record
from loopbook.recipes.schema import RECORDS

_UNREADABLE = (
    InputError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    OverflowError,
    RecursionError,
    zlib.error,
)


class Entry(NamedTuple):
    """What ranking needs of a record, without its nest and measurements."""

    id: str
    fingerprint: str
    target: str
    kernel: str
    hardware_id: str
    speedup: float
    recipe: str


ENTRY_TYPES = [str, str, str, str, str, float, str]
"""Of the columns of an `Entry`."""


class Miss(NamedTuple):
    """A nest that was asked for and not found.

    Attributes:
        count: how often it was asked for.
        last_seen: when last, ISO 8601 in UTC.
    """

    fingerprint: str
    target: str
    hardware_key: str
    nest: str
    count: int
    last_seen: str


class readable:
    """A row that can't be read back is damage to the book, not bad input."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, _UNREADABLE):
            raise BookError(f"book {self.name} is damaged: {error}") from error


def record_of(book: str, row: Any) -> Record:
    """The record of a row of ``records`` joined with its nest's body and its hardware."""
    with readable(book):
        # A bound, so that a damaged or hostile row can't fill the memory.
        inflate = zlib.decompressobj()
        body = inflate.decompress(row.body, 4 * MAX_NEST)
        if inflate.unconsumed_tail or not inflate.eof:
            raise InputError(f"the nest of record {row.id} can't be unpacked")
        record = Record(
            fingerprint=row.fingerprint,
            nest=row.nest,
            nest_json=body.decode("utf-8"),
            target=row.target,
            hardware=_machine(row.hardware),
            recipe=Recipe.parse(row.recipe),
            measurements=tuple(Measurement.from_json(m) for m in json.loads(row.measurements)),
            provenance=Provenance.from_json(json.loads(row.provenance)),
        )
        if record.id != row.id:
            raise InputError(f"record {row.id} differs from what was written")
        return record


@lru_cache(maxsize=256)
def _machine(text: str) -> HardwareProfile:
    """The profile in a row; most records are about few machines."""
    return HardwareProfile.from_json(json.loads(text))


def embedding_of(book: str, row: Any) -> Embedding:
    """The embedding of a row of ``embeddings``."""
    with readable(book):
        if _digests.of_embedding(row._mapping) != row.digest:
            name = f"the embedding of nest {row.fingerprint} by {row.encoder}"
            raise InputError(f"{name} differs from what was written")
        loops, containers = json.loads(row.names)
        return Embedding(
            row.encoder,
            from_bytes(row.nest, 1, row.dimension)[0],
            from_bytes(row.loops, len(loops), row.dimension),
            from_bytes(row.containers, len(containers), row.dimension),
            tuple(loops),
            tuple(containers),
        )


def tags_of(
    connection: sa.Connection, fingerprints: Sequence[str]
) -> dict[str, frozenset[tuple[str, str]]]:
    """For each nest with records, what they are for: target and id of the hardware."""
    found: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    columns = (RECORDS.c.fingerprint, RECORDS.c.target, RECORDS.c.hardware_id)
    for batch in batches(fingerprints):
        query = sa.select(*columns).distinct().where(RECORDS.c.fingerprint.in_(batch))
        for fingerprint, target, hardware_id in connection.execute(query):
            found[fingerprint].add((target, hardware_id))
    return {fingerprint: frozenset(tags) for fingerprint, tags in found.items()}


def words(book: str, values: Iterable[Any]) -> list[str]:
    """The values, if they are text: SQLite keeps whatever it was given, damage included."""
    found = list(values)
    if not all(isinstance(word, str) for word in found):
        raise BookError(f"book {book} is damaged: a name is no text")
    return found
