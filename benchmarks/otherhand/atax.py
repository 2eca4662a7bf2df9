"""atax of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.atax import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def permuted(A, x, y, tmp):
    for i in range(A.shape[0]):
        tmp[i] = 0.0
    for j in range(A.shape[1]):
        for i in range(A.shape[0]):
            tmp[i] += A[i, j] * x[j]
    for j in range(A.shape[1]):
        y[j] = 0.0
        for i in range(A.shape[0]):
            y[j] += A[i, j] * tmp[i]


def temporaries(A, x, y, tmp):
    for j in range(A.shape[1]):
        y[j] = 0.0
    for i in range(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * x[j]
        tmp[i] = total
        for j in range(A.shape[1]):
            y[j] += A[i, j] * total


def swapped(A, x, y, tmp):
    for i in range(A.shape[0]):
        y[i] = 0.0
    for i in range(A.shape[1]):
        tmp[i] = 0.0
        for j in range(A.shape[0]):
            tmp[i] = tmp[i] + A[j, i] * x[j]
        for j in range(A.shape[0]):
            y[j] = y[j] + A[j, i] * tmp[i]
