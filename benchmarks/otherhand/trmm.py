"""trmm of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.trmm import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def permuted(alpha, A, B):
    for j in range(B.shape[1]):
        for i in range(B.shape[0]):
            for k in range(i + 1, B.shape[0]):
                B[i, j] += A[k, i] * B[k, j]
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] = alpha * B[i, j]


def temporaries(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            total = B[i, j]
            for k in range(i + 1, B.shape[0]):
                total += A[k, i] * B[k, j]
            B[i, j] = total
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] = alpha * B[i, j]


def swapped(alpha, A, B):
    for i in range(B.shape[1]):
        for j in range(B.shape[0]):
            for k in range(i + 1, B.shape[1]):
                B[j, i] += A[i, k] * B[j, k]
    for i in range(B.shape[1]):
        for j in range(B.shape[0]):
            B[j, i] = alpha * B[j, i]
