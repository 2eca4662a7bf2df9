"""Data: a square of the second substance in the first one, and noise."""

import numpy as np


def initialize(N, datatype=np.float64):
    rng = np.random.default_rng(42)
    U = (1.0 - 0.05 * rng.random((N + 2, N + 2))).astype(datatype)
    V = (0.05 * rng.random((N + 2, N + 2))).astype(datatype)
    middle = slice(N // 2 - N // 10, N // 2 + N // 10)
    U[middle, middle] = 0.5
    V[middle, middle] = 0.25
    return U, V
