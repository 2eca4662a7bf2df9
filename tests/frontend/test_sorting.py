"""Numbers in order, places of what is true, and what only the loops can tell."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.frontend import beforehand, lower
from loopbook.frontend import check as compared
from loopbook.frontend.constructs.networks import MOST, exchanges

from .kit import agree, check, data, flat, function


@pytest.fixture(autouse=True)
def sorted_by_loops(monkeypatch):
    """As they sort what they compute."""
    monkeypatch.setattr(beforehand, "FEWEST", 1 << 60)


SORTED = [
    "n = np.floor(x[:7])\nreturn np.lexsort((n, k)), np.lexsort((x[:7], k, n)), np.lexsort((k,))",
    "return np.sort(x), np.sort(A), np.sort(A, axis=0), np.sort(A, axis=None)",
    "return np.argsort(x), np.argsort(-x)[::-1], np.argsort(A, axis=0), x[np.argsort(x)]",
    "return np.median(x), np.median(A), np.median(A, axis=0), np.median(A, 1, keepdims=True)",
    "return np.percentile(x, [25, 50, 97.5]), np.quantile(A, 0.3, axis=0), np.percentile(x, 100)",
    "x.sort()\nA.sort(axis=0)",
    "return np.argsort(k, kind='stable'), np.sort(k)[::-1]",
    "u, c = np.unique(k, return_counts=True)\nreturn u, c, len(u), np.unique(x)",
    "u, f, b = np.unique(k, return_index=True, return_inverse=True)\nreturn u, f, b, u[b]",
    "for i in range(3):\n    x[i] = np.median(x[i : i + 4])",
]


@pytest.mark.parametrize("body", SORTED)
def test_sorting(body):
    k = np.array([3, 1, 2, 3, 1, 1, 7])
    check(function(body, "A, x, k"), data(4, 6), data(9), k)


@pytest.mark.parametrize("size", [9, 17, 40])
@pytest.mark.parametrize("of", ["np.diff(x)", "np.append(x, x[3:])", "np.outer(x, x[1:])"])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_lines_whose_lengths_are_sums(size, of, dtype):
    body = (
        f"y = {of}\nz = y.ravel()\nu, c = np.unique(y, return_counts=True)\n"
        "o = np.argsort(z, kind='stable')\nz.sort()\n"
        "return u, c, o, z, np.median(z[1:]), np.sort(y, axis=0), np.lexsort((x[1:], x[:-1]))"
    )
    check(function(body, "x"), data(size, dtype=dtype))


def test_percentiles_of_single_numbers():
    """Python's own share makes numbers of 32 bits, a list of them, and NumPy's, numbers of 64; how
    they are rounded differs."""
    body = """p, r = np.percentile(x, [20, 40.5]), np.percentile(x, np.sqrt(s))
return np.percentile(x, 30), np.quantile(A, s, axis=1), np.float32(p), np.float32(r), p[:0]"""
    x = data(9, dtype=np.float32)
    check(function(body, "A, x, s"), data(4, 6, dtype=np.float32), x, 0.61)
    x[3] = np.nan
    check(function(body, "A, x, s"), data(4, 6, dtype=np.float32), x, 0.2)


def test_the_way_back_from_the_numbers_of_a_matrix():
    body = """u, f, b = np.unique(k, return_index=True, return_inverse=True)
v, c, n = np.unique(k.T, return_inverse=True, return_counts=True)
return u, f, b, u[b] == k, c, n"""
    check(function(body, "k"), data(4, 5, dtype=np.int64))


def test_one_number_is_in_order():
    """Nothing is merged: docc would forget the loops' conditions."""
    for x in (np.array([2.0]), np.array([np.nan])):
        body = "return np.sort(x), np.argsort(x), np.unique(x)"
        lowered = check(function(body, "x"), x)
        assert "width_" not in lowered.kernel_source


