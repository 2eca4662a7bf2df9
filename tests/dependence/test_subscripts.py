"""Flat indices taken apart, where rows are as long as a sum of sizes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopbook.dependence.model import Linear
from loopbook.dependence.subscripts import Parts, apart, strides_with_sums
from loopbook.program.expr import Polynomial, plus, polynomial, product

VARIABLES = {"i", "j", "k"}


def flat(width: str, row: str, column: str) -> Polynomial:
    return plus(product(polynomial(width), polynomial(row)), polynomial(column))


def within(width: str, low: int = 0, high: int = 0) -> list[Linear]:
    """Columns from `low` to the end of rows without its last `high`."""
    ends = {"*".join(m): f for m, f in plus(polynomial(width), {(): -high - 1}).items()}
    return [{"j": 1, **({"": -low} if low else {})}, {**ends, "j": -1}]


def value(form: Linear | Polynomial, values: Mapping[str, int]) -> int:
    total = 0
    for term, factor in form.items():
        for symbol in term.split("*") if isinstance(term, str) and term else term:
            factor *= values[symbol]
        total += factor
    return total


def summed(parts: Parts, values: Mapping[str, int]) -> int:
    total = 0
    for stride, form in parts.items():
        for symbol in stride:
            form = {
                name: factor * value(polynomial(symbol), values) for name, factor in form.items()
            }
        total += value(form, values)
    return total


@given(
    st.sampled_from(["N - 2", "N + 3", "2*N - 1", "N - M", "M*N - 1"]),
    st.integers(-2, 2),
    st.integers(-1, 1),
    st.integers(5, 9),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_the_parts_make_up_the_index(width, row, column, size, i, j):
    index = flat(width, f"i + {row}", f"j + {column}")
    along = strides_with_sums([index], VARIABLES)
    rows = within(width, max(0, -column), max(0, column))
    parts = apart(index, along, VARIABLES, rows, {})
    assert parts is not None
    assert len(parts) == 2
    values = {"N": size, "M": 2, "i": i, "j": j, "k": 0}
    assert summed(parts, values) == value(index, values)
    assert parts[()] == plus_constant({"j": 1}, column)


def plus_constant(form: dict[str, int], constant: int) -> Linear:
    return {**form, **({"": constant} if constant else {})}


def test_planes_of_such_rows():
    whole = product(polynomial("N - 2"), polynomial("M - 1"))
    index = plus(product(whole, polynomial("k - 1")), flat("N - 2", "i", "j"))
    along = strides_with_sums([index], VARIABLES)
    rows = [*within("N - 2"), {"i": 1}, {"M": 1, "i": -1, "": -2}]
    parts = apart(index, along, VARIABLES, rows, {})
    assert parts is not None
    assert sorted(map(sorted, (form.items() for form in parts.values()))) == [
        [("", -1), ("k", 1)],
        [("i", 1)],
        [("j", 1)],
    ]


@pytest.mark.parametrize("diagonal", ["i*N + i", "(N + 1)*i + 1"])
def test_a_diagonal_is_made_of_rows_and_columns(diagonal):
    every = [flat("N", "i", "j"), polynomial(diagonal)]
    assert strides_with_sums(every, VARIABLES) == {(), ("N",)}


def test_columns_that_may_leave_their_row_are_not_taken_apart():
    index = flat("N - 2", "i", "j")
    along = strides_with_sums([index], VARIABLES)
    assert apart(index, along, VARIABLES, [{"j": 1}, {"N": 1, "j": -1, "": -2}], {}) is None


def test_planes_of_whole_rows_without_those_at_the_ends():
    """``A[k, i, j]`` of ``N - 4`` rows in each plane, which have ``M`` columns."""
    whole = product(polynomial("N - 4"), polynomial("M"))
    index = plus(product(whole, polynomial("k")), flat("M", "i", "j + 1"))
    along = strides_with_sums([index], VARIABLES)
    rows = [*within("M", 0, 1), {"i": 1}, {"N": 1, "i": -1, "": -5}]
    parts = apart(index, along, VARIABLES, rows, {})
    assert parts is not None
    assert sorted(map(sorted, (form.items() for form in parts.values()))) == [
        [("", 1), ("j", 1)],
        [("i", 1)],
        [("k", 1)],
    ]


def test_rows_of_pairs():
    """``A[i, 2 * j + 1]`` of rows that have N pairs."""
    pair = polynomial("2*j + 1")
    index = plus(polynomial("2*N*i + 2*N"), pair)
    along = strides_with_sums([index, polynomial("2*N*i")], VARIABLES)
    parts = apart(index, along, VARIABLES, within("N"), {})
    assert parts is not None
    assert sorted(map(sorted, (form.items() for form in parts.values()))) == [
        [("", 1), ("i", 1)],
        [("", 1), ("j", 2)],
    ]
    halves = strides_with_sums([index, polynomial("N*i")], VARIABLES)
    assert halves == {(), ("N",)}
    assert apart(index, halves, VARIABLES, within("N"), {}) is None
