"""Rows of the tables to records and embeddings."""

from __future__ import annotations

import json
import zlib
from typing import Any

from loopbook.errors import BookError, InputError
from loopbook.recipes.embedding import Embedding, from_bytes
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import MAX_NEST, Measurement, Provenance, Record


class readable:
    """A row that can't be read back is damage to the book, not bad input."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (InputError, ValueError, TypeError, KeyError, zlib.error)):
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
            hardware=HardwareProfile.from_json(json.loads(row.hardware)),
            recipe=Recipe.parse(row.recipe),
            measurements=tuple(Measurement.from_json(m) for m in json.loads(row.measurements)),
            provenance=Provenance.from_json(json.loads(row.provenance)),
        )
        if record.id != row.id:
            raise InputError(f"record {row.id} differs from what was written")
        return record


def embedding_of(book: str, row: Any) -> Embedding:
    """The embedding of a row of ``embeddings``."""
    with readable(book):
        loops, containers = json.loads(row.names)
        return Embedding(
            row.encoder,
            from_bytes(row.nest, 1, row.dimension)[0],
            from_bytes(row.loops, len(loops), row.dimension),
            from_bytes(row.containers, len(containers), row.dimension),
            tuple(loops),
            tuple(containers),
        )
