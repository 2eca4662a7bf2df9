"""PolyBench/C 4.2.1 ``jacobi-1d``: 3-point Jacobi sweeps A -> B -> A on a line."""

import numpy as np

PARAMETERS = {
    "MINI": {"TSTEPS": 20, "N": 30},
    "SMALL": {"TSTEPS": 40, "N": 120},
    "MEDIUM": {"TSTEPS": 100, "N": 400},
    "LARGE": {"TSTEPS": 500, "N": 2000},
    "EXTRALARGE": {"TSTEPS": 1000, "N": 4000},
}


def initialize(N):
    i = np.arange(N)
    return {"A": (i + 2) / N, "B": (i + 3) / N}


def kernel(TSTEPS, A, B):
    for t in range(TSTEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, A.shape[0] - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


def reference(TSTEPS, A, B):
    for _ in range(TSTEPS):
        B[1:-1] = 0.33333 * np.convolve(A, np.ones(3), mode="valid")
        A[1:-1] = 0.33333 * np.convolve(B, np.ones(3), mode="valid")