def test_what_a_mask_picks_is_given_axes():
    body = "m = np.ones(A.shape, bool)\nm[np.arange(4), A.argmin(1)] = False\n"
    body += "return A[m].reshape(4, A.shape[1] - 1), A[m].reshape(2, 2, A.shape[1] - 1)[0]"
    check(function(body, "A"), data(4, 6))


def test_convolutions_of_any_lengths():
    kinds = ("full", "same", "valid")
    body = "return " + ", ".join(f"np.convolve(x[:3], x, '{kind}')" for kind in kinds)
    check(function(body, "x"), data(7))
    body = "y = np.zeros(len(x) + 3)\nfor k in range(0, len(x), 3):\n"
    body += "    z = np.convolve(x[k : k + 3], x[:4])\n    y[k : k + len(z)] += z\nreturn y"
    for size in (6, 7, 8):
        check(function(body, "x"), data(size))


def test_what_is_no_number_is_last():
    x = data(9)
    x[[1, 4]] = np.nan, np.inf
    check(function("return np.sort(x), np.argsort(x), np.median(x), np.unique(x)", "x"), x)
    check(function("return np.percentile(x, 10), np.unique(x)", "x"), x[2:])


PICKED = [
    "return np.nonzero(x > 0)[0], np.flatnonzero(A > s), np.argwhere(A > s)",
    "i, j = np.where(A > s)\nreturn i, j, A[i, j], i.size",
    "return np.take(x, k), np.take(A, k, axis=1), np.extract(x > 0, x), np.compress(x > 0, x)",
    "return np.take_along_axis(A, np.argsort(A, axis=1), axis=1)",
    "return np.select([x > 1, x > 0], [x, x * 2], -1.0), np.array_equal(x, x + 0), "
    "np.array_equal(x, k)",
    "np.copyto(x, 3.0, where=x > 0)\nnp.putmask(A, A > s, 9.0)",
    "np.copyto(x, x[::-1], where=x > 0)\nnp.copyto(A, A[0], where=A > s)",
    "np.copyto(A[1:], A[:-1], where=A[1:] > s)\nnp.copyto(A, k[:, None], where=A[:, :1] > 0)",
    "a, b = np.split(x, 2)\nc, d, e = np.split(A, [1, 2], axis=1)\nreturn a, b, c, d, e",
    "return np.dstack((A, A)), np.c_[x, x], np.r_[x, 1.0, s], np.delete(x, 2)",
    "return np.maximum.reduce([x, -x, x * x]), np.add.reduce(A), np.minimum.reduce(A, axis=1)",
    "return np.block([[A, A], [A, -A]]), np.allclose(x, x + 1e-12), np.hanning(7)",
    "return np.rot90(A), np.rot90(A, 2), np.linalg.matrix_power(A[:, :4], 5), np.isin(k, [1, 2])",
    "return np.lib.stride_tricks.sliding_window_view(x, 3).max(axis=-1)",
    "y, z = np.mgrid[0:1:4j, -1:1:5j]\nv, w = np.ogrid[0:1:4j, 0:3]\nreturn y, z, v, w",
]


@pytest.mark.parametrize("body", PICKED)
def test_picking(body):
    k = np.array([3, 1, 2, 3])
    check(function(body, "A, x, k, s"), data(4, 6), data(8), k, 0.5)


def test_what_was_supposed_is_looked_at():
    """Sizes that only the loops know must be equal; where they are not, Python is called."""
    body = "y = x[x > 0]\nz = x[x < s]\nx[0] = 9\nreturn y * z"
    func = function(body, "x, s")
    x = np.array([1.0, -2, 3, -4, 5, -6])
    lowered = check(func, x, 0.0)
    assert lowered.failed
    other = np.array([1.0, -2, 3, 4, 5, -6])
    kept = other.copy()
    called = []
    assert lowered.wrap(lowered.plain_kernel, lambda *args: called.append(args))(other, 0.0) is None
    assert called[0][0] is other
    agree([other], [kept])
    assert compared(func, lowered, [x, 0.0]) >= 0


