"""Products of matrices are nests of their own, whatever reads them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loopbook.program.load import load_json
from loopbook.program.read import read
from loopbook.sdfg import frontend
from loopbook.sdfg.program import prepare_document
from loopbook.sdfg.whole_products import kept_whole


def attention(q, k, t, y):
    for i in range(q.shape[0]):
        for j in range(k.shape[0]):
            t[i, j] = 0.0
    for i in range(q.shape[0]):
        for j in range(k.shape[0]):
            for c in range(q.shape[1]):
                t[i, j] = t[i, j] + q[i, c] * k[j, c]
    for i in range(q.shape[0]):
        best = -1e300
        for j in range(k.shape[0]):
            if j <= i:
                best = max(best, t[i, j])
        y[i] = best


def distances(q, k, t, y):
    for i in range(q.shape[0]):
        for j in range(k.shape[0]):
            for c in range(q.shape[1]):
                t[i, j] = t[i, j] + math.fabs(q[i, c])
    for i in range(q.shape[0]):
        best = -1e300
        for j in range(k.shape[0]):
            if j <= i:
                best = max(best, t[i, j])
        y[i] = best


def given():
    draw = np.random.default_rng(0)
    return draw.random((9, 5)), draw.random((7, 5)), np.zeros((9, 7)), np.zeros(9)


@pytest.mark.parametrize(("kernel", "whole"), [(attention, True), (distances, False)])
def test_products_alone_are_kept_apart(kernel, whole):
    program = read(load_json(frontend.trace(kernel, given())))
    assert (kept_whole(program) is not program) is whole


def test_what_is_read_by_rows_has_loops_of_its_own():
    _, nests = prepare_document(frontend.trace(attention, given()))
    (product,) = (nest for nest in nests if any(loop.kind == "reduce" for loop in nest.loops))
    assert len(product.loops) == 3
