"""Nests that were asked for in vain, on their way from a worker to the queue."""

from __future__ import annotations

import json

import pytest
from client_kit import chain, nests_of, product, stencil, text_of

from loopbook.client import wants
from loopbook.client.wants import Wants
from loopbook.program.nests import read_nests
from loopbook.recipes.book import Book
from loopbook.sdfg import program
from loopbook.server.settings import Settings
from loopbook.server.wants import Told
from loopbook.server.work import Work


def told_of(worker: Wants, kernel, size: int = 100):
    nests = nests_of(kernel)
    text = program.prepare(text_of(kernel)).to_json()
    sizes = {name: size for nest in nests for name in nest.symbols}
    return worker.of(text, nests, [nest.fingerprint for nest in nests], sizes)


def test_a_nest_is_told_of_once(monkeypatch):
    worker = Wants()
    told = told_of(worker, chain)
    assert set(told) == {nest.fingerprint for nest in nests_of(chain)}
    for fingerprint, one in told.items():
        (nest,) = read_nests(json.loads(one.document))
        assert nest.fingerprint == fingerprint
        assert set(one.sizes) <= set(nest.symbols)
    assert told_of(worker, chain) == {}
    assert set(told_of(worker, product)) <= {nest.fingerprint for nest in nests_of(product)}
    assert told_of(Wants(), stencil)
    monkeypatch.setattr(wants, "LONGEST", 100)
    assert told_of(Wants(), chain) == {}


def test_what_runs_longest_is_told_of_first(monkeypatch):
    monkeypatch.setattr(wants, "MOST_OF_ONE", 1)
    worker = Wants()
    (first,), (second,) = told_of(worker, chain).values(), told_of(worker, chain).values()
    assert first.cost_s > second.cost_s > 0


def test_a_size_beyond_all_bounds_costs_no_more_than_may_be():
    (told,) = told_of(Wants(), product, 2**62).values()
    held = Told()
    held.take({"a": told.to_json()})
    assert held.get("a") is not None


def test_what_makes_no_sense_is_left_out():
    held = Told()
    held.take({"a": 7, "b": {"document": 7}, "c": {"sizes": {"N": -1}}, "d": {"document": "{}"}})
    assert [name for name in "abcd" if held.get(name)] == ["d"]


@pytest.mark.parametrize("kept", [True, False])
def test_an_owner_says_whether_missed_nests_are_kept(tmp_path, kept):
    store = str(tmp_path / "book.db")
    Book.open(store).close()
    work = Work(Settings(store, starter=False, keep_nests=kept))
    answer = work.do("program", json.dumps({"sdfg": json.loads(text_of(product))}).encode())
    assert [*answer.missed.values()] == [[nest.fingerprint for nest in nests_of(product)]]
    assert bool(answer.wanted) == kept
