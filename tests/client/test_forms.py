"""Nests that the book knows in another form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from client_kit import blas_is
from sdfg_kit import as_docc_sends, check_library
from sdfg_kit import random as filled

import loopbook
from loopbook.client.fit import Fit, Refusal, Trials
from loopbook.client.forms import Form, batches_first, rows_in_one, sums_apart, sums_in_memory
from loopbook.errors import IllegalStepError
from loopbook.program.nest import Nest
from loopbook.program.read import read
from loopbook.recipes.recipe import Recipe
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.program import prepare_document


def lu(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


def cholesky(A):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def row_sums(A, x):
    for i in range(A.shape[0]):
        x[i] = A[i, :] @ x


def scaled_by_itself(A, x):
    for i in range(A.shape[0]):
        x[i] = x[i] * (x[i] - A[i, :i] @ A[:i, i])


def averaged(steps, A):
    for _ in range(steps):
        for i in range(1, A.shape[0] - 1):
            A[i, 1:-1] += A[i - 1, :-2] + A[i - 1, 1:-1] + A[i, 2:] + A[i + 1, 2:]
            for j in range(1, A.shape[1] - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 6.0


def averaged_behind(steps, A):
    for _ in range(steps):
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                A[i, j] += A[i - 1, j] + A[i, j - 1]
            for j in range(1, A.shape[1] - 1):
                A[i, j] = (A[i, j + 1] + A[i, j - 1]) / 4.0


def definite(n: int) -> np.ndarray:
    A = filled(n, n)
    return A @ A.T + 2.0 * n * np.eye(n)


IN_MEMORY = partial(sums_in_memory, trips={}, cache=1 << 20)


def form_of(
    kernel: Callable[..., None],
    args: list[Any],
    form: Callable[..., Form | None] = IN_MEMORY,
) -> Recipe | None:
    """What leads to the other form of the nest that holds the most loops."""
    document, nests = prepare_document(as_docc_sends(kernel, args))
    trials = Trials("", read(document))

    def fit(nest: Nest, recipe: Recipe) -> Fit | Refusal:
        try:
            return trials.fit(nest, recipe)
        except IllegalStepError as error:
            return Refusal(str(error), error.position)

    found = form(max(nests, key=lambda nest: len(nest.loops)), fit)
    return found.recipe if found else None


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [(lu, "reg2mem L1\nreg2mem L3"), (cholesky, "reg2mem L1\nreg2mem L0")],
)
def test_sums_that_elements_take_in_are_another_form(kernel, wanted):
    assert form_of(kernel, [definite(9)]) == Recipe.parse(wanted)


@pytest.mark.parametrize("kernel", [row_sums, scaled_by_itself])
def test_other_sums_are_none(kernel):
    assert form_of(kernel, [filled(9, 9), filled(9)]) is None


def test_sums_that_are_only_stored_are_none():
    def products(A, B):
        for i in range(A.shape[0]):
            B[i] = A[i, :] @ A[0, :]

    assert form_of(products, [filled(9, 9), filled(9)]) is None


def test_loops_beside_a_recurrence_are_one():
    assert form_of(averaged, [3, filled(9, 9)], rows_in_one) == Recipe.parse("fuse L2 L3")


@pytest.mark.parametrize("kernel", [averaged_behind, lu, row_sums])
def test_rows_that_need_each_other_as_a_whole_are_not(kernel):
    """One reads what the row becomes further on; the others have nothing beside each other."""
    args = [3, filled(9, 9)] if kernel is averaged_behind else [filled(9, 9), filled(9)]
    assert form_of(kernel, args[: 1 if kernel is lu else 2], rows_in_one) is None


def between(A, B, C):
    """The batch runs between the loops of its products."""
    for i in range(A.shape[0]):
        for j in range(B.shape[2]):
            for b in range(A.shape[1]):
                s = 0.0
                for k in range(A.shape[2]):
                    s += A[i, b, k] * B[b, k, j]
                C[i, b, j] = s


def beside(A, B, C):
    """Vectors go along the batch."""
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for b in range(A.shape[2]):
                s = 0.0
                for k in range(A.shape[1]):
                    s += A[i, k, b] * B[k, j, b]
                C[i, j, b] = s


def test_batches_of_products_are_products_of_each_batch(tmp_path: Path):
    shapes = (20, 4, 30), (4, 30, 25), (20, 4, 25)
    given = [filled(*shape) for shape in shapes]
    wanted = Recipe.parse("interchange L1 L2\ninterchange L0 L2")
    assert form_of(between, given, batches_first) == wanted
    text = as_docc_sends(between, given)
    sizes: dict[str, int] = {"_s0": 200, "_s1": 8, "_s2": 100, "_s3": 150}
    with loopbook.open() as book:
        plan = loopbook.make_plan(text, "sequential", book, sizes=sizes)
    (report,) = plan.nests
    assert report.recipe.startswith(wanted.text())
    assert "pad" in report.recipe
    library = build_tuned(text, "sequential", plan.recipes, tmp_path).library
    check_library(between, [given], library)


def test_vectors_go_along_what_lies_beside_each_other():
    given = [filled(20, 30, 4), filled(30, 25, 4), filled(20, 25, 4)]
    assert form_of(beside, given, batches_first) is None


def channels(X, W, Y):
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            for o in range(Y.shape[2]):
                s = 0.0
                for p in range(W.shape[0]):
                    for q in range(W.shape[1]):
                        for c in range(X.shape[2]):
                            s += X[i + p, j + q, c] * W[p, q, c, o]
                Y[i, j, o] = s


def channels_in_place(X, W, Y):
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            for o in range(Y.shape[2]):
                for p in range(W.shape[0]):
                    for q in range(W.shape[1]):
                        for c in range(X.shape[2]):
                            Y[i, j, o] += X[i + p, j + q, c] * W[p, q, c, o]


def whole(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def test_sums_that_are_only_stored_stand_apart():
    given = [filled(12, 13, 5), filled(3, 4, 5, 7), filled(10, 10, 7)]
    wanted = "reg2mem L2\ndistribute L2\ndistribute L1\ndistribute L0"
    assert form_of(channels, given, sums_apart) == Recipe.parse(wanted)
    assert form_of(channels_in_place, given, sums_apart) is None
    assert form_of(lu, [definite(9)], sums_apart) is None


@pytest.mark.parametrize("kernel", [channels, channels_in_place])
@pytest.mark.parametrize("channels_out", [7, 40])
def test_sums_over_windows_and_channels_stay_in_registers(kernel, channels_out, tmp_path: Path):
    given = [filled(12, 13, 5), filled(3, 4, 5, channels_out), filled(10, 10, channels_out)]
    text = as_docc_sends(kernel, given)
    with loopbook.open() as book:
        plan = loopbook.make_plan(text, "sequential", book)
    (report,) = plan.nests
    assert report.tier == "tiles"
    library = build_tuned(text, "sequential", plan.recipes, tmp_path).library
    check_library(kernel, [given], library)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_products_of_whole_numbers_stay_in_registers(dtype, tmp_path: Path):
    cases = [
        [(100 * filled(*shape)).astype(dtype) for shape in ((m, k), (k, n), (m, n))]
        for m, n, k in ((9, 40, 33), (4, 3, 70))
    ]
    text = as_docc_sends(whole, cases[0])
    with loopbook.open() as book:
        plan = loopbook.make_plan(text, "sequential", book)
    (report,) = plan.nests
    assert report.tier == "tiles"
    assert "pad" in report.recipe
    library = build_tuned(text, "sequential", plan.recipes, tmp_path).library
    check_library(whole, cases, library)


def test_numpy_s_sweep_gets_the_recipe_of_the_loops(tmp_path: Path):
    text = as_docc_sends(averaged, [3, filled(9, 12)])
    with loopbook.open() as book:
        sizes = {"steps": 100, "_s0": 400, "_s1": 400}
        plan = loopbook.make_plan(text, "sequential", book, sizes=sizes)
    (report,) = plan.nests
    assert (report.tier, report.neighbour) == ("near", "seidel-2d:0")
    assert plan.recipes[0].text().startswith("fuse L2 L3\nwavefront L0")
    library = build_tuned(text, "sequential", plan.recipes, tmp_path).library
    cases = [[t, filled(n, m)] for t, n, m in ((1, 3, 4), (5, 4, 9), (40, 30, 21), (2, 9, 60))]
    check_library(averaged, cases, library)


@pytest.mark.parametrize(("kernel", "known"), [(lu, "lu:0"), (cholesky, "cholesky:0")])
def test_numpy_s_factorisations_get_the_recipes_of_the_loops(
    kernel: Callable[..., None], known: str, tmp_path: Path
):
    text = as_docc_sends(kernel, [definite(9)])
    with loopbook.open() as book:
        plan = loopbook.make_plan(text, "sequential", book, sizes={"_s0": 2000})
    report = max(plan.nests, key=lambda nest: len(nest.loops))
    assert (report.tier, report.neighbour) == ("near", known)
    assert plan.recipes[report.position].text().startswith("reg2mem")
    library = build_tuned(text, "sequential", plan.recipes, tmp_path).library
    check_library(kernel, [[definite(n)] for n in (2, 3, 40, 100)], library)


def below(A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += A[i + 1 :, i] @ B[i + 1 :, j]


@pytest.mark.parametrize(("rows", "known"), [(200, True), (400, False)])
def test_calls_that_are_not_sure_to_gain_leave_loops_that_are_known(
    rows: int, known: bool, monkeypatch: pytest.MonkeyPatch
):
    """A recipe tuned for these loops, with the sums in memory, gains more at small sizes."""
    blas_is(monkeypatch)
    program = loopbook.native(below, strict=True)
    got = [filled(rows, rows), filled(rows, rows + 40)]
    want = [array.copy() for array in got]
    program(*got)
    below(*want)
    np.testing.assert_allclose(got[1], want[1])
    assert program.plan is not None
    report = max(program.plan.nests, key=lambda nest: len(nest.loops))
    assert report.tier == ("near" if known else "library")
    assert (report.neighbour == "trmm:0") == known


def layer(x, w, b):
    return np.maximum(x @ w + b, 0.0)


def gram(x):
    return x.T @ x


@pytest.mark.parametrize(
    ("function", "given", "tiled"),
    [
        (layer, [filled(140, 160), filled(160, 170), filled(170)], True),
        (gram, [filled(140, 160)], False),
    ],
)
def test_a_blas_with_narrow_vectors_is_called_where_no_tiles_of_our_own_fit(
    function: Callable, given: list[np.ndarray], tiled: bool, monkeypatch: pytest.MonkeyPatch
):
    for narrow in (False, True):
        blas_is(monkeypatch, narrow=narrow)
        program = loopbook.native(function, strict=True)
        np.testing.assert_allclose(program(*given), function(*given))
        assert program.plan is not None
        (report,) = (one for one in program.plan.nests if len(one.loops) == 3)
        assert (report.tier != "library") == (narrow and tiled)
        assert ("pad" in report.recipe) == (narrow and tiled)


def test_small_sums_in_rows_stay_in_scalars():
    args = [definite(100)]
    text = as_docc_sends(cholesky, args)
    with loopbook.open() as book:
        plan = loopbook.make_plan(text, "sequential", book, sizes={"_s0": 100})
    assert not any("reg2mem" in recipe.text() for recipe in plan.recipes.values())
