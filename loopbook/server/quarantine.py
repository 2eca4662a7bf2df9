"""Contributed records that wait: nobody is served one before it is promoted.

A record gets out by an administrator's word, or because a machine that the server's owner trusts
has measured that it gains; then what is served is that measurement, not what was claimed. That
others contribute the same recipe for the same nest only has it measured sooner. A served record
that such a machine sees lose comes back here, and so does one that loses where it runs, as enough
callers report (`loopbook.server.field`).
"""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from loopbook.errors import BookError, InputError, OverloadError
from loopbook.recipes.book import Book
from loopbook.recipes.connect import Database
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.record import MAX_NEST, Record
from loopbook.recipes.schema import MISSES
from loopbook.server.tables import JUDGEMENTS, QUARANTINE
from loopbook.server.trust import FIELD, GAINS, KEEP, OWNER, PROMOTE, REJECT, RETURN, Judgement
from loopbook.steps import respelled

KNOWN, WAITING, PROMOTED = "known", "quarantine", "promoted"
"""What becomes of a contributed record."""

MOST = 100_000
"""Records that may wait at the same time."""

MOST_OF_ONE = 10_000
"""Records of one contributor that may."""


class Waiting(NamedTuple):
    """A record in quarantine.

    Attributes:
        contributor: id of the token that it came with; empty for one that was served.
        received: ISO 8601 in UTC.
        confirmations: tokens that the same recipe for the same nest came with.
        misses: how often the nest was asked for in vain.
        why: what was last found out about it.
    """

    id: str
    fingerprint: str
    target: str
    recipe: str
    speedup: float
    contributor: str
    received: str
    confirmations: int
    misses: int
    why: str


class Judged(NamedTuple):
    """What became of a record.

    Attributes:
        id: of the record that is served now, where that is another one; else its own.
        decision: see `loopbook.server.trust`.
    """

    id: str
    decision: str


