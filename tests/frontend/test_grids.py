"""Running extremes, slopes and products of vectors, as loops run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

TYPES = (np.float64, np.float32, np.int64, np.int32)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [0, 1, 6])
def test_running_totals_and_extremes(dtype, size):
    body = """rows = np.maximum.accumulate(A), np.minimum.accumulate(A, axis=1)
both = np.add.accumulate(A), np.cumsum(A)
lines = np.maximum.accumulate(x), np.minimum.accumulate(x), np.multiply.accumulate(x)
return (*rows, *both, *lines, np.cumsum(A, axis=0), np.cumprod(x), A.cumsum(axis=-1))"""
    check(function(body, "A, x"), data(size, 4, dtype=dtype), data(size, dtype=dtype))


def test_running_extremes_keep_what_is_no_number():
    x = np.array([1.0, np.nan, 3.0, -2.0])
    check(function("return np.maximum.accumulate(x), np.minimum.accumulate(-x)", "x"), x)
    check(function("return np.maximum.accumulate(x)", "x"), x[:3] > 2)


def test_running_extremes_and_sums_into_an_array():
    body = """last = np.where(x > 0, np.arange(len(x)), 0)
np.maximum.accumulate(last, out=last)
np.minimum.accumulate(A, axis=1, out=A)
return x[last], np.add.accumulate(x > 0, dtype=np.float32)"""
    check(function(body, "A, x"), data(6, 4), data(6))
    whole = function("np.maximum.accumulate(x, out=k)", "x, k")
    with pytest.raises(LoweringError):
        lower(whole, (data(6), np.ones(6, int)))


@pytest.mark.parametrize("dtype", TYPES)
def test_slopes(dtype):
    body = """g = np.gradient(A)
h = np.gradient(A, 0.5, x[1] - x[0])
i = np.gradient(A, s, axis=1, edge_order=2)
k, l = np.gradient(A, axis=(1, 0))
return (*g, *h, i, k, l, np.gradient(x), np.gradient(A[:, 1] * 2, 3), np.gradient(x[:2], s))"""
    check(function(body, "A, x, s"), data(5, 4, dtype=dtype), data(4), 0.3)


@pytest.mark.parametrize("order", [1, 2])
def test_slopes_between_places_that_are_given(order):
    body = f"""u = np.gradient(y, x, edge_order={order})
return u, *np.gradient(A, x, 2.0, edge_order={order}), np.gradient(A, x, axis=0)"""
    x = np.cumsum(np.abs(data(5)) + 0.1)
    check(function(body, "A, x, y"), data(5, 4), x, data(5, seed=3))


@pytest.mark.parametrize("dtype", TYPES)
def test_vectors_in_space(dtype):
    body = """one = np.cross(A[0], B[1]), np.cross(A, B), np.cross(A, v), np.cross(v, A[:1] - 1)
return (*one, np.linalg.cross(A, B), np.cross(A[:, None], B[None]))"""
    a, b = (data(4, 3, dtype=dtype, seed=n) for n in (0, 1))
    check(function(body, "A, B, v"), a, b, data(3))
    check(function(body, "A, B, v"), a[:1], np.vstack((b[:1], b[:1])), data(3))


def test_vectors_in_the_plane():
    body = "return np.cross(A[:, :2], B[:, :2]), np.cross(A[0, :2], B[1, :2])"
    check(function(body, "A, B"), data(4, 3), data(4, 3, seed=1))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return np.gradient(x[:1])", "fewer than 2 places"),
        ("return np.gradient(A, 1.0, 2.0, 3.0)", "one spacing"),
        ("return np.cross(A[:, :2], A)", "no vectors"),
        ("return np.cross(A, A, axis=0)", "np.moveaxis"),
    ],
)
def test_what_has_no_loops_says_what_to_write(body, said):
    with pytest.raises(LoweringError, match=said):
        lower(function(body, "A, x"), [data(3, 3), data(4)])


@pytest.mark.parametrize("dtype", TYPES)
def test_sliding_products_of_all_modes(dtype):
    rows = [f"np.{f}(x, {w}, '{m}')" for f in ("convolve", "correlate")
            for w in ("y", "y[:4]", "y[:1]", "x") for m in ("same", "full", "valid")]  # fmt: skip
    body = f"a = {', '.join(rows[:12])}\nb = {', '.join(rows[12:])}\nreturn a + b"
    check(function(body, "x, y"), data(6, dtype=dtype), data(5, dtype=dtype))


@pytest.mark.parametrize("least", [-3.0, 0.0, 1.0])
@pytest.mark.parametrize("mode", ["same", "full", "valid"])
def test_sliding_products_of_as_many_numbers_as_the_loops_find(mode, least):
    body = (
        f"u, w = x[x > s], np.arange(int(2 - s))\n"
        f"return np.convolve(x, w, '{mode}'), np.convolve(u, y, '{mode}'), np.convolve(w, u)"
    )
    check(function(body, "x, y, s"), data(6), data(3), least)


def test_what_lies_outside_is_no_product():
    x, y = data(7), np.array([1.0, np.nan, 2.0, np.inf])
    body = "return np.convolve(x, y, 'same'), np.convolve(x, y), np.correlate(x, y, 'same')"
    check(function(body, "x, y"), x, y)
    check(function("return np.convolve(x, y)", "x, y"), x + 1j * x, y[:1] + 2j)


@pytest.mark.parametrize("missing", [(), (0,), (2,), (1, 3), (4,)])
def test_the_first_element_that_is_no_number_is_an_extreme(missing):
    A = data(3, 5)
    A[1, list(missing)] = np.nan
    body = """all = np.argmax(A), np.argmin(A), A.argmax(axis=0), A.argmin(axis=1)
return all, np.argmax(A[1]), np.argmin(A[1]), np.argmax(A * 0), np.argmin(A > 0)"""
    check(function(body, "A"), A)
    check(function(body, "A"), A.astype(np.float32))


def test_extremes_of_columns_are_found_a_row_at_a_time():
    A, body = data(4, 5, 6), "return A.argmax(axis=0), A.argmin(axis=1), (A + 1).argmin(axis=2)"
    A[1, 2, 3] = A[3, 0, 0] = np.nan
    lowered = check(function(body, "A"), A)
    rows = [line.strip() for line in lowered.source.splitlines() if "for " in line]
    assert [row.split()[1][0] for row in rows[:5]] == ["i", "i", "k", "i", "i"]
