"""What is decided for each nest: exact, near or nothing, and why."""

from __future__ import annotations

import dataclasses
import faulthandler
import json
import os

import numpy as np
import pytest
from client_kit import (
    SIMPLE,
    blas_is,
    blocked,
    chain,
    encoder,
    fill,
    layered,
    nests_of,
    product,
    product_permuted,
    product_renamed,
    product_transposed,
    record,
    stencil,
    text_of,
)

from loopbook.client.decision import Plan
from loopbook.client.evidence import strided
from loopbook.client.fit import Fit
from loopbook.client.layered import LayeredBook
from loopbook.client.opening import open_book
from loopbook.client.plan import build_plan, make_plan
from loopbook.client.planner import Planner
from loopbook.embed.weights import Weights
from loopbook.errors import BookError, KernelError, SdfgError
from loopbook.program.nests import read_nests
from loopbook.recipes import HardwareProfile
from loopbook.recipes.book import Book
from loopbook.recipes.hardware import read
from loopbook.recipes.recipe import Recipe
from loopbook.sdfg import frontend, program
from loopbook.sdfg.build import build_baseline


def chained(A, B, C, D):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            for k in range(A.shape[1]):
                B[i, j] += A[i, k] * A[k, j]
    for row in range(C.shape[0]):
        for col in range(C.shape[1]):
            for mid in range(A.shape[1]):
                C[row, col] += A[row, mid] * B[mid, col]
    for m in range(D.shape[0]):
        for n in range(D.shape[1]):
            for o in range(A.shape[1]):
                D[m, n] += A[m, o] * C[o, n]


def plan(kernel, books: LayeredBook, **options) -> Plan:
    return make_plan(text_of(kernel), "sequential", books, **options)


def test_the_very_nest_gets_its_own_recipe(good):
    found = plan(product, good)
    (report,) = found.nests
    assert (report.tier, report.neighbour, report.distance) == ("exact", "product:0", 0.0)
    assert report.predicted_speedup == pytest.approx(20.0)
    assert found.recipes[0].text() == report.recipe == blocked()
    assert found.missed == []


def test_names_make_no_difference(good):
    assert plan(product_renamed, good).recipes == plan(product, good).recipes


def test_a_permuted_product_is_served_by_its_neighbour(good):
    found = plan(product_permuted, good)
    (report,) = found.nests
    assert (report.tier, report.neighbour) == ("near", "product:0")
    assert report.distance is not None
    assert report.distance == 0, "it does the same in another order"
    assert 1.1 < report.predicted_speedup < 20.0
    assert "vectorize L0*" in report.recipe.splitlines(), "the loop over columns, wherever it is"
    assert report.loops == ("col", "row", "mid")


def test_what_was_tried_last_is_served_too(tmp_path, monkeypatch):
    monkeypatch.setattr("loopbook.client.port_search.TRIED", {False: 1})
    books = layered(tmp_path, record(product, blocked()))
    assert plan(product_permuted, books).nests[0].tier == "near"


def test_an_unrelated_nest_gets_nothing_and_says_why(good, tmp_path):
    found = plan(stencil, good)
    (report,) = found.nests
    assert (report.tier, report.recipe, report.predicted_speedup) == ("none", "", 1.0)
    assert "promises" in report.reason
    assert not found.active
    assert found.missed == [nests_of(stencil)[0].fingerprint]
    ours = build_plan(text_of(stencil), found, tmp_path / "ours")
    assert ours.code == build_baseline(text_of(stencil), "sequential", tmp_path / "docc").code


def test_other_nests_of_the_program_are_left_to_docc(good):
    found = plan(chain, good)
    tiers = [report.tier for report in found.nests]
    assert tiers == ["exact", "none"]
    assert list(found.recipes) == [0]


def test_an_excluded_kernel_is_not_looked_at(good):
    (report,) = plan(product, good, exclude=["product"]).nests
    assert (report.tier, report.neighbour, report.distance) == ("none", None, None)


def test_what_one_thread_gains_by_is_shared_by_several(good):
    (alone,) = make_plan(text_of(product), "sequential", good).nests
    (report,) = make_plan(text_of(product), "openmp", good).nests
    assert (report.tier, report.neighbour) == (alone.tier, alone.neighbour)
    assert report.recipe.startswith(alone.recipe)
    assert report.recipe.endswith("single\n")


