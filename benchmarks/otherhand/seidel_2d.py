"""seidel-2d of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.seidel_2d import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def shifted(TSTEPS, A):
    for t in range(TSTEPS):  # noqa: B007
        for i in range(A.shape[0] - 2):
            for j in range(A.shape[0] - 2):
                A[i + 1, j + 1] = (
                    A[i, j]
                    + A[i, j + 1]
                    + A[i, j + 2]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                    + A[i + 1, j + 2]
                    + A[i + 2, j]
                    + A[i + 2, j + 1]
                    + A[i + 2, j + 2]
                ) / 9.0


def temporaries(TSTEPS, A):
    for t in range(TSTEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[0] - 1):
                above = A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                here = A[i, j - 1] + A[i, j] + A[i, j + 1]
                below = A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                A[i, j] = (above + here + below) / 9.0


def swapped(TSTEPS, A):
    for t in range(TSTEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[0] - 1):
                A[j, i] = (
                    A[j - 1, i - 1]
                    + A[j, i - 1]
                    + A[j + 1, i - 1]
                    + A[j - 1, i]
                    + A[j, i]
                    + A[j + 1, i]
                    + A[j - 1, i + 1]
                    + A[j, i + 1]
                    + A[j + 1, i + 1]
                ) / 9.0
