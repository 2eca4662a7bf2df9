"""Nests that the book knows in another form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sdfg_kit import as_docc_sends, check_library
from sdfg_kit import random as filled

import loopbook
from loopbook.client.fit import Fit, Refusal, Trials
from loopbook.client.forms import sums_in_memory
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


def definite(n: int) -> np.ndarray:
    A = filled(n, n)
    return A @ A.T + 2.0 * n * np.eye(n)


def form_of(kernel: Callable[..., None], args: list[Any]) -> Recipe | None:
    """What leads to the other form of the nest that holds the most loops."""
    document, nests = prepare_document(as_docc_sends(kernel, args))
    trials = Trials("", read(document))

    def fit(nest: Nest, recipe: Recipe) -> Fit | Refusal:
        try:
            return trials.fit(nest, recipe)
        except IllegalStepError as error:
            return Refusal(str(error), error.position)

    form = sums_in_memory(max(nests, key=lambda nest: len(nest.loops)), fit, {}, 1 << 20)
    return form.recipe if form else None


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [(lu, "reg2mem L1\nreg2mem L3"), (cholesky, "reg2mem L1\nreg2mem L0")],
)
def test_sums_that_elements_take_in_are_another_form(kernel, wanted):
    assert form_of(kernel, [definite(9)]) == Recipe.parse(wanted)


@pytest.mark.parametrize("kernel", [row_sums, scaled_by_itself])
def test_other_sums_are_none(kernel):
    assert form_of(kernel, [filled(9, 9), filled(9)]) is None


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


def test_small_sums_in_rows_stay_in_scalars():
    args = [definite(100)]
    text = as_docc_sends(cholesky, args)
    with loopbook.open() as book:
        plan = loopbook.make_plan(text, "sequential", book, sizes={"_s0": 100})
    assert not any("reg2mem" in recipe.text() for recipe in plan.recipes.values())