def test_records_for_several_threads_do_not_count_for_one(tmp_path):
    books = layered(tmp_path, record(product, blocked(), target="openmp"))
    (report,) = make_plan(text_of(product), "sequential", books).nests
    assert report.tier == "none"


def test_an_illegal_recipe_gives_way_to_the_next(tmp_path):
    wrong = record(product, "tile L0 8\ninterchange L0 L2\n", 90.0, name="wrong")
    books = layered(tmp_path, wrong, record(product, SIMPLE, 5.0, name="right"))
    (report,) = plan(product, books).nests
    assert (report.tier, report.neighbour, report.recipe) == ("exact", "right:0", SIMPLE)


def test_a_recipe_that_is_illegal_as_it_is_may_be_built_anew(tmp_path):
    illegal = "tile L1 8\ninterchange L0 L2\nvectorize L1\n"
    (report,) = plan(product_permuted, layered(tmp_path, record(product, illegal))).nests
    assert report.tier == "near"
    assert report.recipe
    assert Recipe.parse(report.recipe) != Recipe.parse(illegal)


def test_an_illegal_recipe_is_not_served(tmp_path):
    books = layered(tmp_path, record(product, "right_looking L0 L1\n", name="wrong"))
    (report,) = plan(product, books).nests
    assert report.tier != "exact"
    assert "right_looking" not in report.recipe


def test_refused_refinements_are_left_out(tmp_path):
    books = layered(tmp_path, record(product, f"unroll L2\n{SIMPLE}"))
    (report,) = plan(product, books).nests
    assert report.recipe == SIMPLE
    assert "1 refused" in report.reason


def test_docc_s_own_schedule_being_best_is_an_answer(tmp_path):
    """Then no neighbour is asked either."""
    best = record(product, "", 1.0, name="best")
    books = layered(tmp_path, best, record(product_permuted, SIMPLE, name="other"))
    found = plan(product, books)
    assert found.nests[0].tier == "exact"
    assert not found.active


def test_an_empty_recipe_that_gains_means_the_prepared_program(tmp_path):
    found = plan(product, layered(tmp_path, record(product, "", 4.0)))
    assert found.active
    assert len(found.recipes[0]) == 0


def test_small_gains_are_not_ported(tmp_path):
    books = layered(tmp_path, record(product, SIMPLE, 1.05))
    assert plan(product, books).nests[0].tier == "exact"
    (report,) = plan(product_permuted, books).nests
    assert report.tier == "none"
    assert "too little" in report.reason


def test_another_order_is_nothing_for_a_nest_without_strided_accesses(tmp_path):
    """With the right operand transposed, docc's own schedule reads contiguously already."""
    assert strided(nests_of(product_transposed)[0]) < 0.5 * strided(nests_of(product)[0])
    books = layered(tmp_path, record(product, SIMPLE))
    assert plan(product_permuted, books).nests[0].tier == "near"
    (report,) = plan(product_transposed, books).nests
    assert report.tier == "none"
    assert "is all that product:0 promises" in report.reason


def test_tiles_alone_are_not_ported(tmp_path):
    """They run the same iterations in the same order: what they gained is no other nest's."""
    books = layered(tmp_path, record(product, "tile L0 8\n", 30.0))
    assert plan(product, books).nests[0].tier == "exact"
    assert plan(product_permuted, books).nests[0].tier == "none"


def test_choices_are_distinct_and_best_first(tmp_path):
    books = layered(
        tmp_path,
        record(product, SIMPLE, 5.0, name="simple"),
        record(product, blocked(), 9.0, name="blocked"),
        record(product, blocked(), 8.0, name="again"),
    )
    choices = plan(product, books, choices=3).choices[0]
    assert [c.record.kernel for c in choices if c.record] == ["blocked", "simple"]


@pytest.mark.parametrize(("gain", "first"), [(5.4, "here:0"), (90.0, "elsewhere:0")])
def test_another_machine_has_to_gain_much_more_than_this_kind(tmp_path, gain, first):
    here = read(1)
    other = dataclasses.replace(here, l2_bytes=here.l2_bytes * 2 or 1 << 20)
    books = layered(
        tmp_path,
        record(product, blocked(), gain, name="elsewhere", hardware=other),
        record(product, SIMPLE, 5.0, name="here"),
    )
    assert plan(product, books).nests[0].neighbour == first


