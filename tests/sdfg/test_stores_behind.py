"""Stores behind the branches that all sides end with."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import prepared_text

import loopbook
from loopbook.program.accesses import accesses
from loopbook.program.json_text import loaded
from loopbook.program.read import read
from loopbook.program.tree import Branch
from loopbook.program.walk import preorder
from loopbook.sdfg.stores_behind import with_stores_behind

pytestmark = pytest.mark.usefixtures("no_book")


def table(a, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            if a[i, 0] > a[j, 0]:
                t[i, j] = t[i - 1, j - 1] + 1.0
            elif a[i, 1] > a[j, 1]:
                t[i, j] = t[i - 1, j] - a[i, j]
            else:
                t[i, j] = a[i, j] * 0.5 + t[i, j - 1]


def elsewhere(a, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            if a[i, 0] > a[j, 0]:
                t[i, j] = a[i, j]
            else:
                t[i, j - 1] = a[i, j]


def not_always(a, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            if a[i, 0] > a[j, 0]:
                t[i, j] = a[i, j]
            elif a[i, 1] > a[j, 1]:
                t[i, j] = 2.0


def arguments():
    a = np.random.default_rng(1).random((30, 31))
    a[5, :2] = np.nan
    return a[:, :30].copy(), np.ones((30, 30))


def stored_in_branches(program) -> int:
    branches = [node for node in preorder(program) if isinstance(node, Branch)]
    return sum(access.write and bool(access.subset) for b in branches for access in accesses(b))


@pytest.mark.parametrize("function", [table, elsewhere, not_always])
def test_an_element_that_all_sides_store_into_is_stored_behind_them(function):
    given = read(loaded(prepared_text(function, list(arguments()))))
    made = with_stores_behind(given)
    assert stored_in_branches(given) > 0
    if function is table:
        assert stored_in_branches(made) == 0
    else:
        assert made is given


@pytest.mark.parametrize("function", [table, not_always])
def test_numbers_are_pythons(function):
    program = loopbook.native(function, strict=True)
    got, want = arguments(), arguments()
    program(*got)
    function(*want)
    np.testing.assert_allclose(got[1], want[1])
