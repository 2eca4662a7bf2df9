"""PolyBench/C 4.2.1 ``bicg``: the two products of a BiCGStab step, s := A^T*r and q := A*p."""

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
        "A": np.fromfunction(lambda i, j: (i * (j + 1) % N) / N, (N, M), dtype=np.int64),
        "s": np.zeros(M),
        "q": np.zeros(N),
        "p": (np.arange(M) % M) / M,
        "r": (np.arange(N) % N) / N,
    }


def kernel(A, s, q, p, r):
    for i in range(A.shape[1]):
        s[i] = 0.0
    for i in range(A.shape[0]):
        q[i] = 0.0
        for j in range(A.shape[1]):
            s[j] = s[j] + r[i] * A[i, j]
            q[i] = q[i] + A[i, j] * p[j]


def reference(A, s, q, p, r):
    s[:] = A.T @ r
    q[:] = A @ p
