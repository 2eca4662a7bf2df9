"""Scalars that loops carry, in large programs, of which docc is given one piece after the other."""

from __future__ import annotations

import json

import numpy as np
import pytest

import loopbook
from loopbook.program.read import read
from loopbook.sdfg import frontend
from loopbook.sdfg.lost_scalars import scalars_lost

pytestmark = pytest.mark.usefixtures("no_book")


def fitted(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        w = np.abs(x - x[i])
        b = np.array([np.sum(w * y), np.sum(w * y * x)])
        A = np.array([[np.sum(w), np.sum(w * x)], [np.sum(w * x), np.sum(w * x * x)]])
        if abs(np.linalg.det(A)) < 1e-12:
            out[i] = b[0] / A[0, 0]
        else:
            line = np.linalg.solve(A, b)
            out[i] = line[0] + line[1] * x[i]
    return out


def test_sums_in_a_piece_of_a_large_program_go_on():
    random = np.random.default_rng(20)
    x, y = np.sort(random.random(20)), random.random(20)
    np.testing.assert_allclose(loopbook.native(fitted, strict=True)(x, y), fitted(x, y), rtol=1e-8)


def summed(x, out):
    s = 0.5
    t = 1.0
    for k in range(x.shape[0]):
        s = s + x[k]
        t = t * x[k]
        out[k] = s
    out[0] = t


def begun_again(x, out):
    s = 0.5
    t = 1.0
    for k in range(x.shape[0]):
        s = 0.5 + x[k]
        t = t * x[k]
        out[k] = s
    out[0] = t


def test_what_is_no_longer_read_in_its_loop_is_lost():
    given = [np.ones(9), np.ones(9)]
    before, after = (read(json.loads(frontend.trace(f, given))) for f in (summed, begun_again))
    assert scalars_lost(before, after) == {"s"}
    assert not scalars_lost(before, before)
    assert not scalars_lost(after, before)
