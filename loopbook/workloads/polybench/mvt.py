"""PolyBench/C 4.2.1 ``mvt``: two matrix-vector products, x1 += A*y_1 and x2 += A^T*y_2."""

import numpy as np

PARAMETERS = {
    "MINI": {"N": 40},
    "SMALL": {"N": 120},
    "MEDIUM": {"N": 400},
    "LARGE": {"N": 2000},
    "EXTRALARGE": {"N": 4000},
}


def initialize(N):
    i = np.arange(N)
    return {
        "x1": (i % N) / N,
        "x2": ((i + 1) % N) / N,
        "y_1": ((i + 3) % N) / N,
        "y_2": ((i + 4) % N) / N,
        "A": np.fromfunction(lambda i, j: (i * j % N) / N, (N, N), dtype=np.int64),
    }


def kernel(x1, x2, y_1, y_2, A):
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            x1[i] = x1[i] + A[i, j] * y_1[j]
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            x2[i] = x2[i] + A[j, i] * y_2[j]


def reference(x1, x2, y_1, y_2, A):
    x1 += A @ y_1
    x2 += A.T @ y_2
