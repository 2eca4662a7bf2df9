"""Flags that are tests."""

from __future__ import annotations

import numpy as np

import loopbook
from loopbook.sdfg.flags import with_flags


def flag(name, test, end=""):
    lines = ["{", f"    {name} = 0;", "}", f"if({test})", "{", "    {", f"        {name} = 1;"]
    return "\n".join([*lines, "    }", "}", end, ""])


def test_a_flag_is_the_test_that_sets_it():
    assert with_flags(flag("f", "(3 == x)")) == "{\n    f = (3 == x);\n}\n\n"
    both = with_flags(flag("f", "(3 == x)") + flag("g", "((0 != f) || (x <= 2))"))
    assert both.count("if(") == 0


def test_what_else_a_branch_does_stays():
    for code in (
        flag("f", "(3 == f)"),
        flag("f", "(3 == x)", "else\n{\n}"),
        flag("f", "(3 == x)").replace("f = 1", "g = 1"),
        flag("f", "(3 == x)").replace("f = 1;", "f = 1;\n        g = 1;"),
    ):
        assert with_flags(code) == code


def alive(cells, near, x):
    kept = ((near == 3) | ((cells == 1) & (near == 2))).astype(int)
    return kept, (x > 0.5) | ~(x < 0.2), x != x


def test_flags_of_numbers_and_of_what_is_none():
    rng = np.random.default_rng(0)
    cells, near, x = rng.integers(0, 2, (9, 40)), rng.integers(0, 9, (9, 40)), rng.random((9, 40))
    x[3, ::3] = np.nan
    program = loopbook.native(alive, strict=True)
    for got, want in zip(program(cells, near, x), alive(cells, near, x), strict=True):
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype
