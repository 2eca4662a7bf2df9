"""Records and embeddings to rows of the tables, many at a time: one by one, making the statements
takes longer than what they do."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import islice
from typing import Any, TypeVar

import sqlalchemy as sa

from loopbook.errors import InputError
from loopbook.recipes import _digests, _log
from loopbook.recipes.embedding import Embedding, to_bytes
from loopbook.recipes.record import Record
from loopbook.recipes.schema import EMBEDDINGS, HARDWARE, NESTS, RECORDS

BATCH = 400
"""Values of one statement. SQLite takes 999 in its oldest form still around."""

WANTED = sa.bindparam("wanted", expanding=True)
"""Stands for the values of one of the `batches` in a statement that is made once."""

Item = TypeVar("Item")


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """The items, `BATCH` at a time."""
    rest = iter(items)
    while batch := list(islice(rest, BATCH)):
        yield batch


def insert_records(connection: sa.Connection, records: Iterable[Record]) -> list[Record]:
    """Write at most `BATCH` records with their nests and hardware; returns those that are new."""
    new = {record.id: record for record in records}
    for known in _known(connection, RECORDS, new):
        del new[known]
    rows, nests, machines = [], {}, {}
    for record in new.values():
        profile = json.dumps(record.hardware.to_json(), sort_keys=True)
        hardware, nest = digest_of(profile), digest_of(record.nest_json)
        machines[hardware] = {"id": hardware, "key": record.hardware.key, "body": profile}
        nests[nest] = record.nest_json
        rows.append(_row(record, nest, hardware))
    for known in _known(connection, HARDWARE, machines):
        del machines[known]
    for known in _known(connection, NESTS, nests):
        del nests[known]
    packed = [
        {"id": name, "body": zlib.compress(text.encode("utf-8"), 9)} for name, text in nests.items()
    ]
    for table, values in ((HARDWARE, list(machines.values())), (NESTS, packed), (RECORDS, rows)):
        if values:
            connection.execute(sa.insert(table), values)
    if rows:
        _digests.note_records(connection, added=[row["digest"] for row in rows])
    return list(new.values())


def put_embeddings(connection: sa.Connection, items: Iterable[tuple[str, Embedding]]) -> set[str]:
    """Write at most `BATCH` embeddings of nests, given by fingerprint, in place of those that the
    same encoders made; returns the fingerprints of those that were not there.

    Raises:
        InputError: a vector is not finite, or not as long as others of its encoder.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for fingerprint, embedding in items:
        if not embedding.is_finite():
            raise InputError(f"the embedding of nest {fingerprint} holds NaN or infinity")
        row: dict[str, Any] = {
            "fingerprint": fingerprint,
            "encoder": embedding.encoder,
            "dimension": embedding.dimension,
            "nest": to_bytes(embedding.nest),
            "loops": to_bytes(embedding.loops),
            "containers": to_bytes(embedding.containers),
            "names": json.dumps([embedding.loop_names, embedding.container_names]),
        }
        row["digest"] = _digests.of_embedding(row)
        rows[fingerprint, embedding.encoder] = row
    _check_dimensions(connection, rows.values())
    fingerprints = {fingerprint for fingerprint, _ in rows}
    query = sa.select(EMBEDDINGS).where(EMBEDDINGS.c.fingerprint.in_(fingerprints))
    old = {(row.fingerprint, row.encoder): dict(row._mapping) for row in connection.execute(query)}
    changed = {key: row for key, row in rows.items() if old.get(key) != row}
    replaced = [{"f": f, "e": e} for f, e in changed if (f, e) in old]
    if replaced:
        columns = EMBEDDINGS.c
        own = (columns.fingerprint == sa.bindparam("f")) & (columns.encoder == sa.bindparam("e"))
        connection.execute(sa.delete(EMBEDDINGS).where(own), replaced)
    if changed:
        connection.execute(sa.insert(EMBEDDINGS), list(changed.values()))
    for encoder in {encoder for _, encoder in changed}:
        ours = [key for key in changed if key[1] == encoder]
        removed = [old[key]["digest"] for key in ours if key in old]
        added = [changed[key]["digest"] for key in ours]
        _digests.note_vectors(connection, encoder, added, removed)
    return {fingerprint for fingerprint, _ in changed}


def _check_dimensions(connection: sa.Connection, rows: Iterable[Mapping[str, Any]]) -> None:
    known: dict[str, int] = {}
    for row in rows:
        encoder, dimension = row["encoder"], row["dimension"]
        if encoder not in known:
            own = EMBEDDINGS.c.encoder == encoder
            sizes = sa.select(EMBEDDINGS.c.dimension).where(own).limit(1)
            known[encoder] = connection.execute(sizes).scalar() or dimension
        if dimension != known[encoder]:
            raise InputError(
                f"encoder {encoder} gave vectors of {known[encoder]} numbers before, "
                f"not {dimension}: give the new encoder another name"
            )


def _known(connection: sa.Connection, table: sa.Table, ids: Collection[str]) -> list[str]:
    """Those ids that the table has."""
    there = sa.select(table.c.id).where(table.c.id.in_(ids))
    return [row.id for row in connection.execute(there)]


def _row(record: Record, nest_id: str, hardware_id: str) -> dict[str, Any]:
    row = {
        "id": record.id,
        "fingerprint": record.fingerprint,
        "nest_id": nest_id,
        "hardware_id": hardware_id,
        "nest": record.nest,
        "kernel": record.kernel,
        "target": record.target,
        "recipe": record.recipe.text(),
        "measurements": compact([one.to_json() for one in record.measurements]),
        "provenance": compact(record.provenance.to_json()),
        "speedup": record.speedup,
    }
    return row | {"digest": _digests.of_entry([row[name] for name in _digests.ENTRY])}


def compact(value: Any) -> str:
    """JSON without spaces: there are many records."""
    return json.dumps(value, separators=(",", ":"))


def digest_of(text: str) -> str:
    """The id of a nest's or a machine's row, by its text."""
    return sha256(text.encode("utf-8")).hexdigest()[:32]


def insert_all(
    connection: sa.Connection, items: Iterable[tuple[Record, Iterable[Embedding]]]
) -> list[Record]:
    """Add records with embeddings in a transaction; returns those that are new."""
    new: list[Record] = []
    embedded: set[str] = set()
    for batch in batches(items):
        new += insert_records(connection, (record for record, _ in batch))
        vectors = ((r.fingerprint, one) for r, embeddings in batch for one in embeddings)
        for part in batches(vectors):
            embedded |= put_embeddings(connection, part)
    if new or embedded:
        _log.note(connection, embedded, {record.fingerprint for record in new})
    return new
