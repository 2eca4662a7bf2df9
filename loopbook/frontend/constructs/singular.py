"""Least squares, pseudoinverses, ranks: what singular values tell, whatever their vectors' signs.

Before::

    x = np.linalg.lstsq(A, b, rcond=None)[0]

After: the columns of A are turned in pairs until all are at right angles (Jacobi's way from one
side), `w`, as those of a unit matrix are, `v`, and::

    for j: c[j] = sum of w[j, k] * b[k] / sum of w[j, k] * w[j, k]
    for j: for i: x[i] = x[i] + c[j] * v[j, i]

What NumPy raises or warns of, such as a polynomial of too many parts, is left to it.
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend.constructs.written import written

SWEEPS = 40
"""So often all pairs are looked at; ten times are enough for most matrices."""

SQUARE = 1e-15
"""The cosine of an angle that is a right one."""


def _turned(rows):
    """The rows of a matrix, in place, turned until they are at right angles; and what a unit matrix
    becomes of."""
    count, length = rows.shape
    turns = np.eye(count)
    for _ in range(SWEEPS):
        moved = 0
        for p in range(count - 1):
            for q in range(p + 1, count):
                one = two = both = 0.0
                for i in range(length):
                    one += rows[p, i] * rows[p, i]
                    two += rows[q, i] * rows[q, i]
                    both += rows[p, i] * rows[q, i]
                if abs(both) > SQUARE * np.sqrt(one) * np.sqrt(two):
                    moved = 1
                    way = (two - one) / (2.0 * both)
                    tangent = 1.0 / (abs(way) + np.sqrt(1.0 + way * way))
                    if way < 0:
                        tangent = -tangent
                    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
                    sine = cosine * tangent
                    for i in range(length):
                        kept = rows[p, i]
                        rows[p, i] = cosine * kept - sine * rows[q, i]
                        rows[q, i] = sine * kept + cosine * rows[q, i]
                    for i in range(count):
                        kept = turns[p, i]
                        turns[p, i] = cosine * kept - sine * turns[q, i]
                        turns[q, i] = sine * kept + cosine * turns[q, i]
        if moved == 0:
            break
    return turns


def _parts(a):
    """What is multiplied by a matrix's right side, what goes into the answer, singular values."""
    if a.ndim != 2 or np.iscomplexobj(a):
        raise NotImplementedError
    if a.shape[0] >= a.shape[1]:
        left = np.array(a.T, dtype=np.float64)
        right = _turned(left)
        values = np.sqrt((left * left).sum(axis=1))
    else:
        right = np.array(a, dtype=np.float64)
        left = _turned(right)
        values = np.sqrt((right * right).sum(axis=1))
    if not np.isfinite(values).all():
        raise ValueError
    return left, right, values


def _shares(values, least):
    """What each part is divided by, the other way round; none of those that are too small."""
    kept = values > least
    return np.where(kept, 1.0 / np.where(kept, values * values, 1.0), 0.0)


@written(np.linalg.lstsq)
def lstsq(a, b, rcond=None):
    if np.iscomplexobj(b):
        raise NotImplementedError
    left, right, values = _parts(a)
    rows, columns = a.shape
    part = np.finfo(np.float64).eps * max(rows, columns) if rcond is None else rcond
    if part < 0:
        part = np.finfo(np.float64).eps
    least = part * values.max()
    shares = _shares(values, least)
    kind = (np.ones(1, a.dtype) * np.ones(1, b.dtype) / np.ones(1, np.int8)).dtype
    rank = np.sum(values > least)
    whole = np.sum(np.arange(rank // columns) < rows - columns)  # 0 or 1, as the loops find
    if b.ndim == 1:
        x = right.T @ (left @ b * shares)
        gaps = b - a @ x
        left_over = np.sum(gaps * gaps, keepdims=True)[:whole]
    else:
        x = right.T @ (left @ b * shares[:, None])
        gaps = b - a @ x
        left_over = np.sum(gaps * gaps, axis=0)[: whole * b.shape[1]]
    in_order = np.sort(values)[::-1]
    return x.astype(kind), left_over.astype(kind), np.int32(rank), in_order.astype(kind)


@written(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    if full or cov:
        raise NotImplementedError
    places, powers = np.asarray(x) + 0.0, np.vander(np.asarray(x) + 0.0, deg + 1)
    found = np.asarray(y) + 0.0
    part = len(places) * np.finfo(places.dtype).eps if rcond is None else rcond
    if w is not None:
        powers = powers * np.asarray(w)[:, None]
        found = found * (np.asarray(w) if found.ndim == 1 else np.asarray(w)[:, None])
    scale = np.sqrt((powers * powers).sum(axis=0))
    answer = np.linalg.lstsq(powers / scale, found, part)
    if answer[2] != deg + 1:
        raise ValueError
    return answer[0] / (scale if found.ndim == 1 else scale[:, None])


@written(np.linalg.pinv)
def pinv(a, rcond=1e-15):
    left, right, values = _parts(a)
    shares = _shares(values, rcond * values.max())
    return (right.T @ (left * shares[:, None])).astype((np.ones(1, a.dtype) / 1).dtype)


@written(np.linalg.matrix_rank)
def matrix_rank(A, tol=None):
    values = _parts(A)[2]
    single = np.ones(1, A.dtype) / 1
    least = values.max() * max(A.shape) * np.finfo(single.dtype).eps if tol is None else tol
    return np.sum(values > least)


@written(np.linalg.cond)
def cond(x, p=None):
    if p is not None and p != 2:
        raise NotImplementedError
    values = _parts(x)[2]
    if values.min() <= 1e-13 * values.max():  # all of it is rounding
        raise ValueError
    return (values.max() / values.min()).astype((np.ones(1, x.dtype) / 1).dtype)
