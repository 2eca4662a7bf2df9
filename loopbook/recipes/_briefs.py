"""What a list or a map shows of each record: one row for each, without nests or recipes."""

from __future__ import annotations

import re
from typing import NamedTuple

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


def briefs_of(database: Database, damage: Damage) -> list[Brief]:
    """All records in brief, in order of id; damaged rows are left out and noted."""
    query = sa.select(*(RECORDS.c[name] for name in _COLUMNS), RECORDS.c.provenance)
    with database.reading() as connection:
        rows = connection.execute(query.order_by(RECORDS.c.id)).all()
    found = []
    shared: dict[str, str] = {}
    for *values, provenance in rows:
        if [type(value) for value in values] != _TYPES:
            told = f"the row of record {values[0]!a} can't be read"
            damage.met(str(values[0]), told, strict=False)
            continue
        name, fingerprint, nest, kernel, target, hardware_id, speedup = values
        date = _date(provenance)
        # Few kernels, targets, machines and dates: one text of each is enough in memory.
        kernel, target = shared.setdefault(kernel, kernel), shared.setdefault(target, target)
        hardware_id, date = (
            shared.setdefault(hardware_id, hardware_id),
            shared.setdefault(date, date),
        )
        found.append(Brief(name, fingerprint, nest, kernel, target, hardware_id, speedup, date))
    return found


_DATE = re.compile(r'"date": ?"([^"]{0,40})"')


def _date(provenance: object) -> str:
    """Found without reading the rest, which is several times faster."""
    found = _DATE.search(provenance) if isinstance(provenance, str) else None
    return found[1] if found else ""
