"""Planning makes nothing that holds itself: trees go as soon as nobody asks about them any more,
and Python's search for circles, which stops everybody, has little to do."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from loopbook.client.opening import open_book
from loopbook.client.plan import make_plan
from loopbook.sdfg.frontend import trace

SQUARES = np.zeros((40, 40)), np.zeros((40, 40))


def smoothed(A, B):
    for _ in range(A.shape[0]):
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                B[i, j] = 0.25 * (A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j])
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                A[i, j] = B[i, j]


def solved(L, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            for k in range(i):
                B[i, j] -= L[i, k] * B[k, j]
            B[i, j] = B[i, j] / L[i, i]


@pytest.mark.parametrize("kernel", [smoothed, solved])
def test_nothing_is_left_to_look_for(kernel):
    text, others = trace(kernel, SQUARES), ("jacobi-2d", "jacobi_2d", "trisolv")
    with open_book(None) as books:
        make_plan(text, "sequential", books, exclude=others)  # whatever is made once
        books.fits.clear()
        books.candidates.clear()
        gc.collect()
        gc.disable()
        try:
            make_plan(text, "sequential", books, exclude=others)
            books.fits.clear()
            books.candidates.clear()
            gc.set_debug(gc.DEBUG_SAVEALL)
            gc.collect()
            ours = {type(one) for one in gc.garbage if type(one).__module__.startswith("loopbook")}
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()
    assert not ours