def test_the_own_book_comes_before_the_others(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "other").mkdir()
    own = layered(tmp_path / "own", record(product, SIMPLE, 5.0, name="own"))
    other = layered(tmp_path / "other", record(product, blocked(), 9.0, name="other"))
    both = LayeredBook([own, other])
    assert plan(product, both).nests[0].neighbour == "own:0"
    assert plan(product, both, exclude=["own"]).nests[0].neighbour == "other:0"


def test_nearest_of_a_program_and_of_a_nest(good):
    (first, second) = good.nearest(text_of(chain), 3)
    assert first[0].record.kernel == "product"
    assert first[0].distance == 0.0
    assert first[0].speedup == pytest.approx(20.0)
    assert isinstance(first[0].record.hardware, HardwareProfile)
    assert second[0].distance > 0.5
    assert good.nearest(nests_of(product)[0], 3) == first
    assert good.nearest(program.prepare(text_of(product)), 3)[0] == first


def test_a_book_of_another_encoder_is_embedded_anew(tmp_path):
    good = fill(tmp_path / "book.db", [record(product, blocked())])
    weights = encoder()
    other = type(weights)(
        Weights(weights._weights, weights.metadata, "gnn1-00000000")  # the same, by another name
    )
    with LayeredBook([Book.open(good)], other) as books:
        (report,) = plan(product_permuted, books).nests
        with LayeredBook([Book.open(good)], weights) as usual:
            assert report == plan(product_permuted, usual).nests[0]


def test_misses_are_counted_where_a_book_can_be_written(tmp_path):
    path = fill(tmp_path / "book.db", [record(product, SIMPLE)])
    with Book.open(path) as book:
        LayeredBook([book]).note_misses(None, ["0" * 32], "sequential")
        assert [miss.fingerprint for miss in book.misses()] == ["0" * 32]
    with Book.open(path, readonly=True) as book:
        LayeredBook([book]).note_misses(None, ["1" * 32], "sequential")
        assert len(book.misses()) == 1
    LayeredBook([]).note_misses(None, ["1" * 32], "sequential")


def test_what_is_missed_becomes_a_task_with_its_nest(tmp_path):
    path = fill(tmp_path / "book.db", [])
    with LayeredBook([Book.open(path)]) as books:
        missed = plan(product, books)
        (one,) = missed.missed
        sizes = {name: 50 for nest in nests_of(product) for name in nest.symbols}
        for _ in range(2):
            books.note_misses(missed.normalised, missed.missed, "sequential", sizes)
        own = books.layers[0]
        assert isinstance(own, Book)
        ((task,), _) = own.queue.all()
        assert (task.fingerprint, task.asked, task.sizes) == (one, 2, [sizes])
        assert task.hardware_key == books.hardware("sequential").key
        (nest,) = read_nests(json.loads(own.queue.show(task.id)[1]))
        assert nest.fingerprint == one


