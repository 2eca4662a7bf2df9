"""Hashes of rows, kept beside them: a row that a failing disk has changed, lost or doubled shows.

A record's id is a hash of all that it says, which is checked when it is loaded. What a look-up
reads before that, the short entries and the vectors, has a hash in each row; and the book counts
its rows and sums their hashes, so that one that is gone is missed. They are against damage: who can
forge a row can forge its hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import sqlalchemy as sa

from loopbook.recipes.schema import EMBEDDINGS, META, RECORDS

ENTRY = ("id", "fingerprint", "target", "kernel", "hardware_id", "speedup", "recipe")
"""The columns of a record that its row's hash is about, in its order."""

RECORDS_KEY = "total records"
_MODULUS = 1 << 128


class Total(NamedTuple):
    """How many rows there are, and the sum of their hashes."""

    count: int
    sum: int

    @classmethod
    def of(cls, digests: Iterable[str]) -> Total:
        numbers = [int(one, 16) for one in digests]
        return cls(len(numbers), sum(numbers) % _MODULUS)

    @classmethod
    def read(cls, text: object) -> Total | None:
        """Undo `text`; None for what is no such text."""
        try:
            count, numbers = str(text).split(" ")
            return cls(int(count), int(numbers, 16))
        except ValueError:
            return None

    @property
    def text(self) -> str:
        return f"{self.count} {self.sum:032x}"

    def changed(self, added: Total, removed: Total) -> Total:
        numbers = (self.sum + added.sum - removed.sum) % _MODULUS
        return Total(self.count + added.count - removed.count, numbers)


def of_entry(values: Sequence[Any]) -> str:
    """The hash of a record's row, given what it has in the columns of `ENTRY`."""
    words = [repr(one) if isinstance(one, float) else str(one) for one in values]
    return _hash("\0".join(words).encode("utf-8", "surrogatepass"))


def of_vector(fingerprint: str, encoder: str, dimension: int, nest: bytes) -> str:
    """The first half of the hash of an embedding's row: of what the search for neighbours reads."""
    return _hash(f"{fingerprint}\0{encoder}\0{dimension}".encode("utf-8", "surrogatepass"), nest)


def of_embedding(row: Mapping[str, Any]) -> str:
    """The hash of an embedding's row: of its vector, then of the rest."""
    vector = of_vector(row["fingerprint"], row["encoder"], row["dimension"], row["nest"])
    rest = _hash(row["names"].encode("utf-8", "surrogatepass"), row["loops"], row["containers"])
    return vector + rest


def _hash(*parts: bytes) -> str:
    state = blake2b(digest_size=8)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.hexdigest()


def vectors_key(encoder: str) -> str:
    """Where the total of one encoder's embeddings is kept."""
    return f"total vectors {_hash(encoder.encode('utf-8', 'surrogatepass'))}"


def total(connection: sa.Connection, key: str) -> Total | None:
    """A total that the book keeps; None if it keeps none, or a damaged one."""
    value = connection.execute(sa.select(META.c.value).where(META.c.key == key)).scalar()
    return None if value is None else Total.read(value)


def totals_of_vectors(connection: sa.Connection) -> dict[str, int]:
    """How many embeddings the book says that it has, by `vectors_key`."""
    query = sa.select(META.c.key, META.c.value).where(META.c.key.startswith("total vectors "))
    told = {row.key: Total.read(row.value) for row in connection.execute(query)}
    return {key: -1 if value is None else value.count for key, value in told.items()}


def note_records(
    connection: sa.Connection, added: Iterable[str] = (), removed: Iterable[str] = ()
) -> None:
    """Keep the total of records, by the hashes of those that came and went."""
    every = sa.select(RECORDS.c.digest)
    _note(connection, RECORDS_KEY, Total.of(added), Total.of(removed), every)


def note_vectors(
    connection: sa.Connection,
    encoder: str,
    added: Iterable[str] = (),
    removed: Iterable[str] = (),
) -> None:
    """Keep the total of one encoder's embeddings, by the hashes of those that came and went."""
    every = sa.select(EMBEDDINGS.c.digest).where(EMBEDDINGS.c.encoder == encoder)
    _note(connection, vectors_key(encoder), Total.of(added), Total.of(removed), every)


def _note(
    connection: sa.Connection, key: str, added: Total, removed: Total, every: sa.Select[Any]
) -> None:
    before = total(connection, key)
    if before is None:
        after = Total.of(row[0] for row in connection.execute(every))
    else:
        after = before.changed(added, removed)
    keep(connection, key, after)


def keep(connection: sa.Connection, key: str, value: Total) -> None:
    """Write a total; that of nothing is left out."""
    connection.execute(sa.delete(META).where(META.c.key == key))
    if value.count:
        connection.execute(sa.insert(META).values({"key": key, "value": value.text}))


def fill(connection: sa.Connection) -> None:
    """Give every row its hash, as it is now, and the book its totals."""
    rows = connection.execute(sa.select(*(RECORDS.c[name] for name in ENTRY))).all()
    _update(connection, RECORDS, [{"k_id": row[0], "d": of_entry(row)} for row in rows])
    note: dict[str, list[str]] = {}
    names = [column.name for column in EMBEDDINGS.columns if column.name != "digest"]
    given = []
    for row in connection.execute(sa.select(*(EMBEDDINGS.c[name] for name in names))):
        digest = of_embedding(dict(row._mapping))
        given.append({"k_fingerprint": row.fingerprint, "k_encoder": row.encoder, "d": digest})
        note.setdefault(row.encoder, []).append(digest)
    _update(connection, EMBEDDINGS, given)
    connection.execute(sa.delete(META).where(META.c.key.startswith("total ")))
    keep(connection, RECORDS_KEY, Total.of(of_entry(row) for row in rows))
    for encoder, digests in note.items():
        keep(connection, vectors_key(encoder), Total.of(digests))


def _update(connection: sa.Connection, table: sa.Table, rows: list[dict[str, str]]) -> None:
    if not rows:
        return
    own = sa.and_(
        *(table.c[name.removeprefix("k_")] == sa.bindparam(name) for name in rows[0] if name != "d")
    )
    connection.execute(sa.update(table).where(own).values(digest=sa.bindparam("d")), rows)
