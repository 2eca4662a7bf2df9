"""jacobi-2d of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.jacobi_2d import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def permuted(TSTEPS, A, B):
    for t in range(TSTEPS):  # noqa: B007
        for j in range(1, A.shape[0] - 1):
            for i in range(1, A.shape[0] - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for j in range(1, A.shape[0] - 1):
            for i in range(1, A.shape[0] - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


def temporaries(TSTEPS, A, B):
    for t in range(TSTEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[0] - 1):
                across = A[i, j - 1] + A[i, j + 1]
                down = A[i - 1, j] + A[i + 1, j]
                B[i, j] = 0.2 * (A[i, j] + across + down)
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[0] - 1):
                across = B[i, j - 1] + B[i, j + 1]
                down = B[i - 1, j] + B[i + 1, j]
                A[i, j] = 0.2 * (B[i, j] + across + down)


def vectors(TSTEPS, A, B):
    for t in range(TSTEPS):  # noqa: B007
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]
        )
