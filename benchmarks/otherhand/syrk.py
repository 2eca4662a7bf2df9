"""syrk of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.syrk import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def permuted(alpha, beta, C, A):
    for i in range(A.shape[0]):
        for j in range(i + 1):
            C[i, j] *= beta
            for k in range(A.shape[1]):
                C[i, j] += alpha * A[i, k] * A[j, k]


def temporaries(alpha, beta, C, A):
    for i in range(A.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * A[j, k]
            C[i, j] = beta * C[i, j] + alpha * total


def swapped(alpha, beta, C, A):
    for i in range(A.shape[1]):
        for j in range(i + 1):
            C[j, i] *= beta
        for k in range(A.shape[0]):
            for j in range(i + 1):
                C[j, i] += alpha * A[k, i] * A[k, j]
