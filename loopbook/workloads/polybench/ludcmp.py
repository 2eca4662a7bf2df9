"""PolyBench/C 4.2.1 ``ludcmp``: A*x = b by LU decomposition and two triangular solves."""

import numpy as np

PARAMETERS = {
    "MINI": {"N": 40},
    "SMALL": {"N": 120},
    "MEDIUM": {"N": 400},
    "LARGE": {"N": 2000},
    "EXTRALARGE": {"N": 4000},
}


def initialize(N):
    lower = np.tril(np.fromfunction(lambda i, j: -j / N + 1, (N, N), dtype=np.int64))
    np.fill_diagonal(lower, 1.0)
    return {
        "A": lower @ lower.T,
        "b": (np.arange(N) + 1) / N / 2.0 + 4,
        "x": np.zeros(N),
        "y": np.zeros(N),
    }


def kernel(A, b, x, y):
    for i in range(A.shape[0]):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, A.shape[0]):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w

    for i in range(A.shape[0]):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w

    for i in range(A.shape[0] - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, A.shape[0]):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]


def reference(A, b, x, y):
    x[:] = np.linalg.solve(A, b)
    for k in range(A.shape[0] - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    y[:] = np.linalg.solve(np.tril(A, -1) + np.eye(A.shape[0]), b)
