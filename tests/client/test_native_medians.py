"""Medians of so many numbers as the function says."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook

pytestmark = pytest.mark.usefixtures("no_book")


def around_each(x):
    out = x.copy()
    for i in range(2, len(x) - 2):
        out[i] = np.median(x[i - 2 : i + 3])
    return out


def between_two(x):
    out = x.copy()
    for i in range(1, len(x) - 2):
        out[i] = np.median(x[i - 1 : i + 3])
    return out


def of_planes(image):
    stack = np.stack([image[i : i + 4, j : j + 5] for i in range(3) for j in range(3)])
    return np.median(stack, axis=0)


@pytest.mark.parametrize("func", [around_each, between_two])
@pytest.mark.parametrize("missing", [False, True])
def test_a_median_of_a_few_neighbours_is_compiled(func, missing):
    x = np.random.default_rng(1).standard_normal(20)
    if missing:
        x[[3, 11, 12]] = np.nan
    np.testing.assert_allclose(loopbook.native(func, strict=True)(x), func(x), strict=True)


def test_a_median_of_planes_that_are_written_out_is_compiled():
    image = np.random.default_rng(1).random((6, 7))
    found = loopbook.native(of_planes, strict=True)(image)
    np.testing.assert_array_equal(found, of_planes(image), strict=True)