def test_equal_numbers_have_no_order_of_their_own():
    lowered = lower(function("return np.argsort(x)", "x"), [data(6)])
    assert lowered is not None
    x = np.array([1.0, 2, 1, 3, 0, 5])
    found = lowered.wrap(lowered.plain_kernel, np.argsort)(x)
    agree(flat(np.argsort(x)), flat(found))


@pytest.mark.parametrize("size", [1, 2, 3, 8, 33])
def test_single_numbers_are_found_without_sorting(size):
    rng = np.random.default_rng(size)
    body = "return np.median(x), np.percentile(x, [0, 33.3, 50, 99, 100]), np.quantile(x, s)"
    lines = [
        np.arange(size)[::-1] * 1.0,
        rng.integers(0, 3, size),
        np.where(rng.random(size) < 0.3, np.inf, rng.standard_normal(size)),
    ]
    for line in lines:
        lowered = check(function(body, "x, s"), line, 0.61)
        assert "width" not in lowered.kernel_source  # of runs that are merged


@pytest.mark.parametrize("count", range(2, MOST + 1))
def test_what_is_compared_puts_all_numbers_in_order(count):
    """If it does so with noughts and ones, it does with all (Knuth, 5.3.4, Z)."""
    rows = np.arange(1 << count if count < 10 else 1 << 10)
    bits = rows[:, None] >> np.arange(count) & 1 if count < 10 else ranks(count)
    for one, other in exchanges(count):
        pair = bits[:, [one, other]]
        bits[:, one], bits[:, other] = pair.min(1), pair.max(1)
    assert (np.diff(bits, axis=1) >= 0).all()


def ranks(count):
    return np.random.default_rng(count).permuted(np.tile(np.arange(count), (200, 1)), axis=1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("count", [2, 3, 6, 9])
def test_short_lines_are_put_in_order_without_branches(count, dtype):
    body = "return np.sort(A, axis=0), np.sort(A.T), np.median(A, axis=0), np.median(A.T, 1, "
    body += "keepdims=True), np.sort(A, axis=0)[1]"
    given = abs(data(count, 7, dtype=dtype)).astype(dtype)
    given[:, 3] = given[0, 0]
    if np.dtype(dtype).kind == "f":
        given[1, :2], given[:, 5], given[0, 6] = np.nan, np.nan, np.inf
        given[1, 6] = np.nan
    lowered = check(function(body, "A"), given)
    assert "while" not in lowered.kernel_source
    assert not lowered.holds(np.ones((count + 1, 7), dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("size", [1, 2, 9])
def test_as_many_percentiles_as_an_array_asks_for(size, dtype):
    body = """cuts = np.quantile(x, np.linspace(0, 1, n + 1)[1:-1])
asked = []
for k in range(n):
    asked.append(20.5 * k)
low = np.percentile(x, asked)[0]
all = np.quantile(x, np.linspace(0, 1, 4 * n))
return cuts, low, all, np.percentile(x, 100 * q), np.quantile(x * 2, q.reshape(2, 2)), x[:0]"""
    x, q = data(size, dtype=dtype), np.array([0.0, 0.31, 0.98, 1.0])
    check(function(body, "x, q, n"), x, q, 4)
    if x.dtype.kind == "f":
        x[size // 2] = np.nan
        check(function(body, "x, q, n"), x, q, 3)


@pytest.mark.filterwarnings("ignore::loopbook.errors.InterpretedWarning")
def test_percentiles_that_are_none_raise_as_in_python():
    program = loopbook.native(function("return np.quantile(x, q)", "x, q"))
    assert len(program(data(9), np.array([0.5, 1.0]))) == 2
    with pytest.raises(ValueError, match="range"):
        program(data(9), np.array([0.5, 1.5]))
