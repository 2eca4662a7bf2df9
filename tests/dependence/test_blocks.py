"""Loops through blocks of an array, of which there are as many as fit."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import bench_of, random

from loopbook.errors import IllegalStepError


def blocks(x, y):
    for bi in range(x.shape[0] // 8):
        for bj in range(x.shape[1] // 8):
            for u in range(8):
                for v in range(8):
                    y[8 * bi + u, 8 * bj + v] = 2 * x[8 * bi + u, 8 * bj + v]


def doubled(x, y):
    for i in range(y.shape[0] // 2):
        for j in range(y.shape[1] // 2):
            y[2 * i, 2 * j] = x[i, j]
            y[2 * i + 1, 2 * j] = x[i, j]
            y[2 * i, 2 * j + 1] = x[i, j]
            y[2 * i + 1, 2 * j + 1] = x[i, j]


def one_too_many(x, y):
    for bi in range(x.shape[0] // 8):
        for bj in range(x.shape[1] // 8):
            for u in range(8):
                for v in range(9):
                    y[8 * bi + u, 8 * bj + v] = x[8 * bi + u, 8 * bj + v]


SMALL, LARGE = random(8, 16), random(16, 24)


@pytest.mark.parametrize(
    ("kernel", "args", "loop"),
    [(blocks, (LARGE, LARGE.copy()), loop) for loop in ("L0", "L1", "L2", "L3")]
    + [(doubled, (SMALL, np.zeros((16, 32))), loop) for loop in ("L0", "L1")],
)
def test_blocks_are_apart(kernel, args, loop):
    bench_of(kernel, list(args)).apply("mark_parallel", (loop,))


@pytest.mark.parametrize("loop", ["L1", "L2"])
def test_blocks_that_overlap_are_not(loop):
    with pytest.raises(IllegalStepError):
        bench_of(one_too_many, [LARGE, LARGE.copy()]).apply("mark_parallel", (loop,))
