"""Filters of all forms get their sums beside each other."""

from __future__ import annotations

import pytest
from sdfg_kit import check_recipe, nests_of, random

from loopbook.rules.sliding_sums import sliding_sums
from loopbook.rules.strips import BESIDE


def filtered(x, w, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(w.shape[0]):
            s += w[k] * x[i + k]
        y[i] = s


def in_memory(x, w, y):
    for i in range(y.shape[0]):
        for k in range(w.shape[0]):
            y[i] = y[i] + w[k] * x[i + k]


def dilated(x, w, y):
    for i in range(y.shape[0]):
        for k in range(w.shape[0]):
            y[i] = y[i] + w[k] * x[i + 2 * k]


def to_the_left(x, w, y):
    for k in range(w.shape[0]):
        for i in range(3, y.shape[0]):
            y[i] = y[i] * 0.5 + w[k] * x[i + k]


def products(x, w, y):
    for i in range(y.shape[0]):
        for k in range(w.shape[0]):
            y[i] = y[i] + w[k] * x[i * w.shape[0] + k]


GIVEN = (random(1000), random(7), random(90))


@pytest.mark.parametrize("kernel", [filtered, in_memory, dilated, to_the_left])
def test_filters_are_taken_in_strips(kernel, tmp_path):
    (nest,) = nests_of(kernel, GIVEN)
    steps = sliding_sums(nest, {})
    assert steps[-1].op == "strip_and_sink"
    assert steps[-1].args[1] == BESIDE
    check_recipe(kernel, [GIVEN], [(one.op, one.args) for one in steps], tmp_path)


def test_other_sums_are_left_to_books():
    (nest,) = nests_of(products, GIVEN)
    assert not sliding_sums(nest, {})


def test_few_sums_are_left_alone():
    (nest,) = nests_of(in_memory, GIVEN)
    assert not sliding_sums(nest, {"L0": 8})
