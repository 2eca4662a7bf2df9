"""Loops of which one side of a branch reads what the other one writes elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pytest

import loopbook
from loopbook.program.read import read
from loopbook.sdfg.sunk_stores import keep_stores_apart

pytestmark = pytest.mark.usefixtures("no_book")


def handed_on(a, b, c, d, e):
    for i in range(a.shape[0] - 1):
        if b[i] < 0.0:
            c[i + 1] = a[i] + d[i] * d[i]
        else:
            a[i] = c[i] + d[i] * e[i]


def here(a, b, c, d, e):
    for i in range(a.shape[0]):
        if b[i] < 0.0:
            c[i] = a[i] + d[i] * d[i]
        else:
            a[i] = c[i] + d[i] * e[i]


@pytest.mark.parametrize("function", [handed_on, here])
def test_the_next_iteration_reads_what_this_one_has_written(function):
    program = loopbook.native(function, strict=True)
    random = np.random.default_rng(1)
    got = [random.random(203) * 2 - 1 for _ in range(5)]
    want = [one.copy() for one in got]
    program(*got)
    function(*want)
    np.testing.assert_allclose(got, want)
    tree = read(json.loads(program.last_sdfg.to_json()))
    assert (keep_stores_apart(tree) is tree) == (function is here)
