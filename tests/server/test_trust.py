"""What gets a record served, and what takes it back: a measurement by a trusted machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from client_kit import (
    blocked,
    encoder,
    nests_of,
    product,
    product_permuted,
    record,
    stencil,
)

from loopbook.recipes import Book, HardwareProfile, Measurement, Recipe, Record
from loopbook.server.quarantine import KNOWN, PROMOTED, WAITING, Quarantine
from loopbook.server.tables import QUARANTINE, open_tables
from loopbook.server.tokens import Tokens
from loopbook.server.trust import Judgement

HERE = HardwareProfile(isa="avx2", vector_bits=256)
ELSEWHERE = HardwareProfile(isa="sse2", vector_bits=128)


def claim(kernel, speedup: float, hardware: HardwareProfile = HERE) -> Record:
    told = (Measurement(speedup, 1.0, 0.01, 5, {}, {"L0": 9}),)
    return replace(record(kernel, blocked()), measurements=told, hardware=hardware)


def found(speedup: float, hardware: HardwareProfile = HERE) -> Judgement:
    return Judgement("ok", hardware, Measurement(speedup, 1.0, 0.02, 9, {}, {"L0": 7}))


def vectors(kernel):
    return encoder().encode(nests_of(kernel)[0])


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book.open(tmp_path / "book.db") as one:
        yield one


@pytest.fixture
def quarantine(book: Book) -> Iterator[Quarantine]:
    database = open_tables(book.name)
    yield Quarantine(database, book)
    database.close()


@pytest.mark.parametrize(
    ("judgement", "made_on", "waiting", "served"),
    [
        (found(2.0), ELSEWHERE, "promote", "keep"),
        (found(1.0), ELSEWHERE, "keep", "keep"),
        (found(1.0), HERE, "reject", "keep"),
        (found(0.9), HERE, "reject", "return"),
        (found(0.9), ELSEWHERE, "keep", "keep"),
        (Judgement("wrong", HERE), ELSEWHERE, "reject", "return"),
        (Judgement("crash", HERE), ELSEWHERE, "reject", "return"),
        (Judgement("hang", HERE), HERE, "keep", "keep"),
        (Judgement("unmeasured", HERE), HERE, "keep", "keep"),
    ],
)
def test_what_follows_from_a_judgement(judgement, made_on, waiting, served):
    one = claim(product, 3.0, made_on)
    assert judgement.decision(one, served=False) == waiting
    assert judgement.decision(one, served=True) == served


def test_what_is_promoted_is_the_measurement_and_not_the_claim(quarantine, book):
    claims = [claim(product, 9100.0 + n, ELSEWHERE) for n in range(2)]
    for n, one in enumerate(claims):
        assert quarantine.receive(one, vectors(product), f"token{n}") == WAITING
    assert book.count() == 0
    judged = quarantine.judge(claims[0].id, found(1.5))
    (served,) = book.records()
    assert judged == (served.id, "promote")
    assert (served.speedup, served.hardware) == (1.5, HERE)
    assert served.recipe == claims[0].recipe
    assert quarantine.all() == []  # the other one claimed the same
    assert [quarantine.receive(one, vectors(product), "token3") for one in claims] == [KNOWN] * 2


def test_a_served_record_that_loses_waits_again_and_says_why(quarantine, book):
    one = claim(product, 3.0)
    book.add(one, vectors(product))
    assert quarantine.served() == [one.id]
    assert quarantine.judge(one.id, found(1.0)) == (one.id, "keep")
    assert quarantine.judge(one.id, found(0.5)) == (one.id, "return")
    assert book.count() == 0
    (waiting,) = quarantine.all()
    assert (waiting.id, waiting.contributor) == (one.id, "")
    assert waiting.why == f"0.50× on {HERE.key}"
    assert quarantine.receive(one, vectors(product), "token") == KNOWN
    judged = quarantine.judge(one.id, found(2.0))
    assert judged
    assert judged.decision == "promote"
    (served,) = book.records()
    assert served.speedup == 2.0
    assert len(book.nearest(vectors(product), 1)) == 1  # its vectors are there again


def test_a_trusted_machine_need_not_be_measured_again(quarantine, book):
    theirs, own = claim(product, 9000.0), claim(product, 3.0)
    quarantine.receive(theirs, vectors(product), "stranger")
    assert quarantine.receive(own, vectors(product), "mine", trusted=True) == PROMOTED
    assert [one.id for one in book.records()] == [own.id]
    assert quarantine.all() == []
    useless = claim(stencil, 1.0)
    assert quarantine.receive(useless, vectors(stencil), "mine", trusted=True) == WAITING


def test_who_waits_is_measured_by_turns_and_by_demand(quarantine, book):
    """One contributor with much, and two with one each."""
    flood = [claim(product, 3.0 + n) for n in range(3)]
    wanted, confirmed = claim(stencil, 2.0), claim(product_permuted, 2.0)
    for one in (*flood, wanted):
        quarantine.receive(one, vectors(product), "much")
    quarantine.receive(confirmed, vectors(product_permuted), "b")
    quarantine.receive(replace(confirmed, nest="again"), vectors(product_permuted), "c")
    book.note_miss(wanted.fingerprint, "sequential", "any", count=5)
    order = quarantine.all()
    assert {one.contributor for one in order[:2]} == {"b", "c"}
    assert [one.confirmations for one in order] == [2, 2, 1, 1, 1, 1]
    assert order[2].id == wanted.id
    assert order[2].misses == 5
    assert {one.id for one in order[3:]} == {one.id for one in flood}


def test_an_administrators_word_still_counts(quarantine, book):
    one, other = claim(product, 3.0), claim(stencil, 3.0)
    for each in (one, other):
        quarantine.receive(each, vectors(product), "token")
    assert quarantine.promote(one.id)
    assert quarantine.reject(other.id)
    assert list(book.records()) == [one]
    assert not quarantine.promote(one.id)
    assert quarantine.receive(other, vectors(stencil), "token") == KNOWN


OLD = """
CREATE TABLE tokens (digest VARCHAR(64) NOT NULL, id VARCHAR(16) NOT NULL, name TEXT NOT NULL,
 scopes TEXT NOT NULL, created VARCHAR(32) NOT NULL, expires VARCHAR(32) NOT NULL,
 revoked VARCHAR(32) NOT NULL, PRIMARY KEY (digest), UNIQUE (id));
