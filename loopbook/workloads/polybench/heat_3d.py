"""PolyBench/C 4.2.1 ``heat-3d``: the heat equation on a cube, 7-point Jacobi sweeps A -> B -> A."""

import numpy as np

PARAMETERS = {
    "MINI": {"TSTEPS": 20, "N": 10},
    "SMALL": {"TSTEPS": 40, "N": 20},
    "MEDIUM": {"TSTEPS": 100, "N": 40},
    "LARGE": {"TSTEPS": 500, "N": 120},
    "EXTRALARGE": {"TSTEPS": 1000, "N": 200},
}


def initialize(N):
    A = np.fromfunction(lambda i, j, k: (i + j + (N - k)) * 10 / N, (N, N, N), dtype=np.int64)
    return {"A": A, "B": A.copy()}


def kernel(TSTEPS, A, B):
    for t in range(1, TSTEPS + 1):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[0] - 1):
                for k in range(1, A.shape[0] - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[0] - 1):
                for k in range(1, A.shape[0] - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )


def reference(TSTEPS, A, B):
    for _ in range(TSTEPS):
        for source, target in ((A, B), (B, A)):
            centre = source[1:-1, 1:-1, 1:-1]
            neighbours = (
                source[2:, 1:-1, 1:-1]
                + source[:-2, 1:-1, 1:-1]
                + source[1:-1, 2:, 1:-1]
                + source[1:-1, :-2, 1:-1]
                + source[1:-1, 1:-1, 2:]
                + source[1:-1, 1:-1, :-2]
            )
            target[1:-1, 1:-1, 1:-1] = 0.25 * centre + 0.125 * neighbours
