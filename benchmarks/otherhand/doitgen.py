"""doitgen of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.doitgen import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def permuted(A, C4, sum_):
    for q in range(A.shape[1]):
        for r in range(A.shape[0]):
            for p in range(A.shape[2]):
                sum_[p] = 0.0
            for s in range(A.shape[2]):
                for p in range(A.shape[2]):
                    sum_[p] += A[r, q, s] * C4[s, p]
            for p in range(A.shape[2]):
                A[r, q, p] = sum_[p]


def temporaries(A, C4, sum_):
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            for p in range(A.shape[2]):
                total = 0.0
                for s in range(A.shape[2]):
                    total += A[r, q, s] * C4[s, p]
                sum_[p] = total
            for p in range(A.shape[2]):
                A[r, q, p] = sum_[p]


def vectors(A, C4, sum_):
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            sum_[:] = 0.0
            for s in range(A.shape[2]):
                sum_[:] += A[r, q, s] * C4[s, :]
            A[r, q, :] = sum_
