"""PolyBench/C 4.2.1 ``trmm``: B := alpha*A^T*B, A lower triangular with a unit diagonal."""

import numpy as np

PARAMETERS = {
    "MINI": {"M": 20, "N": 30},
    "SMALL": {"M": 60, "N": 80},
    "MEDIUM": {"M": 200, "N": 240},
    "LARGE": {"M": 1000, "N": 1200},
    "EXTRALARGE": {"M": 2000, "N": 2600},
}


def initialize(M, N):
    A = np.tril(np.fromfunction(lambda i, j: ((i + j) % M) / M, (M, M), dtype=np.int64))
    np.fill_diagonal(A, 1.0)
    return {
        "alpha": 1.5,
        "A": A,
        "B": np.fromfunction(lambda i, j: ((N + (i - j)) % N) / N, (M, N), dtype=np.int64),
    }


def kernel(alpha, A, B):
    # Row i reads rows below it before they change, so i is sequential. docc 0.8 does not see that
    # and would run i in parallel; a second loop over i (C scales B in the first) prevents it.
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            for k in range(i + 1, B.shape[0]):
                B[i, j] += A[k, i] * B[k, j]
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] = alpha * B[i, j]


def reference(alpha, A, B):
    B[:] = alpha * (B + np.tril(A, -1).T @ B)
