"""A book's records as they are written today: with the names that steps have now, and no spaces."""

from __future__ import annotations

import json

import sqlalchemy as sa

from loopbook.errors import RecipeError
from loopbook.recipes import _digests, _log
from loopbook.recipes._insert import compact
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.schema import RECORDS

_JSON = ("measurements", "provenance")


def respell(connection: sa.Connection) -> int:
    """Write each record as it is written today; one that is damaged stays, so that it shows.

    Ids stay, too: they go by the names that steps had first.

    Returns:
        How many are written otherwise now.
    """
    changed, removed, nests = [], [], set()
    for row in connection.execute(sa.select(RECORDS)).all():
        old = dict(row._mapping)
        if _digests.of_entry([old[name] for name in _digests.ENTRY]) != old["digest"]:
            continue
        try:
            new = {"recipe": Recipe.parse(old["recipe"]).text()}
            new |= {name: compact(json.loads(old[name])) for name in _JSON}
        except (RecipeError, ValueError, TypeError):
            continue
        if any(old[name] != text for name, text in new.items()):
            new["digest"] = _digests.of_entry([{**old, **new}[name] for name in _digests.ENTRY])
            changed.append({f"new_{name}": text for name, text in new.items()} | {"own": old["id"]})
            removed.append(old["digest"])
            nests.add(old["fingerprint"])
    if changed:
        own = RECORDS.c.id == sa.bindparam("own")
        values = {name: sa.bindparam(f"new_{name}") for name in ("recipe", *_JSON, "digest")}
        connection.execute(sa.update(RECORDS).where(own).values(values), changed)
        _digests.note_records(connection, [one["new_digest"] for one in changed], removed)
        _log.note(connection, (), nests)
    return len(changed)
