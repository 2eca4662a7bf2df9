"""PolyBench/C 4.2.1 ``seidel-2d``: 9-point Gauss-Seidel sweeps in place on a square."""

import numpy as np

PARAMETERS = {
    "MINI": {"TSTEPS": 20, "N": 40},
    "SMALL": {"TSTEPS": 40, "N": 120},
    "MEDIUM": {"TSTEPS": 100, "N": 400},
    "LARGE": {"TSTEPS": 500, "N": 2000},
    "EXTRALARGE": {"TSTEPS": 1000, "N": 4000},
}


def initialize(N):
    return {"A": np.fromfunction(lambda i, j: (i * (j + 2) + 2) / N, (N, N), dtype=np.int64)}


def kernel(TSTEPS, A):
    for t in range(TSTEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[0] - 1):
                A[i, j] = (
                    A[i - 1, j - 1]
                    + A[i - 1, j]
                    + A[i - 1, j + 1]
                    + A[i, j - 1]
                    + A[i, j]
                    + A[i, j + 1]
                    + A[i + 1, j - 1]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                ) / 9.0


def reference(TSTEPS, A):
    # Along a row only the left neighbour is new: a linear recurrence, x[j] = (known[j] + x[j-1])/9.
    from scipy.signal import lfilter

    for _ in range(TSTEPS):
        for i in range(1, A.shape[0] - 1):
            known = A[i, 1:-1] + A[i, 2:]
            for row in (A[i - 1], A[i + 1]):
                known = known + row[:-2] + row[1:-1] + row[2:]
            A[i, 1:-1], _state = lfilter([1.0 / 9.0], [1.0, -1.0 / 9.0], known, zi=A[i, :1] / 9.0)
