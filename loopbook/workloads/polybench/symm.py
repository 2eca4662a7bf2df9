"""PolyBench/C 4.2.1 ``symm``: C := alpha*A*B + beta*C, A symmetric with its lower half stored."""

import numpy as np

PARAMETERS = {
    "MINI": {"M": 20, "N": 30},
    "SMALL": {"M": 60, "N": 80},
    "MEDIUM": {"M": 200, "N": 240},
    "LARGE": {"M": 1000, "N": 1200},
    "EXTRALARGE": {"M": 2000, "N": 2600},
}


def initialize(M, N):
    lower = np.fromfunction(lambda i, j: ((i + j) % 100) / M, (M, M), dtype=np.int64)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": np.fromfunction(lambda i, j: ((i + j) % 100) / M, (M, N), dtype=np.int64),
        # The upper half must never be read; its value would show at once in the result.
        "A": np.where(np.tri(M, dtype=bool), lower, -999.0),
        "B": np.fromfunction(lambda i, j: ((N + i - j) % 100) / M, (M, N), dtype=np.int64),
    }


def kernel(alpha, beta, C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            temp2 = 0.0
            for k in range(i):
                # C has these two the other way round; docc 0.8 then loses temp2's running sum.
                temp2 += B[k, j] * A[i, k]
                C[k, j] += alpha * B[i, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp2


def reference(alpha, beta, C, A, B):
    symmetric = np.tril(A) + np.tril(A, -1).T
    C[:] = alpha * (symmetric @ B) + beta * C
