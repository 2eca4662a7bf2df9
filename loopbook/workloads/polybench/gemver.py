"""PolyBench/C 4.2.1 ``gemver``: a rank-2 update of A, then two matrix-vector products."""

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
        "alpha": 1.5,
        "beta": 1.2,
        "A": np.fromfunction(lambda i, j: (i * j % N) / N, (N, N), dtype=np.int64),
        "u1": i.astype(np.float64),
        "v1": ((i + 1) / N) / 4.0,
        "u2": ((i + 1) / N) / 2.0,
        "v2": ((i + 1) / N) / 6.0,
        "w": np.zeros(N),
        "x": np.zeros(N),
        "y": ((i + 1) / N) / 8.0,
        "z": ((i + 1) / N) / 9.0,
    }


def kernel(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            x[i] = x[i] + beta * A[j, i] * y[j]
    for i in range(A.shape[0]):
        x[i] = x[i] + z[i]
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            w[i] = w[i] + alpha * A[i, j] * x[j]


def reference(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * (A.T @ y) + z
    w += alpha * (A @ x)
