"""A recipe is served where it was fast: at the sizes that are near to those it gained at."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_kit import make_shell
from client_kit import (
    SIMPLE,
    blocked,
    fill,
    layered,
    nests_of,
    plan_of,
    product,
    product_permuted,
    record,
    text_of,
)
from docc.python import native as docc_native
from hypothesis import given
from hypothesis import strategies as st

import loopbook
from loopbook.client.decision import NestReport
from loopbook.client.layered import LayeredBook
from loopbook.client.optimize import optimize
from loopbook.client.plan import lose_together, make_plan
from loopbook.client.sizes import exact_speedup, near_speedup
from loopbook.recipes import Measurement, Record
from loopbook.sdfg import program

SMALL = {"L0": 40, "L1": 48, "L2": 44}
LARGE = {"L0": 1000, "L1": 1200, "L2": 1100}


def cube(n: int) -> dict[str, int]:
    return dict.fromkeys(SMALL, n)


def measured(speedups: Mapping[str, float], trips: bool = True) -> tuple[Measurement, ...]:
    known = {"small": SMALL, "large": LARGE}
    return tuple(
        Measurement(speedup, 1.0, 0.0, 5, {}, known[size] if trips else {})
        for size, speedup in speedups.items()
    )


def tuned(recipe: str, name: str, trips: bool = True, **speedups: float) -> Record:
    return dataclasses.replace(
        record(product, recipe, name=name), measurements=measured(speedups, trips)
    )


def at(factor: float) -> dict[str, int]:
    return {symbol: round(LARGE[f"L{k}"] * factor) for k, symbol in enumerate(symbols())}


def symbols() -> list[str]:
    """The product's size symbols by loop."""
    return [loop.condition.split("<")[1].strip(" )") for loop in nests_of(product)[0].loops]


def ask(books: LayeredBook, sizes: Mapping[str, int] | None, kernel: Any = product) -> NestReport:
    (report,) = make_plan(text_of(kernel), "sequential", books, sizes=sizes).nests
    return report


@pytest.fixture(scope="module")
def two_faced(tmp_path_factory) -> LayeredBook:
    """One record that gains where the product is large and loses where it is small."""
    folder = tmp_path_factory.mktemp("two")
    return layered(folder, tuned(SIMPLE, "two", small=0.5, large=8.0))


def test_near_a_size_where_it_gained_the_recipe_is_served(two_faced):
    for factor in (0.5, 1.0, 3.0):
        report = ask(two_faced, at(factor))
        assert (report.tier, report.recipe) == ("exact", SIMPLE)
        assert report.predicted_speedup == pytest.approx(8.0)


def test_near_a_size_where_it_lost_it_is_not(two_faced):
    for factor in (0.01, 0.04, 0.15):
        report = ask(two_faced, at(factor))
        assert (report.tier, report.recipe, report.predicted_speedup) == ("exact", "", 1.0)
        assert "gains at other sizes" in report.reason
        assert "0.50×" in report.reason


def test_where_the_size_is_unknown_it_has_to_hold_everywhere(two_faced, tmp_path):
    some = dict(list(at(1.0).items())[:2])
    for sizes in (None, {}, some):
        assert ask(two_faced, sizes).recipe == ""
    robust = layered(tmp_path, tuned(SIMPLE, "robust", small=2.0, large=8.0))
    report = ask(robust, None)
    assert report.recipe == SIMPLE
    assert report.predicted_speedup == pytest.approx(4.0)
    assert ask(robust, at(1.0)).predicted_speedup == pytest.approx(8.0)


def test_records_of_before_trips_were_counted_have_to_hold_everywhere(tmp_path):
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
    good = layered(tmp_path / "good", tuned(SIMPLE, "old", trips=False, small=2.0, large=8.0))
    bad = layered(tmp_path / "bad", tuned(SIMPLE, "old", trips=False, small=0.9, large=80.0))
    for sizes in (None, at(1.0), at(0.04)):
        assert ask(good, sizes).recipe == SIMPLE
        assert ask(bad, sizes).recipe == ""


def test_each_size_gets_what_was_fastest_there(tmp_path):
    books = layered(
        tmp_path,
        tuned(SIMPLE, "small", small=3.0, large=0.8),
        tuned(blocked(), "large", small=0.7, large=9.0),
    )
    assert ask(books, at(0.04)).neighbour == "small:0"
    assert ask(books, at(1.0)).neighbour == "large:0"
    assert ask(books, None).recipe == ""
    both = layered_with_docc(tmp_path / "docc")
    assert ask(both, at(0.04)).recipe == ""
    assert ask(both, at(1.0)).recipe == SIMPLE


def layered_with_docc(folder: Path) -> LayeredBook:
    """docc's own schedule for small sizes, a recipe for large ones."""
    folder.mkdir()
    return layered(
        folder,
        tuned("", "docc", small=1.0, large=1.0),
        tuned(SIMPLE, "large", small=0.7, large=9.0),
    )


