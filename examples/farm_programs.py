"""Five programs as somebody might write them, which no book has seen: for the farm's demo."""

from __future__ import annotations

import numpy as np

PARAMETERS = {"L": {"n": 500, "m": 1100}}
"""Sides of products and cubes' cross-sections, and of planes."""


def weighted_product(A, w, B, out):
    """A product through a diagonal matrix, its inner loop along columns."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(w.shape[0]):
                out[i, j] += A[i, k] * w[k] * B[k, j]


def columns_smoothed(field, out):
    """A stencil that walks down the columns of a row-major array."""
    for y in range(1, field.shape[1] - 1):
        for x in range(2, field.shape[0] - 2):
            out[x, y] = 0.1 * (field[x - 2, y] + field[x + 2, y]) + 0.4 * (
                field[x, y - 1] + field[x, y + 1]
            )


def lower_gram(A, out):
    """The lower half of a matrix times its transpose, minus half of its diagonal part."""
    for i in range(out.shape[0]):
        for j in range(i + 1):
            for k in range(A.shape[1]):
                out[i, j] += A[i, k] * A[j, k] - 0.5 * A[i, k]


def column_scores(A, x, y, out):
    """Sums down the columns, each of two products."""
    for j in range(A.shape[1]):
        for i in range(A.shape[0]):
            out[j] += A[i, j] * x[i] + A[i, j] * A[i, j] * y[i]


def transposed_update(A, B, out):
    """A product of two transposed matrices, taken away from what is there."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(A.shape[0]):
                out[i, j] -= A[k, i] * B[j, k]


def arguments(name: str, n: int, m: int) -> list[np.ndarray]:
    """Fresh data for one of the programs."""
    draw = np.random.default_rng(1)
    square, plane = (n, n), (m, m)
    shapes = {
        "weighted_product": [square, (n,), square, square],
        "columns_smoothed": [plane, plane],
        "lower_gram": [square, square],
        "column_scores": [plane, (m,), (m,), (m,)],
        "transposed_update": [square, square, square],
    }
    return [draw.random(shape) for shape in shapes[name]]


PROGRAMS = [
    weighted_product,
    columns_smoothed,
    lower_gram,
    column_scores,
    transposed_update,
]
