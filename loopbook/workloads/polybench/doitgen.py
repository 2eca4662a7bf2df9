"""PolyBench/C 4.2.1 ``doitgen``: multiresolution analysis, each row of a 3-D array times C4."""

import numpy as np

PARAMETERS = {
    "MINI": {"NQ": 8, "NR": 10, "NP": 12},
    "SMALL": {"NQ": 20, "NR": 25, "NP": 30},
    "MEDIUM": {"NQ": 40, "NR": 50, "NP": 60},
    "LARGE": {"NQ": 140, "NR": 150, "NP": 160},
    "EXTRALARGE": {"NQ": 220, "NR": 250, "NP": 270},
}


def initialize(NQ, NR, NP):
    return {
        "A": np.fromfunction(lambda i, j, k: ((i * j + k) % NP) / NP, (NR, NQ, NP), dtype=np.int64),
        "C4": np.fromfunction(lambda i, j: (i * j % NP) / NP, (NP, NP), dtype=np.int64),
        "sum_": np.zeros(NP),
    }


def kernel(A, C4, sum_):
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            for p in range(A.shape[2]):
                sum_[p] = 0.0
                for s in range(A.shape[2]):
                    sum_[p] += A[r, q, s] * C4[s, p]
            for p in range(A.shape[2]):
                A[r, q, p] = sum_[p]


def reference(A, C4, sum_):
    A[:] = A @ C4
    sum_[:] = A[-1, -1]
