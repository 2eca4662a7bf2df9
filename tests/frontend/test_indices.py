"""Arrays made to be indices, and other small ways to put arrays together."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError

from .kit import check, data, function

TYPES = (np.float64, np.float32, np.int64, np.int32)
STEPS = np.array([2, 3])


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("k", [-5, -1, 0, 1, 5])
def test_indices_of_triangles(n, k):
    body = f"""i, j = np.triu_indices(n, k={k})
h, l = np.tril_indices(n, {k}, 3)
p, q = np.triu_indices(n, {k}, 6)
return i, j, h, l, p, q, *np.tril_indices_from(A, {k}), A[np.triu_indices_from(A)]"""
    check(function(body, "n, A"), n, data(n, n))


def test_places_in_arrays_of_several_dimensions():
    body = """i, j = np.unravel_index(np.argmin(A), A.shape)
k, l, m = np.unravel_index(p, (2, 3, 4))
return i, j, A[i, j], k, l, m, *np.unravel_index(7, (2, 5))"""
    check(function(body, "A, p"), data(3, 5), np.array([0, 23, 12, 7]))


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_by_columns_powers_and_numbers_put_in(dtype):
    body = """a = A[np.ix_(p, q)], np.vander(x, 4), np.vander(x[:0], 2)
b = np.vander(x, increasing=True)
A[np.ix_(q, p)] = 0
a = *a, b
return *a, np.insert(x, 0, 0.0), np.insert(x, 2, y), np.insert(x, -1, 7), np.insert(x[:0], 0, 1)"""
    arrays = data(4, 4, dtype=dtype), data(3, dtype=dtype), data(2, dtype=dtype)
    check(function(body, "A, x, y, p, q"), *arrays, np.array([0, 3]), np.array([2, 1, 1]))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return np.insert(A, 0, 1.0, axis=1)", "np.concatenate"),
        ("return np.insert(x, 9, 1.0)", "behind the end"),
        ("return np.delete(x, 9)", "behind the end"),
    ],
)
def test_what_has_no_loops_says_what_to_write(body, said):
    with pytest.raises(LoweringError, match=said):
        lower(function(body, "A, x"), [data(3, 3), data(3)])


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(1, 5):\n    x[i * i :: i] = i\nreturn x",
        "for i in range(1, 5):\n    s = s + x[i::i].sum() + x[: i * i : i].sum()\nreturn s",
        "for i in range(1, 4):\n    A[::i, 1::i] = i\nreturn A[1::2]",
        "i = 2\nwhile i < 4:\n    if x[i] != 9:\n        x[i * i :: i] = 9\n    i += 1\nreturn x",
        "n = 8\nwhile n > 0:\n    s += x[:12:n].sum() - x[n::n].max()\n    n //= 2\nreturn s",
        "for k in np.array([3, 1, 2]):\n    A[::k] += A[0, k - 1]\nreturn A[:, ::k].mean(axis=1)",
    ],
)
def test_steps_that_a_loop_gives(body):
    check(function(body, "x, s, A"), data(13), 0.0, data(4, 5))


@pytest.mark.parametrize("step", [0, -2])
def test_a_step_of_data_that_is_not_above_nought_is_pythons(step):
    lowered = lower(function("for k in K:\n    x[::k] += 1\nreturn x", "x, K"), [data(9), STEPS])
    assert lowered is not None
    with pytest.raises(SupposedError):
        lowered.plain(data(9), np.array([2, step]))


def test_ends_of_slices_are_computed_once_in_a_block():
    """So that parts fit that are cut off at the end of an array, each in its statement."""
    body = """C = np.zeros_like(A)
for i in range(0, 7, k):
    for j in range(0, 7, k):
        for l in range(0, 7, k):
            C[i:i + k, j:j + k] += A[i:i + k, l:l + k] @ B[l:l + k, j:j + k]
        if j > i:
            C[i:i + k, j:j + k] *= 2
    A[i:i + k] = C[i:i + k]
return C"""
    lowered = check(function(body, "A, B, k"), data(7, 7), data(7, 7, seed=1), 3)
    assert lowered.kernel_source.count("min(") == 6  # not 9


def test_ends_that_change_are_computed_anew():
    body = """n = k
for i in range(3):
    x[:n] += y[:n]
    n = n + 1
    x[:n] *= y[:n]
return x"""
    check(function(body, "x, y, k"), data(4), data(4, seed=1), 2)


@pytest.mark.parametrize("none", [False, True])
def test_masks_beside_other_indices_are_the_places_where_they_are_true(none):
    mask, y = np.array([True, False, True, True]), np.array([2, 0, 1, 1])
    body = """A[m, y[m]] = 1.0
A[np.ix_(m, [0, 2])] += 2.0
B[np.ix_(m, m)] = A[m, 1]
return A[m, y[m]], A[m, 0].sum(), B[np.ix_(m, m)], B[np.ix_(y > 0, [0])]"""
    check(function(body, "A, B, m, y"), data(4, 3), data(4, 4), mask & (not none), y)


def test_places_in_a_line_of_places_in_each_dimension():
    body = """f = np.ravel_multi_index((i, j), A.shape)
return f, A.ravel()[f], np.ravel_multi_index((2, 1), (3, 4))"""
    function_ = function(body, "A, i, j")
    places = np.array([0, 2, 1]), np.array([4, 0, 3])
    lowered = check(function_, data(3, 5), *places)
    inside = function("m = i < 3\nreturn np.ravel_multi_index((i[m], j[m]), (3, 5))", "i, j")
    check(inside, places[0] + 1, places[1])
    with pytest.raises(LoweringError):  # NumPy raises
        lowered.plain(data(3, 5), places[0] - 1, places[1])


def test_a_view_is_the_same_memory():
    check(
        function("v = A.view()\nv[0] = 9\nw = A.T.view()\nw[1] += 1\nreturn A.sum()", "A"),
        data(3, 4),
    )


def test_places_that_the_loops_find_are_left_out_or_get_one_more_in_front():
    body = """k = np.argmax(x)
j = np.searchsorted(np.sort(x), s)
rest = [np.delete(x, i).sum() for i in range(len(x))]
return (np.delete(x, k), np.delete(A, k, axis=0), np.delete(A, np.argmin(A[0]), axis=1),
    np.insert(np.sort(x), j, s), np.insert(x, k, [1.0, s]), np.array(rest))"""
    for s in (-9.0, 0.25, 9.0):
        check(function(body, "A, x, s"), data(6, 4), data(6), s)
    lowered = lower(function("return np.delete(x, k[0])", "x, k"), (data(6), np.array([2])))
    assert lowered is not None
    with pytest.raises(SupposedError):
        lowered.plain(data(6), np.array([-1]))
