"""An SDFG of docc, optimised in place."""

from __future__ import annotations

import pytest
from client_kit import (
    blocked,
    chain,
    layered,
    product,
    product_permuted,
    product_transposed,
    record,
    stencil,
    text_of,
)

from loopbook.client.optimize import optimize
from loopbook.client.plan import make_plan
from loopbook.errors import InputError, SdfgError
from loopbook.recipes.book import Book
from loopbook.recipes.recipe import Recipe
from loopbook.sdfg import passes, program
from loopbook.sdfg.frontend import bind
from loopbook.toolchain import compiler
from loopbook.toolchain.sandbox import run_limited


@pytest.fixture
def books(tmp_path):
    return layered(tmp_path, record(product, blocked()))


def test_a_neighbour_s_recipe_is_applied_in_place_and_right(books, tmp_path):
    import numpy as np
    from client_kit import matrices

    sdfg = program.parse(text_of(product_permuted))
    report = optimize(sdfg, book=books)
    (nest,) = report.nests
    assert (report.target, report.optimised, nest.tier) == ("sequential", 1, "near")
    assert "#pragma" in sdfg.to_cpp()
    assert sdfg.to_cpp() != program.baseline(text_of(product_permuted), "sequential").to_cpp()
    compiler.activate()
    library = run_limited(passes.build, sdfg, tmp_path / "build", "sequential")
    left, right, out = matrices(43)
    bind(product_permuted, (left, right, out), library)(left, right, out)
    np.testing.assert_allclose(out, left @ right, rtol=1e-10)


@pytest.mark.parametrize("target", ["sequential", "openmp"])
def test_nothing_found_leaves_what_docc_itself_makes(books, target):
    sdfg = program.parse(text_of(stencil))
    report = optimize(sdfg, target=target, book=books)
    assert report.optimised == 0
    assert sdfg.to_cpp() == program.baseline(text_of(stencil), target).to_cpp()


def test_misses_are_noted(books):
    report = optimize(program.parse(text_of(stencil)), book=books)
    (book,) = books.books
    assert [miss.fingerprint for miss in book.misses()] == [report.nests[0].fingerprint]


def test_an_sdfg_that_is_normalised_already_comes_out_the_same(books):
    sdfg, again = program.parse(text_of(product)), program.prepare(text_of(product))
    optimize(sdfg, book=books)
    optimize(again, book=books)
    assert sdfg.to_cpp() == again.to_cpp()


def test_excluded_kernels_and_distances(books):
    sdfg = program.parse(text_of(product_permuted))
    assert optimize(sdfg, book=books, exclude=["product"]).optimised == 0
    assert optimize(sdfg, book=books, max_distance=2.0).optimised == 1
    text = text_of(product_transposed)
    (far,) = optimize(program.parse(text), book=books, max_distance=0.0).nests
    assert (far.recipe, far.neighbour) == ("", "product:0")
    assert far.reason.startswith("too far away")
    (near,) = optimize(program.parse(text), book=books, max_distance=2.0).nests
    assert near.neighbour == "product:0"
    assert not near.reason.startswith("too far away"), "whether it is served, the head decides"


def test_the_user_s_book_is_the_default(tmp_path, monkeypatch):
    from client_kit import fill

    path = fill(tmp_path / "own.db", [record(chain, blocked())])
    monkeypatch.setenv("LOOPBOOK_BOOK", str(path))
    monkeypatch.setenv("LOOPBOOK_STARTER", "")
    report = optimize(program.parse(text_of(chain)))
    assert report.nests[0].neighbour == "chain:0"
    assert report.to_json()["nests"][0]["tier"] == report.nests[0].tier
    with Book.open(path) as book:
        assert len(book) == 1


def test_bad_input_is_one_clear_line(books):
    with pytest.raises(InputError, match="no target 'gpu'"):
        optimize(program.parse(text_of(product)), target="gpu", book=books)
    with pytest.raises(SdfgError, match="a str is no SDFG"):
        optimize("{}", book=books)


def test_recipes_that_need_a_new_sdfg_are_not_used_in_place(tmp_path):
    steps = "serial L2"
    books = layered(tmp_path, record(product, steps))
    sdfg = program.parse(text_of(product))
    report = optimize(sdfg, book=books)
    assert report.nests[0].tier != "exact"
    assert "serial" not in report.nests[0].recipe
    plan = make_plan(text_of(product), "sequential", books)
    assert plan.recipes[0] == Recipe.parse(steps)
