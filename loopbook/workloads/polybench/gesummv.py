"""PolyBench/C 4.2.1 ``gesummv``: two matrix-vector products, y := alpha*A*x + beta*B*x."""

import numpy as np

PARAMETERS = {
    "MINI": {"N": 30},
    "SMALL": {"N": 90},
    "MEDIUM": {"N": 250},
    "LARGE": {"N": 1300},
    "EXTRALARGE": {"N": 2800},
}


def initialize(N):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": np.fromfunction(lambda i, j: ((i * j + 1) % N) / N, (N, N), dtype=np.int64),
        "B": np.fromfunction(lambda i, j: ((i * j + 2) % N) / N, (N, N), dtype=np.int64),
        "tmp": np.zeros(N),
        "x": (np.arange(N) % N) / N,
        "y": np.zeros(N),
    }


def kernel(alpha, beta, A, B, tmp, x, y):
    for i in range(A.shape[0]):
        tmp[i] = 0.0
        y[i] = 0.0
        for j in range(A.shape[0]):
            tmp[i] = A[i, j] * x[j] + tmp[i]
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]


def reference(alpha, beta, A, B, tmp, x, y):
    tmp[:] = A @ x
    y[:] = alpha * tmp + beta * (B @ x)
