"""Powers of whole numbers have 64 bits, however docc writes them."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.sdfg.build import build_baseline, build_tuned
from loopbook.sdfg.frontend import bind, trace


def cubes(a, r):
    for i in range(a.shape[0]):
        r[i] = a[i] * a[i] * a[i]


def products_of_products(a, r):
    for i in range(a.shape[0]):
        x = a[i]
        y = x * x
        z = y * y
        r[i] = x * y * z


def sums_of_cubes(a, r):
    for i in range(a.shape[0]):
        s = 0
        for j in range(i + 1):
            s = s + a[j] * a[j] * a[j]
        r[i] = s


@pytest.mark.parametrize("function", [cubes, products_of_products, sums_of_cubes])
def test_powers_of_whole_numbers_have_64_bits(function, tmp_path):
    a = np.array([-1400, 2000, 3, -3, 0, 1291, -100_003])[: 6 if function is not cubes else 7]
    expected = [a, np.zeros_like(a)]
    function(*expected)
    text = trace(function, expected)
    for place, built in enumerate(
        (
            build_baseline(text, "sequential", tmp_path / "one"),
            build_tuned(text, "sequential", {}, tmp_path / "two"),
        )
    ):
        args = [a, np.zeros_like(a)]
        bind(function, args, built.library)(*args)
        np.testing.assert_array_equal(args[1], expected[1], err_msg=str(place))
