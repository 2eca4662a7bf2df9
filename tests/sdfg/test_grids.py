"""Places on grids are NumPy's to the last bit: 0 where it has 0."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.sdfg.grids import PRAGMA, PRECISELY, with_grids

pytestmark = pytest.mark.usefixtures("no_book")


def spaced(a, n):
    return np.linspace(-a, a, n)


def by_hand(a, dx, n):
    x = np.empty(n)
    for i in range(n):
        x[i] = -a + i * dx
    return x


def in_the_middle(dx, n):
    return (np.arange(n) - n // 2) * dx + 0.5


def signs(a, n):
    x, y = np.linspace(-a, a, n), np.linspace(-a, a, n)[:, None]
    r = np.sqrt(x * x + y * y)
    return np.sign(x) * np.sin(r) / r


@pytest.mark.parametrize("a", [1.2, 1.5, 3.0, np.pi])
@pytest.mark.parametrize("n", [7, 11, 21, 41])
def test_there_is_a_nought_in_the_middle(a, n):
    for func, args in (
        (spaced, (a, n)),
        (by_hand, (a, 2 * a / (n - 1), n)),
        (in_the_middle, (a / 7, n)),
    ):
        found = loopbook.native(func, strict=True)(*args)  # type: ignore[arg-type]
        np.testing.assert_array_equal(found, func(*args))
    with np.errstate(invalid="ignore"):
        found = loopbook.native(signs, strict=True)(a, n)
        np.testing.assert_allclose(found, signs(a, n), atol=1e-15)


def block(first, second, operator, gives, indent="        "):
    lines = [
        "{",
        f"    double _in1 = {first};",
        f"    double _in2 = {second};",
        "    double _out;",
        "",
        f"    _out = _in1 {operator} _in2;",
        "",
        f"    {gives} = _out;",
        "}",
    ]
    return "".join(f"{indent}{line}\n" if line else "\n" for line in lines)


COUNT = """        {
            int64_t _in = i0;
            double _out;

            _out = _in;

            tmp_7 = _out;
        }
"""


def test_only_multiples_of_counts_are_rounded_by_themselves():
    code = COUNT + block("tmp_7", "s_0", "*", "tmp_6")
    assert with_grids(code).count(PRAGMA) == 1
    others = block("x", "s_0", "*", "tmp_6") + block("tmp_7", "s_0", "+", "tmp_6")
    assert with_grids(COUNT + others) == COUNT + others
    assert with_grids(code.replace(COUNT, "")) == code.replace(COUNT, "")


def test_quotients_in_loops_may_be_products():
    inside = COUNT + block("x", "tmp_7", "/", "y")
    assert with_grids(inside) == inside
    in_front = COUNT + block("x", "tmp_7", "/", "y", indent="    ")
    assert with_grids(in_front).count(PRECISELY) == 1
