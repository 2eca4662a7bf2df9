"""Records of others, measured again: what gains is promoted, what is wrong is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cli_kit import make_shell
from client_kit import (
    blocked,
    encoder,
    nests_of,
    product,
    product_permuted,
    record,
    stencil,
)

from loopbook.errors import InputError
from loopbook.program.trips import trip_counts
from loopbook.recipes import Book, HardwareProfile, Measurement, Record
from loopbook.sdfg.arguments import size_names
from loopbook.server.quarantine import Quarantine
from loopbook.server.tables import open_tables
from loopbook.toolchain import jail
from loopbook.tuner.reconfirmation import STATUSES, Verdict, reconfirm, verdict_of
from loopbook.tuner.sizes import sizes_for

HERE = HardwareProfile(isa="avx2", vector_bits=256)
ELSEWHERE = HardwareProfile(isa="sse2", vector_bits=128)
GOOD = {
    "status": "ok",
    "speedup": 2,
    "sizes": {"_s0": 9},
    "message": "",
    "baseline_s": 1e-3,
    "spread": 0.1,
    "runs": 5,
    "trips": {"L0": 9},
}
TRIPS = {"L0": 160, "L1": 190, "L2": 175}


def given(kernel, recipe: str, **changes) -> Record:
    """A record that says to gain much, at sizes that are no tiles' multiples."""
    told = (Measurement(1e-2, 1e-3, 0.01, 5, {}, TRIPS),)
    return replace(record(kernel, recipe), measurements=told, **changes)


def test_sizes_follow_from_how_often_loops_run():
    nest = nests_of(product)[0]
    names = size_names(record(product, "").nest_json)
    assert trip_counts(nest, sizes_for(nest, names, TRIPS)) == TRIPS
    halo = nests_of(stencil)[0]
    symbols = size_names(record(stencil, "").nest_json)
    wanted = {loop.name: 20 + 3 * n for n, loop in enumerate(halo.loops)}
    found = trip_counts(halo, sizes_for(halo, symbols, wanted))
    assert set(found.values()) <= set(wanted.values())
    assert all(size >= 2 for size in sizes_for(halo, symbols, {}).values())


def test_a_recipe_that_does_not_fit_is_illegal():
    assert reconfirm(given(product, "vectorize L7\n"), HERE).status == "illegal"


def test_a_strangers_nest_is_built_and_run_in_a_jail(tmp_path):
    """docc writes the name into a shell's command: where that is refused, nothing runs at all."""
    mark = tmp_path / "mark"
    honest = given(product, blocked())
    document = json.loads(honest.nest_json) | {"name": f"nest$(touch {mark})"}
    hostile = replace(honest, nest_json=json.dumps(document))
    verdict = verdict_of(hostile, HERE)
    assert verdict.status in STATUSES
    assert not mark.exists()


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        "ok",
        {},
        {"status": "ok"},
        {**GOOD, "status": "promote"},
        {**GOOD, "status": ["ok"]},
        {**GOOD, "speedup": True},
        {**GOOD, "speedup": -1.0},
        {**GOOD, "speedup": float("inf")},
        {**GOOD, "speedup": 0},
        {**GOOD, "status": "wrong"},
        {**GOOD, "speedup": "2"},
        {**GOOD, "sizes": {"_s0": 10**30}},
        {**GOOD, "sizes": {"_s0": True}},
        {**GOOD, "sizes": {"\x1b[2J": 9}},
        {**GOOD, "sizes": {f"_s{n}": 9 for n in range(1000)}},
        {**GOOD, "sizes": [1]},
        {**GOOD, "message": 3},
        {**GOOD, "more": 1},
        {**GOOD, "baseline_s": 0},
        {**GOOD, "runs": 0},
        {**GOOD, "spread": float("nan")},
        {**GOOD, "trips": {"\n": 9}},
    ],
)
def test_what_is_no_verdict_is_refused(told):
    with pytest.raises(InputError, match=r"^the jail sent something that is no verdict$"):
        Verdict.from_json(told)


def test_a_verdict_says_no_more_than_one_line():
    told = Verdict.from_json({**GOOD, "message": "a\nb\x1b[31m" + "c" * 1000})
    assert told.speedup == 2.0
    assert told.message.startswith("a b�[31mc")
    assert len(told.message) == 300


@pytest.fixture
def store(tmp_path: Path) -> tuple[Path, dict[str, Record]]:
    path = tmp_path / "book.db"
    waiting = {
        "gains": given(product, blocked()),
        "illegal": given(product_permuted, "vectorize L7\n"),
        "unreadable": given(stencil, "vectorize L1\n", nest_json="{}"),
    }
    Book.open(path).close()
    database = open_tables(str(path))
    with Book.open(path) as book:
        quarantine = Quarantine(database, book)
        for one in waiting.values():
            quarantine.receive(one, encoder().encode(nests_of(product)[0]), "somebody")
    database.close()
    return path, waiting


@pytest.mark.long
def test_the_command_promotes_and_rejects(store, tmp_path, monkeypatch, capfd):
    path, waiting = store
    shell = make_shell(tmp_path, monkeypatch, capfd)
    words = ("quarantine", "measure", "--store", path, "--json")
    (dry,) = shell(*words, "--keep", waiting["illegal"].id).good().document
    assert (dry["id"], dry["decision"]) == (waiting["illegal"].id, "reject")
    told = {one["id"]: one["decision"] for one in shell(*words).good().document}
    assert told == {
        waiting["gains"].id: "promote",
        waiting["illegal"].id: "reject",
        waiting["unreadable"].id: "keep",
    }
    with Book.open(path) as book:
        (served,) = book.records()
    claimed = waiting["gains"]
    assert served.recipe == claimed.recipe
    (measured,) = served.measurements  # what was measured here, not what was claimed
    assert measured not in claimed.measurements
    assert measured.trips == TRIPS
    assert measured.speedup > 1.1
    assert sorted(measured.sizes.values()) == sorted(TRIPS.values())
    left = shell("quarantine", "list", "--store", path, "--json").good().document
    assert [one["id"] for one in left] == [waiting["unreadable"].id]
    assert "waits" in shell("quarantine", "measure", "0" * 32, "--store", path).refusal()
    (again,) = shell(*words, "--served").good().document
    assert (again["id"], again["decision"]) == (served.id, "keep")


def test_where_there_is_no_jail_nothing_is_measured(store, tmp_path, monkeypatch, capfd):
    path, waiting = store
    shell = make_shell(tmp_path, monkeypatch, capfd)
    monkeypatch.setenv("PATH", str(tmp_path))
    jail.check.cache_clear()
    said = shell("quarantine", "measure", "--store", path).refusal()
    assert "install bubblewrap ('apt-get install bubblewrap')" in said
    left = shell("quarantine", "list", "--store", path, "--json").good().document
    assert {one["id"] for one in left} == {one.id for one in waiting.values()}
