"""What loop headers say, against the loops that they are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopbook.errors import SdfgError
from loopbook.program.bounds import Bounds, bounds
from loopbook.program.expr import Expr, Polynomial

SIZES = {"n": 7, "m": 5, "t": 2}


def header(init: str, condition: str, update: str = "1 + i") -> Bounds:
    return bounds("i", Expr(init), Expr(condition), Expr(update))


def value(polynomial: Polynomial, known: dict[str, int]) -> int:
    total = 0
    for monomial, factor in polynomial.items():
        for symbol in monomial:
            factor *= known[symbol]
        total += factor
    return total


FUNCTIONS: dict[str, Any] = {
    "And": lambda *parts: all(parts),
    "min": min,
    "max": max,
    "Max": max,
    "__daisy_min": min,
}

affine = st.builds(
    lambda a, b, c, name: f"{a}*{name} + {b} - {c}*t",
    st.integers(-3, 3), st.integers(-5, 9), st.integers(-2, 2), st.sampled_from(sorted(SIZES)),
)  # fmt: skip
ends = affine | st.builds(
    lambda name, parts: f"{name}({', '.join(parts)})",
    st.sampled_from(["min", "__daisy_min"]), st.lists(affine, min_size=2, max_size=3),
)  # fmt: skip
comparisons = st.builds(lambda sign, end: f"(i {sign} {end})", st.sampled_from(["<", "<="]), ends)
mirrored = st.builds(lambda sign, end: f"({end} {sign} i)", st.sampled_from([">", ">="]), ends)
conditions = st.lists(comparisons | mirrored, min_size=1, max_size=3).map(
    lambda parts: parts[0] if len(parts) == 1 else f"And({', '.join(parts)})"
)


@given(conditions)
def test_room_and_highs_hold_where_the_condition_does(condition: str):
    found = header("0", condition)
    assert found.highs
    for i in range(-30, 31):
        known = SIZES | {"i": i}
        holds = eval(condition, dict(FUNCTIONS), dict(known))
        assert all(value(room, known) >= 0 for room in found.room) == holds
        assert all(i < value(high, SIZES) for high in found.highs) == holds


@pytest.mark.parametrize(
    ("condition", "ends"),
    [
        ("(2*i < n)", True),
        ("And(1 + 3*i <= n, i < m)", True),
        ("(n > 2*i + t)", True),
        ("(0 <= i)", False),
        ("And(2*i < n, 0 <= i)", False),
        ("And(2*i < n, i != m)", False),
        ("(i*i < n)", False),
        ("(n*i < m)", False),
        ("(2*i + i*n < m)", False),
        ("(n < m)", False),
    ],
)
def test_conditions_that_stay_false(condition: str, ends: bool):
    assert header("0", condition).ends == ends


@given(conditions)
def test_a_loop_below_its_highs_ends(condition: str):
    assert header("0", condition).ends


@given(st.lists(affine, min_size=1, max_size=3))
def test_lows_are_what_the_greatest_is_taken_of(parts: list[str]):
    init = parts[0]
    for part in parts[1:]:
        init = f"Max({init}, {part})"
    begins = max(value(low, SIZES) for low in header(init, "i < n").lows)
    assert begins == eval(init, dict(FUNCTIONS), dict(SIZES))


@given(st.integers(-5, 5), st.integers(-9, 9), st.integers(1, 4))
def test_constant_trips(first: int, end: int, step: int):
    found = header(str(first), f"(i < {end})", f"{step} + i")
    assert (found.step, found.trip()) == (step, len(range(first, end, step)))


def test_loops_that_count_down_have_room_but_no_highs():
    found = header("-1 + n", "(0 <= i)", "-1 + i")
    assert found.step == -1
    assert found.room == ({("i",): 1},)
    assert found.highs == ()
    assert found.trip() is None


@pytest.mark.parametrize(
    "condition", ["(i != n)", "Or(i < n, i < m)", "And(i < n, i != m)", "(i*i < n)", "(f(i) < n)"]
)
def test_other_conditions_have_no_highs(condition: str):
    assert header("0", condition).highs == ()


@pytest.mark.parametrize("update", ["2*i", "n + i", "i", "1"])
def test_other_updates_are_no_steps(update: str):
    assert header("0", "i < n", update).step is None


def test_a_header_that_is_no_expression_is_refused():
    with pytest.raises(SdfgError):
        header("0", "i <")
