"""PolyBench/C 4.2.1 ``syr2k``: rank-2k update of C's lower half, C += alpha*(A*B^T + B*A^T)."""

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
        "C": np.fromfunction(lambda i, j: ((i * j + 3) % N) / M, (N, N), dtype=np.int64),
        "A": np.fromfunction(lambda i, j: ((i * j + 1) % N) / N, (N, M), dtype=np.int64),
        "B": np.fromfunction(lambda i, j: ((i * j + 2) % M) / M, (N, M), dtype=np.int64),
    }


def kernel(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]


def reference(alpha, beta, C, A, B):
    lower = np.tri(C.shape[0], dtype=bool)
    product = A @ B.T
    C[lower] = (beta * C + alpha * (product + product.T))[lower]