def test_a_neighbour_is_served_by_the_iterations_of_all_loops(two_faced):
    large = ask(two_faced, dict.fromkeys(symbols(), 900), product_permuted)
    assert (large.tier, large.neighbour) == ("near", "two:0")
    assert 1.1 < large.predicted_speedup < 8.0
    small = ask(two_faced, dict.fromkeys(symbols(), 30), product_permuted)
    assert small.tier == "none"
    assert "too little at this size: 0.50×" in small.reason
    assert ask(two_faced, None, product_permuted).tier == "none"


BASE = tuned(SIMPLE, "any")


@given(
    st.lists(st.tuples(st.integers(1, 9), st.floats(0.1, 50)), min_size=1, max_size=5),
    st.integers(1, 10**4),
)
def test_the_nearest_size_is_the_nearest_by_ratio(pairs, n):
    nest = nests_of(product)[0]
    found = dataclasses.replace(
        BASE,
        measurements=tuple(
            Measurement(speedup, 1.0, 0.0, 1, {}, cube(4**k)) for k, speedup in pairs
        ),
    )
    least = min(abs(math.log(n) - math.log(4**k)) for k, _ in pairs)
    nearest = [speedup for k, speedup in pairs if abs(math.log(n) - math.log(4**k)) <= least + 1e-9]
    here = cube(n)
    assert any(exact_speedup(found, here) == pytest.approx(one) for one in nearest)
    assert any(near_speedup(found, nest, nest, here) == pytest.approx(one) for one in nearest)


@given(st.permutations([0, 1, 2]), st.integers(1, 2000), st.integers(1, 2000))
def test_the_order_of_measurements_changes_nothing(order, rows, columns):
    here = {"L0": rows, "L1": columns, "L2": 50}
    three = (
        *measured({"small": 0.5, "large": 8.0}),
        Measurement(3.0, 1.0, 0.0, 5, {}, {"L0": 100, "L1": 7, "L2": 2000}),
    )
    one = dataclasses.replace(BASE, measurements=three)
    other = dataclasses.replace(one, measurements=tuple(three[k] for k in order))
    assert exact_speedup(one, here) == exact_speedup(other, here)


def test_native_goes_by_the_sizes_of_its_first_call(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCC_TMP", str(tmp_path))
    books = layered(tmp_path, tuned(SIMPLE, "two", small=0.5, large=8.0))
    for n, recipe in ((40, ""), (420, SIMPLE)):
        left, right, out = np.ones((n, n + 1)), np.ones((n + 1, n + 2)), np.zeros((n, n + 2))
        native = loopbook.native(book=books)(product)
        native(left, right, out)
        assert out[0, 0] == n + 1
        assert plan_of(native).nests[0].recipe == recipe


def test_docc_s_targets_go_by_the_sizes_of_a_program_s_first_call(tmp_path, monkeypatch):
    for name, value in (("DOCC_TMP", tmp_path), ("LOOPBOOK_STARTER", "")):
        monkeypatch.setenv(name, str(value))
    own = fill(tmp_path / "own.db", [tuned(SIMPLE, "two", small=0.5, large=8.0)])
    monkeypatch.setenv("LOOPBOOK_BOOK", str(own))
    for n, order in ((40, "ijk"), (420, "ikj")):
        made = docc_native(target="loopbook")(product)
        made.compile(np.ones((n, n + 1)), np.ones((n + 1, n + 2)), np.zeros((n, n + 2)))
        (nest,) = program.nests(made.last_sdfg)
        assert "".join(loop.indvar for loop in nest.loops) == order


def test_optimize_takes_sizes(two_faced):
    def recipe(sizes):
        sdfg = program.parse(text_of(product))
        return optimize(sdfg, book=two_faced, sizes=sizes).nests[0].recipe

    assert recipe(at(1.0)) == SIMPLE
    assert recipe(at(0.04)) == recipe(None) == ""


def test_the_command_line_goes_by_the_sizes_given(tmp_path, monkeypatch, capfd):
    shell = make_shell(tmp_path, monkeypatch, capfd)
    fill(tmp_path / "own.db", [tuned(SIMPLE, "two", small=0.5, large=8.0)])
    file = shell.file("product.json", text_of(product))

    def recipe(*words: str) -> str:
        told = shell("explain", file, *words, "--json").good().document
        return told["nests"][0]["recipe"]

    assert recipe() == ""
    assert recipe(*(f"--size={name}={n}" for name, n in at(1.0).items())) == SIMPLE
    assert recipe(*(f"--size={name}={n}" for name, n in at(0.04).items())) == ""


def test_trips_survive_the_book_and_its_export(tmp_path):
    from loopbook.recipes.book import Book

    made = tuned(SIMPLE, "two", small=0.5, large=8.0)
    with Book.open(fill(tmp_path / "book.db", [made])) as book:
        book.export(tmp_path / "out.jsonl")
        (kept,) = book.records()
    assert kept.measurements[1].trips == LARGE
    with Book.open(tmp_path / "new.db") as book:
        book.import_(tmp_path / "out.jsonl")
        assert list(book.records()) == [kept] == [made]


def test_recipes_that_cost_other_nests_more_than_they_gain_are_not_served():
    gains, costs = Measurement(2.0, 1.0, 0.0, 5), Measurement(1.0, 3.0, 0.0, 5)
    assert lose_together([gains, costs])
    assert not lose_together([gains, gains])
    assert not lose_together([gains, None]), "a nest whose times are not known may gain a lot"
