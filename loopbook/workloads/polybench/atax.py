"""PolyBench/C 4.2.1 ``atax``: a matrix times a vector, then its transpose, y := A^T * (A*x)."""

import numpy as np

PARAMETERS = {
    "MINI": {"M": 38, "N": 42},
    "SMALL": {"M": 116, "N": 124},
    "MEDIUM": {"M": 390, "N": 410},
    "LARGE": {"M": 1900, "N": 2100},
    "EXTRALARGE": {"M": 1800, "N": 2200},
}


def initialize(M, N):
    return {
        "A": np.fromfunction(lambda i, j: ((i + j) % N) / (5 * M), (M, N), dtype=np.int64),
        "x": 1 + np.arange(N) / N,
        "y": np.zeros(N),
        "tmp": np.zeros(M),
    }


def kernel(A, x, y, tmp):
    for i in range(A.shape[1]):
        y[i] = 0.0
    for i in range(A.shape[0]):
        tmp[i] = 0.0
        for j in range(A.shape[1]):
            tmp[i] = tmp[i] + A[i, j] * x[j]
        for j in range(A.shape[1]):
            y[j] = y[j] + A[i, j] * tmp[i]


def reference(A, x, y, tmp):
    tmp[:] = A @ x
    y[:] = A.T @ tmp
