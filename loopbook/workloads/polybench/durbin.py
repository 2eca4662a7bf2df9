"""PolyBench/C 4.2.1 ``durbin``: the Levinson-Durbin recursion for a Toeplitz system.

PolyBench's scratch vector ``z`` is an argument here, so that the kernel allocates nothing.
"""

import numpy as np

PARAMETERS = {
    "MINI": {"N": 40},
    "SMALL": {"N": 120},
    "MEDIUM": {"N": 400},
    "LARGE": {"N": 2000},
    "EXTRALARGE": {"N": 4000},
}


def initialize(N):
    return {"r": (N + 1.0) - np.arange(N), "y": np.zeros(N), "z": np.zeros(N)}


def kernel(r, y, z):
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, r.shape[0]):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


def reference(r, y, z):
    n = r.shape[0]
    first_row = np.concatenate(([1.0], r[:-1]))
    toeplitz = first_row[np.abs(np.subtract.outer(np.arange(n), np.arange(n)))]
    y[:] = np.linalg.solve(toeplitz, -r)
    z[:-1] = y[:-1]
