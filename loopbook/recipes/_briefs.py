"""What a list or a map shows of each record: one row for each, without nests or recipes."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import sqlalchemy as sa

from loopbook.recipes._damage import Damage
from loopbook.recipes.connect import Database
from loopbook.recipes.schema import RECORDS

_COLUMNS = ("id", "fingerprint", "nest", "kernel", "target", "hardware_id", "speedup")
_TYPES = [str, str, str, str, str, str, float]


class Brief(NamedTuple):
    """A record in brief.

    Attributes:
        nest, kernel: see `loopbook.recipes.record.Record`.
        hardware_id: names its machine in `loopbook.recipes.book.Book.machines`.
        date: when it was measured, ISO 8601; empty where that is not known.
    """

    id: str
    fingerprint: str
    nest: str
    kernel: str
    target: str
    hardware_id: str
    speedup: float
    date: str


class _Provenance(msgspec.Struct):
    date: str = ""


_DECODER = msgspec.json.Decoder(_Provenance)


def briefs_of(database: Database, damage: Damage) -> list[Brief]:
    """All records in brief, in order of id; damaged rows are left out and noted."""
    query = sa.select(*(RECORDS.c[name] for name in _COLUMNS), RECORDS.c.provenance)
    with database.reading() as connection:
        rows = connection.execute(query.order_by(RECORDS.c.id)).all()
    found = []
    for *values, provenance in rows:
        if [type(value) for value in values] == _TYPES:
            found.append(Brief._make((*values, _date(provenance))))
        else:
            told = f"the row of record {values[0]!a} can't be read"
            damage.met(str(values[0]), told, strict=False)
    return found


def _date(provenance: object) -> str:
    try:
        return _DECODER.decode(provenance).date if isinstance(provenance, str) else ""
    except msgspec.MsgspecError:
        return ""