class Quarantine:
    """The records that wait in one database, and the book that they get into."""

    def __init__(self, database: Database, book: Book) -> None:
        self._database = database
        self._book = book
        self._respell()

    def _respell(self) -> None:
        """Rows written before have the names that steps had then; claims are compared as text."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(QUARANTINE.c.id, QUARANTINE.c.recipe)).all()
        old = {row.id: text for row in rows if (text := respelled(row.recipe)) != row.recipe}
        if old:
            with self._database.writing() as connection:
                for name, text in old.items():
                    own = QUARANTINE.c.id == name
                    connection.execute(sa.update(QUARANTINE).where(own).values(recipe=text))

    def receive(
        self, record: Record, embedding: Embedding, contributor: str, *, trusted: bool = False
    ) -> str:
        """Take a checked record in, for good once this returns.

        Args:
            trusted: whoever contributes it is a machine of the owner's, and what it measured is
                a measurement.

        Returns:
            `KNOWN` if it is here or in the book already or was decided about, `WAITING`, or
            `PROMOTED` if it is trusted and gains.

        Raises:
            OverloadError: too many wait already.
        """
        if self._book.record(record.id) is not None or self._decided(record.id):
            return KNOWN
        if trusted and record.speedup > GAINS:
            self._book.add(record, embedding)
            self._close(record, PROMOTE, by=contributor, became=record.id)
            return PROMOTED
        row = _row(record, embedding, contributor)
        there = sa.select(QUARANTINE.c.id).where(QUARANTINE.c.id == record.id)
        count = sa.select(sa.func.count()).select_from(QUARANTINE)
        with self._database.writing() as connection:
            if connection.execute(there).first():
                return KNOWN
            own = count.where(QUARANTINE.c.contributor == contributor)
            if (connection.execute(count).scalar() or 0) >= MOST:
                raise OverloadError("too many records wait for being measured again")
            if (connection.execute(own).scalar() or 0) >= MOST_OF_ONE:
                raise OverloadError("too many records of yours wait for being measured again")
            connection.execute(sa.insert(QUARANTINE).values(row))
        return WAITING

    def all(self, limit: int = 1000) -> list[Waiting]:
        """Records that wait, in the order in which to measure them.

        Contributors take turns. Of one's records those come first that most others have confirmed,
        then those of nests that were asked for in vain most often, then the oldest.
        """
        with self._database.reading() as connection:
            return [Waiting(*row) for row in connection.execute(_in_order().limit(limit))]

    def record(self, record_id: str) -> Record | None:
        """The record of this id, if it waits."""
        found = self._read(record_id)
        return None if found is None else found[0]

    def served_record(self, record_id: str) -> Record | None:
        """The record of this id, if it is in the book."""
        return self._book.record(record_id)

    def promote(self, record_id: str, by: str = OWNER) -> bool:
        """Move a record into the book as it is, by an administrator's word; False if none of that
        id waits."""
        found = self._read(record_id)
        if found is None:
            return False
        # First in, then out: whatever happens in between, the record is not lost.
        self._book.add(*found)
        self._close(found[0], PROMOTE, by=by, became=record_id, alone=True)
        return True

    def reject(self, record_id: str, by: str = OWNER) -> bool:
        """Throw a record away; False if none of that id waits."""
        found = self._read(record_id)
        if found is None:
            return False
        self._close(found[0], REJECT, by=by, alone=True)
        return True

    def judge(self, record_id: str, judgement: Judgement) -> Judged | None:
        """Do what follows from a trusted machine's measurement of a record that waits or is served;
        None if there is none of that id."""
        found = self._read(record_id)
        if found is not None:
            return self._judge_waiting(*found, judgement)
        record = self._book.record(record_id)
        return None if record is None else self._judge_served(record, judgement)

    def served(self, limit: int = 1000) -> list[str]:
        """Ids of records that are served and have a recipe, those first that were never measured by
        a trusted machine, then those whose measurement is oldest."""
        last = sa.select(JUDGEMENTS.c.record, sa.func.max(JUDGEMENTS.c.seq))
        with self._database.reading() as connection:
            rows = connection.execute(last.group_by(JUDGEMENTS.c.record))
            seen = {str(row[0]): int(row[1]) for row in rows}
        ids = [record.id for record in self._book.records() if record.recipe.steps]
        return sorted(ids, key=lambda one: seen.get(one, 0))[:limit]

    def _judge_waiting(
        self, record: Record, embedding: Embedding | None, judgement: Judgement
    ) -> Judged:
        decision = judgement.decision(record, served=False)
        if decision == PROMOTE:
            served = judgement.measured(record)
            self._book.add(served, embedding)
            self._close(record, PROMOTE, judgement, became=served.id)
            return Judged(served.id, decision)
        if decision == REJECT:
            self._close(record, REJECT, judgement, alone=True)
        else:
            self._note(record.id, KEEP, judgement)
        return Judged(record.id, decision)

    def _judge_served(self, record: Record, judgement: Judgement) -> Judged:
        decision = judgement.decision(record, served=True)
        self._note(record.id, decision, judgement)
        if decision == RETURN:
            self._take_back(record)
        return Judged(record.id, decision)

    def withdraw(self, record: Record, why: str) -> bool:
        """Take a served record back because of what callers report; False if it is not in the book.

        Args:
            why: in a line.
        """
        if self._book.record(record.id) is None:
            return False
        self._take_back(record)
        with self._database.writing() as connection:
            row = _judged(record.id, RETURN, None, FIELD, "") | {"message": why}
            connection.execute(sa.insert(JUDGEMENTS).values(row))
        return True

    def withdrawn_before(self, record_id: str) -> int:
        """How often a record, or one whose measurement it replaces, was withdrawn because of what
        callers reported, and served again since."""
        count, seen = 0, set()
        j = JUDGEMENTS.c
        with self._database.reading() as connection:
            while record_id and record_id not in seen:
                seen.add(record_id)
                own = (j.record == record_id) & (j.decision == RETURN) & (j.by == FIELD)
                query = sa.select(sa.func.count()).select_from(JUDGEMENTS).where(own)
                count += connection.execute(query).scalar() or 0
                before = sa.select(j.record).where(
                    (j.became == record_id) & (j.record != record_id) & (j.decision == PROMOTE)
                )
                record_id = connection.execute(before.limit(1)).scalar() or ""
        return count

    def _take_back(self, record: Record) -> None:
        """A record moves from the book into quarantine."""
        encoders = self._book.encoders()
        found = (self._book.embedding(record.fingerprint, one) for one in encoders)
        embedding = next((one for one in found if one is not None), None)
        with self._database.writing() as connection:
            row = _row(record, embedding, "")
            connection.execute(sa.delete(QUARANTINE).where(QUARANTINE.c.id == record.id))
            connection.execute(sa.insert(QUARANTINE).values(row))
        self._book.delete(record.id)

    def _note(self, record_id: str, decision: str, judgement: Judgement) -> None:
        with self._database.writing() as connection:
            row = _judged(record_id, decision, judgement, judgement.by, "")
            connection.execute(sa.insert(JUDGEMENTS).values(row))

    def _close(
        self,
        record: Record,
        decision: str,
        judgement: Judgement | None = None,
        *,
        by: str = OWNER,
        became: str = "",
        alone: bool = False,
    ) -> None:
        """Take a record out of the quarantine, for good, with those that claim the same unless it
        is meant `alone`."""
        which = QUARANTINE.c.id == record.id
        if not alone:
            which |= _same_claim(record)
        by = by if judgement is None else judgement.by
        with self._database.writing() as connection:
            ids = [str(row.id) for row in connection.execute(sa.select(QUARANTINE).where(which))]
            rows = [_judged(one, decision, judgement, by, became) for one in ids]
            if rows:
                connection.execute(sa.insert(JUDGEMENTS), rows)
                connection.execute(sa.delete(QUARANTINE).where(QUARANTINE.c.id.in_(ids)))

    def _read(self, record_id: str) -> tuple[Record, Embedding | None] | None:
        body = sa.select(QUARANTINE.c.body).where(QUARANTINE.c.id == record_id)
        with self._database.reading() as connection:
            found = connection.execute(body).scalar()
        return None if found is None else _unpacked(record_id, found)

    def _decided(self, record_id: str) -> bool:
        """Whether a record was promoted, rejected or returned before."""
        query = sa.select(JUDGEMENTS.c.seq).where(
            (JUDGEMENTS.c.record == record_id) & (JUDGEMENTS.c.decision != KEEP)
        )
        with self._database.reading() as connection:
            return connection.execute(query.limit(1)).first() is not None


def _same_claim(record: Record) -> sa.ColumnElement[bool]:
    """The rows of the same recipe for the same nest."""
    return (
        (QUARANTINE.c.fingerprint == record.fingerprint)
        & (QUARANTINE.c.target == record.target)
        & (QUARANTINE.c.recipe == record.recipe.text())
    )


def _in_order() -> sa.Select:
    """All that `Waiting` tells, in order; see `Quarantine.all`."""
    q, claim = QUARANTINE.c, [QUARANTINE.c[name] for name in ("fingerprint", "target", "recipe")]
    others = sa.func.count(sa.distinct(q.contributor)).label("confirmations")
    confirmed = sa.select(*claim, others).group_by(*claim).subquery()
    nest = [MISSES.c.fingerprint, MISSES.c.target]
    missed = sa.select(*nest, sa.func.sum(MISSES.c.count).label("misses")).group_by(*nest)
    missed = missed.subquery()
    newest = sa.select(sa.func.max(JUDGEMENTS.c.seq)).group_by(JUDGEMENTS.c.record)
    last = sa.select(JUDGEMENTS).where(JUDGEMENTS.c.seq.in_(newest)).subquery()
    joined = (
        QUARANTINE.join(confirmed, sa.and_(*(one == confirmed.c[one.name] for one in claim)))
        .outerjoin(
            missed,
            (q.fingerprint == missed.c.fingerprint) & (q.target == missed.c.target),
        )
        .outerjoin(last, q.id == last.c.record)
    )
    misses = sa.func.coalesce(missed.c.misses, 0)
    wanted = (confirmed.c.confirmations.desc(), misses.desc(), q.received, q.id)
    turn = sa.func.row_number().over(partition_by=q.contributor, order_by=wanted)
    own = [QUARANTINE.c[name] for name in Waiting._fields[:7]]
    why = sa.func.coalesce(last.c.message, "")
    told = sa.select(*own, confirmed.c.confirmations, misses, why).select_from(joined)
    return told.order_by(turn, *wanted)


def _row(record: Record, embedding: Embedding | None, contributor: str) -> dict[str, Any]:
    """A record as the quarantine keeps it."""
    vectors = None if embedding is None else embedding.to_json()
    body = json.dumps({"record": record.to_json(), "embedding": vectors})
    return {
        "id": record.id,
        "fingerprint": record.fingerprint,
        "target": record.target,
        "recipe": record.recipe.text(),
        "speedup": record.speedup,
        "contributor": contributor,
        "received": _now(),
        "body": zlib.compress(body.encode()),
    }


def _judged(
    record_id: str, decision: str, judgement: Judgement | None, by: str, became: str
) -> dict[str, Any]:
    """A decision as it is kept."""
    if judgement is None:
        status, speedup, key, words = "", 0.0, "", ""
    else:
        status, speedup, key = judgement.status, judgement.speedup, judgement.hardware.key
        found = f"{speedup:.2f}×" if status == "ok" else status
        words = f"{found} on {key}: {judgement.message}".removesuffix(": ")
    return {
        "record": record_id,
        "decision": decision,
        "status": status,
        "speedup": speedup,
        "hardware": key,
        "message": words,
        "by": by,
        "at": _now(),
        "became": became,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _unpacked(record_id: str, body: bytes) -> tuple[Record, Embedding | None]:
    try:
        inflate = zlib.decompressobj()
        told: dict[str, Any] = json.loads(inflate.decompress(body, 8 * MAX_NEST))
        vectors = told["embedding"]
        embedding = None if vectors is None else Embedding.from_json(vectors)
        return Record.from_json(told["record"]), embedding
    except (zlib.error, ValueError, KeyError, TypeError, InputError) as error:
        raise BookError(f"record {record_id} in quarantine is damaged: {error}") from None
