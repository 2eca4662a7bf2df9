"""Sums that may be taken in any order, told to clang."""

from __future__ import annotations

import pytest

from loopbook.sdfg.any_order import PRAGMA, with_any_order


def block(target, made, *given, kind="double"):
    named = [f"_in{place + 1}" for place in range(len(given))]
    lines = [f"{kind} {name} = {value};" for name, value in zip(named, given, strict=True)]
    lines += [f"{kind} _out;", "", f"_out = {made};", "", f"{target} = _out;"]
    return "".join(["    {\n", *(f"        {line}\n" for line in lines), "    }\n"])


@pytest.mark.parametrize(
    "code",
    [
        block("sum_0", "_in1 + _in2", "sum_0", "tmp_1"),
        block("s", "_in1 * _in2", "x", "s", kind="float"),
        block("s", "_in1 * _in2 + _in3", "x", "y", "s"),
        block("((double *)a)[i0]", "_in1 - _in2", "((double *)a)[i0]", "1.0"),
    ],
)
def test_what_is_summed_up_in_a_place_may_be_in_any_order(code):
    said = with_any_order(code + block("y", "_in1 + _in2", "x", "z"))
    assert said.count(PRAGMA) == 1
    assert said.startswith(f"    {{\n        {PRAGMA}\n        ")
    assert said.replace(f"        {PRAGMA}\n", "") == code + block("y", "_in1 + _in2", "x", "z")


@pytest.mark.parametrize(
    "code",
    [
        block("y", "_in1 + _in2", "x", "z"),
        block("s", "_in1 / _in2", "s", "x"),
        block("s", "_in1 + _in2", "s", "x", kind="int64_t"),
        block("a[i0]", "_in1 + _in2", "a[i0 - 1]", "x"),
    ],
)
def test_all_else_stays(code):
    assert with_any_order(code) == code
