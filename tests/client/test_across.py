"""Recipes that would have a sweep go across memory."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.client.across import goes_across
from loopbook.recipes.recipe import Recipe
from loopbook.sdfg import frontend
from loopbook.sdfg.program import prepare_document


def rows(u, f):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


def columns(u, f):
    for j in range(1, u.shape[1] - 1):
        for i in range(1, u.shape[0] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


@pytest.fixture(scope="module")
def nests():
    found = {}
    for kernel in (rows, columns):
        text = frontend.trace(kernel, [np.ones((9, 9)), np.ones((9, 9))])
        found[kernel.__name__] = prepare_document(text)[1][0]
    return found


DOWN = "interchange L0 L1\ntile L0 8\npeel L0\nunroll L0*"
"""Columns, eight rows of each written out."""

SEVERAL_ROWS = "tile L0 4\ninterchange L0 L1\npeel L0\nunroll L0*"

STRIPS = "tile L1 64\ninterchange L0 L1.tile"

SHORT_STRIPS = "tile L1 4\ninterchange L0 L1.tile\npeel L1\nunroll L1*"

SKEWED = "skew L0 L1 1\ninterchange L0 L1"


@pytest.mark.parametrize(
    ("name", "recipe", "worse"),
    [
        ("rows", "", False),
        ("rows", "interchange L0 L1", True),
        ("rows", DOWN, True),
        ("rows", DOWN + "\nparallel L0\nsingle", True),
        ("rows", SEVERAL_ROWS, False),
        ("rows", STRIPS, False),
        ("rows", SHORT_STRIPS, True),
        ("rows", SKEWED, False),
        ("columns", "interchange L0 L1", False),
        ("columns", DOWN, False),
        ("columns", "tile L1 8\npeel L1\nunroll L1*", False),
    ],
)
def test_which_recipes_go_across(nests, name, recipe, worse):
    assert goes_across(nests[name], Recipe.parse(recipe)) is worse
