"""Loads in front of branches: only where there is memory in any case, with Python's numbers."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from sdfg_kit import steps

import loopbook
from loopbook.errors import InterpretedWarning
from loopbook.program.expr import Expr
from loopbook.program.inside import Range, is_inside
from loopbook.sdfg import frontend
from loopbook.sdfg.early_loads import PREFIX
from loopbook.sdfg.transformed import transform

rng = np.random.default_rng(0)


def chosen(a, b, c, r):
    for i in range(a.shape[0]):
        if c[i] > 0.0:  # noqa: SIM108
            s = a[i]
        else:
            s = b[i]
        r[i] = s


def neighbours(a, b, c, r):
    for i in range(1, a.shape[0] - 1):
        v = a[i]
        if v < 0.0:
            v = a[i - 1] * b[i]
        elif v > 0.5:
            v = a[i + 1] * c[i]
        r[i] = v


def both(m, k, r):
    for i in range(1, m.shape[0] - 1):
        for j in range(m.shape[1] - 1):
            r[i, j] = m[i, j] and m[i - 1, j] and k[i + 1, j + 1]


def at_the_edge(a, b, c, r):
    for i in range(a.shape[0]):
        s = b[i]
        if i > 0:
            s += a[i - 1]
        r[i] = s


def looked_up(a, b, k, r):
    for i in range(a.shape[0]):
        s = 0.0
        if k[i] >= 0:
            s = b[k[i]]
        r[i] = s


def added(a, b, c, r):
    s = 0.0
    for i in range(a.shape[0]):
        if c[i] > 0.0:
            s += b[i]
    r[0] = s


def stored_before(a, b, c, r):
    for i in range(a.shape[0] - 1):
        if c[i] > 0.0:
            r[i + 1] = a[i]
            s = b[i]
        else:
            s = 0.5
        r[i] = s


def lines(n=37):
    return [*rng.standard_normal((3, n)), np.zeros(n)]


def masks():
    return [rng.random((9, 11)) < 0.7, rng.random((9, 11)) < 0.7, np.zeros((9, 11), bool)]


def places():
    a, b, _, r = lines()
    return [a, b, rng.integers(-1, 37, 37), r]


CASES = [
    (chosen, lines, 2),
    (neighbours, lines, 4),
    (both, masks, 0),  # docc reads all of them itself
    (at_the_edge, lines, 0),
    (looked_up, places, 1),
    (added, lines, 0),
    (stored_before, lines, 0),
]


@pytest.mark.parametrize(("func", "make", "loads"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_what_is_certainly_there_is_loaded_early(func, make, loads):
    text = frontend.trace(func, make())
    tree = transform(text, "sequential", {}, late=True).tree
    assert sum(name.startswith(PREFIX) for name in tree.containers) == loads


@pytest.mark.parametrize("target", ["sequential", "openmp"])
@pytest.mark.parametrize(("func", "make", "loads"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_numbers_are_those_of_python(func, make, loads, target, no_book):
    args = make()
    own = copy.deepcopy(args)
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterpretedWarning)
        loopbook.native(func, target=target)(*own)
    func(*args)
    for one, other in zip(args, own, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


def test_loads_are_early_in_tiles_too():
    text = frontend.trace(chosen, lines())
    for recipe in ("tile L0 8", "tile L0 8\npeel L0"):
        tree = transform(text, "sequential", {0: steps(recipe)}, late=True).tree
        assert any(name.startswith(PREFIX) for name in tree.containers), recipe


@pytest.mark.parametrize(
    ("index", "inside"),
    [("i", True), ("1 + i", False), ("-1 + i", False), ("n - i", False), ("_s0 - i - 1", True)],
)
def test_an_index_is_inside_for_all_that_its_loop_says(index, inside):
    around = (Range("i", ({},), (Expr("_s0 - 1").polynomial,)),)
    assert is_inside(Expr(index), Expr("_s0").polynomial, around) == inside
