"""An SDFG of docc, and the one that is made of it with what the book knows."""

from __future__ import annotations

import numpy as np
import pytest
from client_kit import (
    blocked,
    chain,
    layered,
    matrices,
    product,
    product_permuted,
    product_transposed,
    record,
    stencil,
    text_of,
)

from loopbook.client.optimize import optimize
from loopbook.errors import InputError, SdfgError
from loopbook.recipes.book import Book
from loopbook.sdfg import passes, program
from loopbook.sdfg.frontend import bind
from loopbook.toolchain import compiler
from loopbook.toolchain.sandbox import run_limited


@pytest.fixture
def books(tmp_path):
    return layered(tmp_path, record(product, blocked()))


def lines(sdfg):
    """Of the C++, in any order: docc declares variables in another one every time."""
    return sorted(sdfg.to_cpp().splitlines())


def compiled(sdfg, folder):
    """The library, compiled as it is."""
    compiler.activate()
    return run_limited(passes.build, sdfg, folder, "sequential")


def check_product(kernel, library, n=43):
    left, right, out = matrices(n)
    bind(kernel, (left, right, out), library)(left, right, out)
    np.testing.assert_allclose(out, left @ right, rtol=1e-10)


def test_a_neighbour_s_recipe_is_applied_and_right(books, tmp_path):
    sdfg = program.parse(text_of(product_permuted))
    before = sdfg.to_json()
    done = optimize(sdfg, book=books)
    (nest,) = done.nests
    assert (done.target, done.optimised, nest.tier) == ("sequential", 1, "near")
    assert "#pragma" in done.sdfg.to_cpp()
    assert sdfg.to_json() == before
    assert (done.sdfg.name, done.sdfg.arguments) == (sdfg.name, sdfg.arguments)
    check_product(product_permuted, compiled(done.sdfg, tmp_path / "build"))


def test_rewritings_of_our_own_are_applied_too(tmp_path):
    """docc has nothing that makes a reduction serial, or that jams the loops that another holds."""
    recipe = "serialize L2\nunroll_and_jam L0 4 L1\nunroll_and_jam L0 4 L2\n"
    done = optimize(
        program.parse(text_of(product)), book=layered(tmp_path, record(product, recipe))
    )
    (nest,) = done.nests
    assert (nest.tier, nest.recipe) == ("exact", recipe)
    check_product(product, compiled(done.sdfg, tmp_path / "build"))


def test_loops_that_share_a_variable_get_their_recipes(tmp_path):
    """Python programs of two nests: docc takes none of their loops for parallel as they are."""
    done = optimize(program.parse(text_of(chain)), book=layered(tmp_path, record(chain, blocked())))
    assert done.nests[0].recipe.startswith("tile L0 4\n")


def test_nothing_found_gives_what_docc_itself_makes(books):
    done = optimize(program.parse(text_of(stencil)), book=books)
    assert done.optimised == 0
    own = program.baseline(text_of(stencil), "sequential")
    assert lines(done.sdfg) == lines(own)


def test_nothing_found_means_threads_that_share_loops_as_they_are(books):
    (report,) = optimize(program.parse(text_of(stencil)), target="openmp", book=books).nests
    assert (report.tier, report.record) == ("threads", None)
    assert report.recipe == "parallel L1\nparallel L3\nsingle\n"


def test_misses_are_noted(books):
    report = optimize(program.parse(text_of(stencil)), book=books)
    (book,) = books.books
    assert [miss.fingerprint for miss in book.misses()] == [report.nests[0].fingerprint]


def test_an_sdfg_that_is_normalised_already_comes_out_the_same(books):
    sdfg, again = program.parse(text_of(product)), program.prepare(text_of(product))
    one, other = (optimize(given, book=books).sdfg for given in (sdfg, again))
    assert lines(one) == lines(other)


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
    assert not near.reason.startswith("too far away"), (
        "whether it is served, the cost model decides"
    )


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
