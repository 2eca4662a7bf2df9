"""Books written when steps had other names."""

from __future__ import annotations

import sqlalchemy as sa
from recipes_samples import record

from loopbook.recipes import Book, Recipe, _digests
from loopbook.recipes.connect import open_database
from loopbook.recipes.schema import RECORDS

OLD = "push L0 L1\nsink L0 8\nvectorize L1*\n"
TODAY = "right_looking L0 L1\nstrip_and_sink L0 8\nvectorize L1*\n"


def aged(location: str, identity: str) -> None:
    """Write a record's recipe as it was written once."""
    database = open_database(location, readonly=False, busy_s=10.0)
    with database.writing() as connection:
        own = RECORDS.c.id == identity
        connection.execute(sa.update(RECORDS).where(own).values(recipe=OLD))
        _digests.fill(connection)
    database.close()


def text(location: str, identity: str) -> str:
    database = open_database(location, readonly=True, busy_s=10.0)
    with database.reading() as connection:
        found = connection.execute(sa.select(RECORDS.c.recipe).where(RECORDS.c.id == identity))
        told = found.scalar()
    database.close()
    return str(told)


def test_ids_are_what_they_were_before_steps_had_other_names():
    assert record(recipe=Recipe.parse(OLD)).id == "e88766571c60f8eb36d391c4e6bc5963"
    assert record(recipe=Recipe.parse(TODAY)).id == record(recipe=Recipe.parse(OLD)).id


def test_old_names_are_found_and_rewritten(location):
    old = record(recipe=Recipe.parse(OLD))
    with Book.open(location) as book:
        book.add_many([(old, ()), (record(1), ())])
    aged(location, old.id)
    with Book.open(location) as book:
        assert book.record(old.id) == old
        for name in ("push", "right_looking"):
            assert [one.id for one in book._loaded.current().holding([name])] == [old.id]
        assert text(location, old.id) == OLD
        assert book.respell() == 1, "the other record is as it is written today"
        assert text(location, old.id) == TODAY
        assert book.record(old.id) == old
        assert book.respell() == 0
        assert book.verify() == []
