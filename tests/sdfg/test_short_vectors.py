"""Rows as long as a vector are no loops that clang writes out."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.sdfg.short_vectors import with_short_rows

CODE = """\
    for(b = 0;b < _s0;b = 1 + b)
    {
        for(i = 0;i < ROWS;i = 1 + i)
        {
            // Map
            #pragma clang loop vectorize(enable) interleave(enable)
            for(j = 0;j < LONG;j = 1 + j)
            {
                c[j] = 0.0;
            }
        }
    }
"""
KEPT = "        #pragma clang loop unroll(disable)\n        for(i = 0"


@pytest.mark.parametrize(
    ("rows", "long", "kept"),
    [(4, 4, True), (12, 8, True), (4, 3, False), (4, 16, False), (2, 4, False), ("n", 4, False)],
)
def test_which_rows_are_kept(rows, long, kept):
    code = CODE.replace("ROWS", str(rows)).replace("LONG", str(long))
    changed = with_short_rows(code)
    assert (KEPT in changed) is kept
    assert changed.replace("        #pragma clang loop unroll(disable)\n", "") == code


def test_what_says_how_it_is_run_is_left_alone():
    told = "        #pragma clang loop unroll(full)\n        for(i = 0"
    code = CODE.replace("        for(i = 0", told).replace("ROWS", "4").replace("LONG", "4")
    assert with_short_rows(code) == code


def products(A, B):
    return A @ B


def sums(A, B):
    return 2.0 * A + B.transpose(0, 2, 1)


@pytest.mark.parametrize("size", [2, 3, 4, 8])
@pytest.mark.parametrize("function", [products, sums])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_batches_of_small_matrices(function, size, dtype):
    draw = np.random.default_rng(size)
    a, b = (draw.random((70, size, size)).astype(dtype) for _ in range(2))
    found = loopbook.native(function, strict=True)(a, b)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, function(a, b), rtol=1e-5)
