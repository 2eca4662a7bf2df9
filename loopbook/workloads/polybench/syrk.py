"""PolyBench/C 4.2.1 ``syrk``: rank-k update of C's lower half, C := alpha*A*A^T + beta*C."""

import numpy as np

PARAMETERS = {
    "MINI": {"M": 20, "N": 30},
    "SMALL": {"M": 60, "N": 80},
    "MEDIUM": {"M": 200, "N": 240},
    "LARGE": {"M": 1000, "N": 1200},
    "EXTRALARGE": {"M": 2000, "N": 2600},
}


def initialize(M, N):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": np.fromfunction(lambda i, j: ((i * j + 2) % M) / M, (N, N), dtype=np.int64),
        "A": np.fromfunction(lambda i, j: ((i * j + 1) % N) / N, (N, M), dtype=np.int64),
    }


def kernel(alpha, beta, C, A):
    for i in range(A.shape[0]):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]


def reference(alpha, beta, C, A):
    lower = np.tri(C.shape[0], dtype=bool)
    C[lower] = (beta * C + alpha * (A @ A.T))[lower]
