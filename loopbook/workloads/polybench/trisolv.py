"""PolyBench/C 4.2.1 ``trisolv``: L*x = b by forward substitution."""

import numpy as np

PARAMETERS = {
    "MINI": {"N": 40},
    "SMALL": {"N": 120},
    "MEDIUM": {"N": 400},
    "LARGE": {"N": 2000},
    "EXTRALARGE": {"N": 4000},
}


def initialize(N):
    return {
        "L": np.tril(np.fromfunction(lambda i, j: (i + N - j + 1) * 2 / N, (N, N), dtype=np.int64)),
        "x": np.full(N, -999.0),
        "b": np.arange(N, dtype=np.float64),
    }


def kernel(L, x, b):
    for i in range(L.shape[0]):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / L[i, i]


def reference(L, x, b):
    x[:] = np.linalg.solve(np.tril(L), b)
