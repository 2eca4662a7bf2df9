"""gemm of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.gemm import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def permuted(alpha, beta, C, A, B):
    for j in range(C.shape[1]):
        for i in range(C.shape[0]):
            C[i, j] = beta * C[i, j]
            for k in range(A.shape[1]):
                C[i, j] = C[i, j] + alpha * A[i, k] * B[k, j]


def temporaries(alpha, beta, C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * B[k, j]
            C[i, j] = beta * C[i, j] + alpha * total


def vectors(alpha, beta, C, A, B):
    for i in range(C.shape[0]):
        C[i, :] = beta * C[i, :]
        for k in range(A.shape[1]):
            C[i, :] += alpha * A[i, k] * B[k, :]
