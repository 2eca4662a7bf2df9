"""Reading the vectors of many nests, for the index over them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

from loopbook.errors import BookError
from loopbook.recipes import _digests
from loopbook.recipes._damage import Damage
from loopbook.recipes._insert import batches
from loopbook.recipes._rows import readable, tags_of, words
from loopbook.recipes.connect import Database
from loopbook.recipes.embedding import from_bytes
from loopbook.recipes.schema import EMBEDDINGS, RECORDS

_PAGE = 8192

Rows = tuple[list[str], np.ndarray, list[frozenset[tuple[str, str]]]]
"""Fingerprints, their vectors, and what their records are for: targets, ids of hardware."""


def vectors_of(
    database: Database, damage: Damage, encoder: str, fingerprints: Sequence[str] | None
) -> Iterator[Rows]:
    """See `loopbook.recipes.store.Store.vectors`."""
    columns = ("fingerprint", "encoder", "dimension", "nest", "digest")
    query = sa.select(*(EMBEDDINGS.c[name] for name in columns))
    query = query.where(EMBEDDINGS.c.encoder == encoder)
    if fingerprints is not None:
        wheres = [EMBEDDINGS.c.fingerprint.in_(batch) for batch in batches(fingerprints)]
        queries = (query.where(where) for where in wheres)
    else:
        queries = itertools.repeat(query.order_by(EMBEDDINGS.c.fingerprint).limit(_PAGE))
    last: str | None = None
    everything = _all_tags(database) if fingerprints is None else None
    for batch in queries:
        if last is not None and fingerprints is None:
            batch = batch.where(EMBEDDINGS.c.fingerprint > last)
        with database.reading() as connection:
            rows = connection.execute(batch).all()
            if not rows:
                if fingerprints is None:
                    return
                continue
            last = words(database.name, (row.fingerprint for row in rows))[-1]
            good = [row for row in rows if _is_whole(row, database.name, damage)]
            names = [row.fingerprint for row in good]
            tags = tags_of(connection, names) if everything is None else everything
        if not good:
            continue
        with readable(database.name):
            data = b"".join(row.nest for row in good)
            vectors = from_bytes(data, len(good), good[0].dimension)
        yield names, vectors, [tags.get(name, frozenset()) for name in names]


def _all_tags(database: Database) -> dict[str, frozenset[tuple[str, str]]]:
    """As `tags`, of all nests; by the rows themselves, since a damaged index may hide some."""
    columns = (RECORDS.c.fingerprint, RECORDS.c.target, RECORDS.c.hardware_id)
    found: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    with database.reading() as connection:
        for fingerprint, target, hardware_id in connection.execute(sa.select(*columns)):
            found[fingerprint].add((target, hardware_id))
    return {fingerprint: frozenset(tags) for fingerprint, tags in found.items()}


def _is_whole(row: Any, book: str, damage: Damage) -> bool:
    try:
        with readable(book):
            if row.digest.startswith(_digests.of_vector(*row[:4])):
                return True
    except BookError:
        pass
    told = f"the embedding of nest {row.fingerprint} by {row.encoder} can't be read"
    damage.met(f"vector of {row.fingerprint}", told, strict=False)
    return False
