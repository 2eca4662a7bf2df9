"""PolyBench/C 4.2.1 ``lu``: A = L*U without pivoting, both in A (L's unit diagonal not stored)."""

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
    return {"A": lower @ lower.T}


def kernel(A):
    for i in range(A.shape[0]):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def reference(A):
    # Right-looking elimination; the kernel is left-looking.
    for k in range(A.shape[0] - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