def test_the_own_book_need_not_exist_but_a_named_one_must(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOPBOOK_BOOK", str(tmp_path / "none.db"))
    with open_book(starter=False) as books:
        assert books.books == ()
        assert plan(product, books).nests[0].tier == "none"
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(BookError, match=r"no book at .*other\.db"):
        open_book(tmp_path / "other.db")
    fill(tmp_path / "none.db", [record(product, SIMPLE)])
    with open_book(starter=False) as books:
        assert plan(product, books).nests[0].tier == "exact"


def test_a_damaged_nest_in_the_book_is_one_clear_line(tmp_path):
    bad = dataclasses.replace(record(product, SIMPLE), nest_json="{}")
    path = tmp_path / "book.db"
    with Book.open(path) as book:
        book.add(bad, encoder().encode(nests_of(product)[0]))
        with pytest.raises(BookError, match="is damaged"):
            plan(product_permuted, LayeredBook([book]))


@pytest.mark.parametrize("text", ["", "{}", "[1, 2]", '{"root": 1}', "null"])
def test_what_is_no_sdfg_is_refused(good, text):
    with pytest.raises(SdfgError):
        make_plan(text, "sequential", good)


def test_a_crash_of_docc_is_an_error_value(good, monkeypatch):
    def crash(text):
        faulthandler.disable()  # pytest's would print the child's stack
        os.abort()

    monkeypatch.setattr(program, "prepare_document", crash)
    with pytest.raises(KernelError, match="docc crashed"):
        make_plan(text_of(product), "sequential", good)


def test_a_recipe_that_takes_too_long_to_try_is_left(good, monkeypatch):
    good.forget()
    monkeypatch.setattr("loopbook.client.fit.FIT_SECONDS", -1.0)
    (report,) = plan(product_permuted, good).nests
    assert report.tier == "none"
    assert "took longer than" in report.reason
    good.forget()


def test_legality_is_asked_about_once(good, monkeypatch):
    first = plan(product_permuted, good)
    monkeypatch.setattr("loopbook.client.fit.Trials.fit", lambda *_: pytest.fail("asked again"))
    assert plan(product_permuted, good) == first
    assert all(isinstance(fit, Fit) for fit in good.fits.values())


def test_nests_that_are_alike_are_decided_about_once(good, monkeypatch):
    asked = []
    decide = Planner._decide

    def counted(planner, nest, *rest):
        asked.append(nest.position)
        return decide(planner, nest, *rest)

    monkeypatch.setattr(Planner, "_decide", counted)
    text = frontend.trace(chained, [np.ones((30, 30)) for _ in range(4)])
    found = make_plan(text, "sequential", good)
    assert asked == [0, 1], "the square of A is another nest"
    _, second, third = found.nests
    assert (second.position, third.position) == (1, 2)
    assert (second.loops, third.loops) == (("row", "col", "mid"), ("m", "n", "o"))
    assert found.recipes[1].text() == found.recipes[2].text() == blocked()


def test_promises_are_worked_out_once_for_the_same_neighbours(tmp_path, monkeypatch):
    path = tmp_path / "book.db"
    with Book.open(fill(path, [record(product, blocked())])) as book:
        books = LayeredBook([book], encoder())
        first = plan(product_permuted, books)
        assert first.nests[0].neighbour == "product:0"
        monkeypatch.setattr("loopbook.client.ports.Ports.best", lambda _: pytest.fail("again"))
        assert plan(product_permuted, books) == first
        assert plan(product_permuted, books, choices=2).choices
        monkeypatch.undo()
        assert plan(product_permuted, books, exclude=["product"]).nests[0].neighbour is None
        books.forget()
        assert plan(product_permuted, books) == first


def test_reports_are_json(good):
    entry = json.loads(json.dumps(plan(product_permuted, good).nests[0].to_json()))
    assert set(entry) == {"loops", "tier", "neighbour", "distance", "recipe", "predicted_speedup"}


def test_products_in_loops_are_calls_of_blas_but_where_their_user_has_tuned_them(
    good, tmp_path, monkeypatch
):
    blas_is(monkeypatch)

    def tier(kernel, books: LayeredBook, **options) -> str:
        sizes = {f"_s{n}": 40 for n in range(4)}
        (report,) = plan(kernel, books, libraries=True, sizes=sizes, **options).nests
        return report.tier

    assert tier(product, good) == "exact"
    assert tier(product, good, exclude=["product"]) == "library"
    assert tier(product_transposed, good) == "library"
    assert tier(product, good, expressions=True) == "library"
    with LayeredBook([Book.open(fill(tmp_path / "others.db", []))], encoder()) as nothing:
        assert tier(product, nothing) == "library"
    path = fill(tmp_path / "starter.db", [record(product, blocked())])
    with LayeredBook([Book.open(path, readonly=True)]) as others:
        assert tier(product, others) == "library"
        monkeypatch.setenv("LOOPBOOK_LIBRARIES", "0")
        assert tier(product, others) == "exact"


def eliminated(A):
    for k in range(A.shape[0]):
        for i in range(k + 1, A.shape[0]):
            for j in range(k + 1, A.shape[0]):
                A[i, j] = A[i, j] - A[i, k] * A[k, j] / A[k, k]


def test_where_no_book_helps_what_stays_is_loaded_once(tmp_path):
    books = layered(tmp_path, record(product, "", 1.0))
    text = frontend.trace(eliminated, [np.eye(20) + 1.0])
    (report,) = make_plan(text, "sequential", books).nests
    assert (report.tier, report.recipe) == ("kept", "hoist L2\n")
    sizes = frontend.size_symbols(eliminated, [np.eye(20)])
    (report,) = make_plan(text, "openmp", books, sizes=sizes).nests
    assert report.recipe == "hoist L2\nsingle\n"  # too little for threads
    (report,) = make_plan(text, "openmp", books).nests  # large, most likely
    assert report.recipe == "mark_parallel L1\nhoist L2\nparallel L1\nsingle\n"
