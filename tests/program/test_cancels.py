"""Sums of which something is taken away again that was added."""

from __future__ import annotations

import json

import numpy as np
import pytest

import loopbook
from loopbook.program.cancels import cancels
from loopbook.program.read import read

pytestmark = pytest.mark.usefixtures("no_book")


def compensated(x, y, out):
    s = c = 0.0
    for i in range(x.shape[0]):
        z = x[i] - c
        t = s + z
        c = (t - s) - z
        s = t
    return s


def without_error(x, y, out):
    for i in range(x.shape[0]):
        out[0, i] = x[i] + y[i]
        b = out[0, i] - x[i]
        a = out[0, i] - b
        out[1, i] = (x[i] - a) + (y[i] - b)


def split(x, y, out):
    for i in range(x.shape[0]):
        c = 134217729.0 * x[i]
        out[0, i] = c - (c - x[i])
        out[1, i] = x[i] - out[0, i]


def rounded(x, y, out):
    for i in range(x.shape[0]):
        out[0, i] = (x[i] * 1e-6 + 6755399441055744.0) - 6755399441055744.0
        if x[i] > 1.0:
            h = x[i] + y[i]
            out[1, i] = h - x[i]


def back_and_forth(x, y, out):
    """A product is added, and taken away again."""
    for i in range(x.shape[0]):
        out[0, i] += x[i] * y[i]
        out[0, i] -= y[i] * x[i]


def sliding(x, y, out):
    """What is taken away is another element, or was another number."""
    s = 0.0
    old = 1.0
    for i in range(3, x.shape[0]):
        s = s + x[i] - x[i - 3]
        out[0, i] = (x[i] - x[i]) + s - old + (y[i] - y[i - 1]) - (y[i - 1] - y[i - 2])
        out[1, i] = out[1, i] + 0.1 * (out[1, i - 1] - 2.0 * out[1, i] + x[i])
        old = s
    return s


def arguments():
    random = np.random.default_rng(5)
    x = random.random(400) * 10.0 ** random.integers(0, 16, 400)
    return (
        np.concatenate([x, -x[::-1]]),
        random.permutation(np.concatenate([x, -x])),
        np.ones((2, 800)),
    )


@pytest.mark.parametrize("function", [compensated, without_error, split, rounded, back_and_forth])
def test_what_a_sum_has_lost_is_what_python_says(function):
    program = loopbook.native(function, strict=True)
    got, want = arguments(), arguments()
    assert program(*got) == function(*want)
    np.testing.assert_array_equal(got[2], want[2])
    assert cancels(read(json.loads(program.last_sdfg.to_json())))


def test_other_sums_are_taken_in_any_order():
    program = loopbook.native(sliding, strict=True)
    program(*arguments())
    assert not cancels(read(json.loads(program.last_sdfg.to_json())))
