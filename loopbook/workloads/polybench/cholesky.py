"""PolyBench/C 4.2.1 ``cholesky``: the factor L of A = L*L^T, in A's lower half."""

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
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = np.sqrt(A[i, i])


def reference(A):
    lower = np.tri(A.shape[0], dtype=bool)
    A[lower] = np.linalg.cholesky(A)[lower]
