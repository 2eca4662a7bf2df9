"""A book's recipes with the names that steps have today."""

from __future__ import annotations

import sqlalchemy as sa

from loopbook.errors import RecipeError
from loopbook.recipes import _digests, _log
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.schema import RECORDS


def respell(connection: sa.Connection) -> int:
    """Write each recipe as it is written today; what cannot be read stays.

    Ids stay, too: they go by the names that steps had first.

    Returns:
        How many recipes are written otherwise now.
    """
    columns = [RECORDS.c[name] for name in _digests.ENTRY]
    changed, removed, nests = [], [], set()
    for row in connection.execute(sa.select(*columns, RECORDS.c.digest)).all():
        entry = dict(zip(_digests.ENTRY, row, strict=False))
        if _digests.of_entry(row[:-1]) != row.digest:
            continue  # damaged: that is not to be hidden
        try:
            text = Recipe.parse(entry["recipe"]).text()
        except RecipeError:
            continue
        if text != entry["recipe"]:
            entry["recipe"] = text
            digest = _digests.of_entry([entry[name] for name in _digests.ENTRY])
            changed.append({"k_id": row.id, "text": text, "hash": digest})
            removed.append(row.digest)
            nests.add(row.fingerprint)
    if changed:
        own = RECORDS.c.id == sa.bindparam("k_id")
        new = {"recipe": sa.bindparam("text"), "digest": sa.bindparam("hash")}
        connection.execute(sa.update(RECORDS).where(own).values(new), changed)
        _digests.note_records(connection, [one["hash"] for one in changed], removed)
        _log.note(connection, (), nests)
    return len(changed)