CREATE TABLE quarantine (id VARCHAR(32) NOT NULL, fingerprint VARCHAR(128) NOT NULL,
 target VARCHAR(16) NOT NULL, recipe TEXT NOT NULL, speedup FLOAT NOT NULL,
 contributor VARCHAR(16) NOT NULL, received VARCHAR(32) NOT NULL, body BLOB NOT NULL,
 PRIMARY KEY (id));
"""
"""The tables as they were before there were judgements."""


def test_claims_with_the_names_that_steps_had_once_are_the_same_claims(quarantine, book):
    recipe = Recipe.parse("right_looking L0 L1\nvectorize L1*\n")
    first, second = (replace(claim(product, 9000.0 + n), recipe=recipe) for n in range(2))
    quarantine.receive(first, vectors(product), "one")
    database = open_tables(book.name)
    with database.writing() as connection:
        old = sa.update(QUARANTINE).values(recipe="push L0 L1\nvectorize L1*\n")
        connection.execute(old)
    later = Quarantine(database, book)
    later.receive(second, vectors(product), "other")
    assert [one.confirmations for one in later.all()] == [2, 2]
    assert later.judge(second.id, found(1.5))
    assert later.all() == []
    database.close()


def test_databases_of_older_servers_go_on(tmp_path, quarantine, book):
    one = claim(product, 3.0)
    quarantine.receive(one, vectors(product), "token")
    path = tmp_path / "old.db"
    Book.open(path).close()
    with sqlite3.connect(book.name) as new, sqlite3.connect(path) as old:
        old.executescript(OLD)
        rows = new.execute("SELECT * FROM quarantine").fetchall()
        old.executemany(f"INSERT INTO quarantine VALUES ({','.join('?' * 8)})", rows)
    database = open_tables(str(path))
    with Book.open(path) as there:
        older = Quarantine(database, there)
        assert [waiting.id for waiting in older.all()] == [one.id]
        judged = older.judge(one.id, found(1.5))
        assert judged
        assert judged.decision == "promote"
        secret = Tokens(database).create("machine", ["measure"])
        machine = Tokens(database).find(secret)
        assert machine
        assert machine.allows("measure")
    database.close()
