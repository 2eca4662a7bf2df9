"""mvt of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.mvt import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def permuted(x1, x2, y_1, y_2, A):
    for j in range(A.shape[0]):
        for i in range(A.shape[0]):
            x1[i] += A[i, j] * y_1[j]
    for j in range(A.shape[0]):
        for i in range(A.shape[0]):
            x2[i] += A[j, i] * y_2[j]


def temporaries(x1, x2, y_1, y_2, A):
    for i in range(A.shape[0]):
        total = 0.0
        for j in range(A.shape[0]):
            total += A[i, j] * y_1[j]
        x1[i] += total
    for i in range(A.shape[0]):
        total = 0.0
        for j in range(A.shape[0]):
            total += A[j, i] * y_2[j]
        x2[i] += total


def vectors(x1, x2, y_1, y_2, A):
    for j in range(A.shape[0]):
        x1[:] += A[:, j] * y_1[j]
    for j in range(A.shape[0]):
        x2[:] += A[j, :] * y_2[j]
