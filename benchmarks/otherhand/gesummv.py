"""gesummv of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.gesummv import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def permuted(alpha, beta, A, B, tmp, x, y):
    for i in range(A.shape[0]):
        tmp[i] = 0.0
        y[i] = 0.0
    for j in range(A.shape[0]):
        for i in range(A.shape[0]):
            tmp[i] += A[i, j] * x[j]
            y[i] += B[i, j] * x[j]
    for i in range(A.shape[0]):
        y[i] = alpha * tmp[i] + beta * y[i]


def temporaries(alpha, beta, A, B, tmp, x, y):
    for i in range(A.shape[0]):
        first = 0.0
        second = 0.0
        for j in range(A.shape[0]):
            first += A[i, j] * x[j]
            second += B[i, j] * x[j]
        tmp[i] = first
        y[i] = alpha * first + beta * second


def swapped(alpha, beta, A, B, tmp, x, y):
    for i in range(A.shape[0]):
        tmp[i] = 0.0
        y[i] = 0.0
        for j in range(A.shape[0]):
            tmp[i] = A[j, i] * x[j] + tmp[i]
            y[i] = B[j, i] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]
