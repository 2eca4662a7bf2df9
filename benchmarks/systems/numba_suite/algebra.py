"""Data mining, matrix and vector products: loops for Numba, not compiled yet."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import prange  # pyright: ignore[reportMissingImports]

BLOCK = 256
"""Columns that one iteration of a loop over columns takes, so that it still walks along rows."""


def correlation(float_n, data, corr, mean, stddev):
    n, m = data.shape
    for block in prange((m + BLOCK - 1) // BLOCK):
        columns = range(block * BLOCK, min(m, (block + 1) * BLOCK))
        for j in columns:
            mean[j] = 0.0
            stddev[j] = 0.0
        for i in range(n):
            for j in columns:
                mean[j] += data[i, j]
        for j in columns:
            mean[j] /= float_n
        for i in range(n):
            for j in columns:
                stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        for j in columns:
            deviation = np.sqrt(stddev[j] / float_n)
            stddev[j] = 1.0 if deviation <= 0.1 else deviation
        for i in range(n):
            for j in columns:
                data[i, j] = (data[i, j] - mean[j]) / (np.sqrt(float_n) * stddev[j])
    for i in prange(m):
        for j in range(i, m):
            corr[i, j] = 0.0
        for k in range(n):
            for j in range(i, m):
                corr[i, j] += data[k, i] * data[k, j]
        corr[i, i] = 1.0
    for i in prange(m):
        for j in range(i):
            corr[i, j] = corr[j, i]


def covariance(float_n, data, cov, mean):
    n, m = data.shape
    for block in prange((m + BLOCK - 1) // BLOCK):
        columns = range(block * BLOCK, min(m, (block + 1) * BLOCK))
        for j in columns:
            mean[j] = 0.0
        for i in range(n):
            for j in columns:
                mean[j] += data[i, j]
        for j in columns:
            mean[j] /= float_n
        for i in range(n):
            for j in columns:
                data[i, j] -= mean[j]
    for i in prange(m):
        for j in range(i, m):
            cov[i, j] = 0.0
        for k in range(n):
            for j in range(i, m):
                cov[i, j] += data[k, i] * data[k, j]
        for j in range(i, m):
            cov[i, j] /= float_n - 1.0
    for i in prange(m):
        for j in range(i):
            cov[i, j] = cov[j, i]


def two_mm(alpha, beta, tmp, A, B, C, D):
    for i in prange(tmp.shape[0]):
        for j in range(tmp.shape[1]):
            tmp[i, j] = 0.0
        for k in range(A.shape[1]):
            factor = alpha * A[i, k]
            for j in range(tmp.shape[1]):
                tmp[i, j] += factor * B[k, j]
        for j in range(D.shape[1]):
            D[i, j] *= beta
        for k in range(tmp.shape[1]):
            factor = tmp[i, k]
            for j in range(D.shape[1]):
                D[i, j] += factor * C[k, j]


def three_mm(AB, A, B, CD, C, D, G):
    for i in prange(AB.shape[0]):
        for j in range(AB.shape[1]):
            AB[i, j] = 0.0
        for k in range(A.shape[1]):
            factor = A[i, k]
            for j in range(AB.shape[1]):
                AB[i, j] += factor * B[k, j]
    for i in prange(CD.shape[0]):
        for j in range(CD.shape[1]):
            CD[i, j] = 0.0
        for k in range(C.shape[1]):
            factor = C[i, k]
            for j in range(CD.shape[1]):
                CD[i, j] += factor * D[k, j]
    for i in prange(G.shape[0]):
        for j in range(G.shape[1]):
            G[i, j] = 0.0
        for k in range(AB.shape[1]):
            factor = AB[i, k]
            for j in range(G.shape[1]):
                G[i, j] += factor * CD[k, j]


def atax(A, x, y, tmp):
    m, n = A.shape
    for i in prange(m):
        total = 0.0
        for j in range(n):
            total += A[i, j] * x[j]
        tmp[i] = total
    for block in prange((n + BLOCK - 1) // BLOCK):
        columns = range(block * BLOCK, min(n, (block + 1) * BLOCK))
        for j in columns:
            y[j] = 0.0
        for i in range(m):
            for j in columns:
                y[j] += A[i, j] * tmp[i]


def bicg(A, s, q, p, r):
    n, m = A.shape
    for i in prange(n):
        total = 0.0
        for j in range(m):
            total += A[i, j] * p[j]
        q[i] = total
    for block in prange((m + BLOCK - 1) // BLOCK):
        columns = range(block * BLOCK, min(m, (block + 1) * BLOCK))
        for j in columns:
            s[j] = 0.0
        for i in range(n):
            for j in columns:
                s[j] += r[i] * A[i, j]


def doitgen(A, C4, sum_):
    for r in prange(A.shape[0]):
        row = np.empty(A.shape[2])
        for q in range(A.shape[1]):
            for p in range(A.shape[2]):
                row[p] = 0.0
            for s in range(A.shape[2]):
                factor = A[r, q, s]
                for p in range(A.shape[2]):
                    row[p] += factor * C4[s, p]
            for p in range(A.shape[2]):
                A[r, q, p] = row[p]
    for p in range(A.shape[2]):
        sum_[p] = A[A.shape[0] - 1, A.shape[1] - 1, p]


def mvt(x1, x2, y_1, y_2, A):
    n = A.shape[0]
    for i in prange(n):
        total = 0.0
        for j in range(n):
            total += A[i, j] * y_1[j]
        x1[i] += total
    for block in prange((n + BLOCK - 1) // BLOCK):
        columns = range(block * BLOCK, min(n, (block + 1) * BLOCK))
        for j in range(n):
            for i in columns:
                x2[i] += A[j, i] * y_2[j]


def gemm(alpha, beta, C, A, B):
    for i in prange(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            factor = alpha * A[i, k]
            for j in range(C.shape[1]):
                C[i, j] += factor * B[k, j]


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    n = A.shape[0]
    for i in prange(n):
        for j in range(n):
            A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    for block in prange((n + BLOCK - 1) // BLOCK):
        columns = range(block * BLOCK, min(n, (block + 1) * BLOCK))
        for j in range(n):
            factor = beta * y[j]
            for i in columns:
                x[i] += factor * A[j, i]
        for i in columns:
            x[i] += z[i]
    for i in prange(n):
        total = 0.0
        for j in range(n):
            total += A[i, j] * x[j]
        w[i] += alpha * total


def gesummv(alpha, beta, A, B, tmp, x, y):
    for i in prange(A.shape[0]):
        first = 0.0
        second = 0.0
        for j in range(A.shape[0]):
            first += A[i, j] * x[j]
            second += B[i, j] * x[j]
        tmp[i] = first
        y[i] = alpha * first + beta * second


def symm(alpha, beta, C, A, B):
    m, n = C.shape
    for i in prange(m):
        for j in range(n):
            C[i, j] *= beta
        for k in range(m):
            factor = alpha * (A[i, k] if k <= i else A[k, i])
            for j in range(n):
                C[i, j] += factor * B[k, j]


def syr2k(alpha, beta, C, A, B):
    for i in prange(A.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[j, k] * B[i, k] + B[j, k] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * total


def syrk(alpha, beta, C, A):
    for i in prange(A.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * A[j, k]
            C[i, j] = beta * C[i, j] + alpha * total


def trmm(alpha, A, B):
    m, n = B.shape
    for block in prange((n + BLOCK - 1) // BLOCK):
        columns = range(block * BLOCK, min(n, (block + 1) * BLOCK))
        for i in range(m):
            for k in range(i + 1, m):
                factor = A[k, i]
                for j in columns:
                    B[i, j] += factor * B[k, j]
            for j in columns:
                B[i, j] *= alpha


KERNELS: dict[str, Callable[..., None]] = {
    "correlation": correlation,
    "covariance": covariance,
    "2mm": two_mm,
    "3mm": three_mm,
    "atax": atax,
    "bicg": bicg,
    "doitgen": doitgen,
    "mvt": mvt,
    "gemm": gemm,
    "gemver": gemver,
    "gesummv": gesummv,
    "symm": symm,
    "syr2k": syr2k,
    "syrk": syrk,
    "trmm": trmm,
}
