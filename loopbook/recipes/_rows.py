"""Records and embeddings to rows of the tables and back."""

from __future__ import annotations

import json
import zlib
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from loopbook.errors import BookError, InputError
from loopbook.recipes.embedding import Embedding, from_bytes, to_bytes
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import MAX_NEST, Measurement, Provenance, Record
from loopbook.recipes.schema import EMBEDDINGS, HARDWARE, NESTS, RECORDS


class readable:
    """A row that can't be read back is damage to the book, not bad input."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (InputError, ValueError, TypeError, KeyError, zlib.error)):
            raise BookError(f"book {self.name} is damaged: {error}") from error


def insert_record(connection: sa.Connection, record: Record) -> bool:
    """Write one record with its nest and hardware; False if it is there."""
    if connection.execute(sa.select(RECORDS.c.id).where(RECORDS.c.id == record.id)).first():
        return False
    profile = json.dumps(record.hardware.to_json(), sort_keys=True)
    hardware = {"id": _digest(profile), "key": record.hardware.key, "body": profile}
    nest = {
        "id": _digest(record.nest_json),
        "body": zlib.compress(record.nest_json.encode("utf-8"), 9),
    }
    for table, values in ((HARDWARE, hardware), (NESTS, nest)):
        there = sa.select(table.c.id).where(table.c.id == values["id"])
        if not connection.execute(there).first():
            connection.execute(sa.insert(table).values(values))
    connection.execute(
        sa.insert(RECORDS).values(
            id=record.id,
            fingerprint=record.fingerprint,
            nest_id=nest["id"],
            hardware_id=hardware["id"],
            nest=record.nest,
            kernel=record.kernel,
            target=record.target,
            recipe=record.recipe.text(),
            measurements=json.dumps([one.to_json() for one in record.measurements]),
            provenance=json.dumps(record.provenance.to_json()),
            speedup=record.speedup,
        )
    )
    return True


def put_embedding(connection: sa.Connection, fingerprint: str, embedding: Embedding) -> bool:
    """Write one embedding; False if that very one is there."""
    if not embedding.is_finite():
        raise InputError(f"the embedding of nest {fingerprint} holds NaN or infinity")
    same_encoder = EMBEDDINGS.c.encoder == embedding.encoder
    sizes = sa.select(EMBEDDINGS.c.dimension).where(same_encoder).limit(1)
    dimension = connection.execute(sizes).scalar()
    if dimension not in (None, embedding.dimension):
        raise InputError(
            f"encoder {embedding.encoder} gave vectors of {dimension} numbers before, "
            f"not {embedding.dimension}: give the new encoder another name"
        )
    row = {
        "fingerprint": fingerprint,
        "encoder": embedding.encoder,
        "dimension": embedding.dimension,
        "nest": to_bytes(embedding.nest),
        "loops": to_bytes(embedding.loops),
        "containers": to_bytes(embedding.containers),
        "names": json.dumps([embedding.loop_names, embedding.container_names]),
    }
    where = (EMBEDDINGS.c.fingerprint == fingerprint) & same_encoder
    there = connection.execute(sa.select(EMBEDDINGS).where(where)).first()
    if there is not None and dict(there._mapping) == row:
        return False
    connection.execute(sa.delete(EMBEDDINGS).where(where))
    connection.execute(sa.insert(EMBEDDINGS).values(row))
    return True


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


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()[:32]
