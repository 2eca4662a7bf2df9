"""PolyBench/C 4.2.1 ``jacobi-2d``: 5-point Jacobi sweeps A -> B -> A on a square."""

import numpy as np

PARAMETERS = {
    "MINI": {"TSTEPS": 20, "N": 30},
    "SMALL": {"TSTEPS": 40, "N": 90},
    "MEDIUM": {"TSTEPS": 100, "N": 250},
    "LARGE": {"TSTEPS": 500, "N": 1300},
    "EXTRALARGE": {"TSTEPS": 1000, "N": 2800},
}


def initialize(N):
    return {
        "A": np.fromfunction(lambda i, j: (i * (j + 2) + 2) / N, (N, N), dtype=np.int64),
        "B": np.fromfunction(lambda i, j: (i * (j + 3) + 3) / N, (N, N), dtype=np.int64),
    }


def kernel(TSTEPS, A, B):
    for t in range(TSTEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[0] - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, 1 + j] + A[1 + i, j] + A[i - 1, j])
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[0] - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, 1 + j] + B[1 + i, j] + B[i - 1, j])


def reference(TSTEPS, A, B):
    for _ in range(TSTEPS):
        for source, target in ((A, B), (B, A)):
            vertical = source[:-2, 1:-1] + source[2:, 1:-1]
            horizontal = source[1:-1, :-2] + source[1:-1, 2:]
            target[1:-1, 1:-1] = 0.2 * (source[1:-1, 1:-1] + vertical + horizontal)
