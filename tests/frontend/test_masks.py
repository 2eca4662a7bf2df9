"""Elements and rows that masks choose, as loops run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError

from .kit import check, data, function

LABELS = np.array([1, 0, 2, 1, 1, 0])
TYPES = (np.float64, np.float32, np.int64, np.int32)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "body",
    [
        "return X[i == 1].mean(axis=0), X[i == 0].sum(axis=0), X[i > 0, :].sum()",
        "m = i == 1\nR = X[m]\nreturn R, R.T @ R, R.T, R[:, ::2], X[m, 1]",
        "m = i == 1\nreturn X[m, 1:].max(axis=0), X[m][:, [2, 0]]",
        "m = X[0] > 0\nreturn X[:, m], X[2, m].sum(), X[1:, m].sum(axis=1)",
        "for k in range(3):\n    m = i == k\n    if m.sum() > 0:\n        C[k] = X[m].mean(axis=0)",
        "X[i == 1] = C[0]\nX[i == 2, 1:] = 0\nX[i == 0, 0] = s",
        "m = i != 0\nX[m, 0] += 2\nX[m] *= 2\nX[m, 1:] -= C[1, 1:]",
        "m = i != 0\nX[m] = X[m][:, [2, 0, 1, 3]]\nC[:, m[:4]] = X[:3, m[:4]] + 1",
        "m = i == 1\nX[m] = C",
        "X[i == 1] = C[:1]\nX[i == 5] = 3\nreturn X[i == 5], X[i == 5].sum(axis=0)",
        "Z = np.zeros((6, 4, 2), dtype=X.dtype)\nZ[X > 0] = C[0, :2]\nZ[i > 1, :, 1] = 1\nreturn Z",
    ],
)  # fmt: skip
def test_rows_that_a_mask_chooses(body, dtype):
    arrays = data(6, 4, dtype=dtype), data(3, 4, dtype=dtype, seed=1)
    check(function(body, "X, C, i, s"), *arrays, LABELS, dtype(3))


def test_all_rows_and_none():
    body = "return X[m], X[m].sum(axis=0), X[~m, 0].sum(), X[:, m[:2]]"
    for mask in (np.zeros(3, bool), np.ones(3, bool)):
        check(function(body, "X, m"), data(3, 2), mask)
    check(function("return X[m].sum(axis=0)", "X, m"), data(0, 2), np.zeros(0, bool))
    check(function("return X[m].sum(axis=0)", "X, m"), data(1, 2), np.ones(1, bool))


def test_different_masks_are_told_apart():
    mask = np.array([True, False, False, True, True, False])
    check(function("return (x[m] * x[m]).sum(), x[m].sum() - x[~m].sum()", "x, m"), data(6), mask)
    for chosen, calls in ((mask, 0), (~mask, 0), (mask & (np.arange(6) > 0), 1)):
        func, called = function("return x[m] + x[~m]", "x, m"), []
        lowered = lower(func, [data(6), chosen])
        assert lowered is not None
        lowered.wrap(lowered.plain_kernel, lambda *args, c=called: c.append(args))(data(6), chosen)
        assert len(called) == calls


def test_masks_beside_other_indices_that_have_no_loops():
    for body, said in (
        ("return Z[:, m, 0]", "index twice"),
        ("return X[m[1:]]", "another shape"),
    ):
        with pytest.raises(LoweringError, match=said):
            lower(function(body, "X, Z, m"), [data(3, 3), data(2, 3, 2), LABELS[:3] > 0])


def test_what_a_mask_lets_through_is_stored_without_a_branch():
    body = "return x[x > 0], np.nonzero(x), np.sqrt(np.abs(x) + 1)[x < 1]"
    lowered = check(function(body, "x"), np.array([1.0, -2.0, 0.0, 3.0, -4.0]))
    stored = [line for line in lowered.source.splitlines() if "[n_" in line]
    depths = [len(line) - len(line.lstrip()) for line in stored]
    assert depths == [8, 8, 12]  # what costs much is computed for those alone


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("more", ["", ", axis=0", ", axis=1, ddof=1", ", axis=-1"])
def test_spreads_without_what_is_no_number_have_the_type_of_what_they_are_of(more, dtype):
    A = data(5, 6, dtype=dtype)
    if dtype != np.int32:
        A[[0, 2, 4], [1, 1, 5]] = np.nan
    check(function(f"return np.nanvar(A{more}), np.nanstd(A{more})", "A"), A)


def test_what_a_mask_of_several_axes_lets_through_has_one():
    body = (
        "m = X > 0\nreturn X[m].sum(axis=0), np.mean(X[m], axis=-1), X[m].sum(keepdims=True), "
        "np.sum(X[m], axis=None), X[m].mean(), X[m].var(axis=0), np.max(X[m], axis=0)"
    )
    check(function(body, "X"), data(4, 4))
    check(function("X[X > 0] = np.sum(X[X > 0], axis=0)", "X"), data(4, 4))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("least", [-9, 0, 9])
def test_chosen_rows_have_diagonals_and_lie_in_one_line(dtype, least):
    body = (
        "B = X[X[:, 0] > s]\nC = X[:, X[1] > s]\n"
        "return np.diagonal(B), np.trace(B), np.diag(C, 1), B.ravel(), C.reshape(-1), "
        "C.T.flatten(), np.diag(B.T, -9), np.diagonal(X, 7), "
        "np.unique(B), np.outer(B, y), np.roll(C, 2), np.diag(B.T @ B)"
    )
    for size in (3, 8):
        check(function(body, "X, y, s"), data(size, 5, dtype=dtype), data(2, dtype=dtype), least)


NONE = [
    "return x[x > s].max()",
    "return np.argmin(x[x > s])",
    "return np.flatnonzero(x > s).max()",
    "t = 0.0\nfor i in range(3):\n    t += x[x > s * i].min()\nreturn t",
]


@pytest.mark.parametrize("body", NONE)
def test_python_raises_where_no_element_is_chosen(body):
    kernel, x = function(body, "x, s"), np.arange(9.0)
    lowered = check(kernel, x, 2.5)
    with pytest.raises(SupposedError):
        lowered.plain(x, 9.5)


def test_where_some_are_sure_to_be_nothing_is_supposed():
    body = """y = x[x > s]
r = np.empty(5)
for i in range(5):
    r[i] = x[i:].max() + x[: i + 1].argmin()
return r, x[2:].max(), y.max(initial=0.0)"""
    assert "failed" not in check(function(body, "x, s"), np.arange(9.0), 2.5).kernel_source
    body = "y = x[x > s]\nreturn y.max() if y.size else -1.0"
    lowered = check(function(body, "x, s"), np.arange(9.0), 2.5)
    assert lowered.plain(np.arange(9.0), 9.5) == -1.0
