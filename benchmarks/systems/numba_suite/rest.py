"""Solvers, dynamic programming, filters and stencils: loops for Numba, not compiled yet."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import prange  # pyright: ignore[reportMissingImports]

from benchmarks.systems.numba_suite.algebra import BLOCK

# -- solvers ------------------------------------------------------------------------------------


def cholesky(A):
    n = A.shape[0]
    for j in range(n):
        total = 0.0
        for k in range(j):
            total += A[j, k] * A[j, k]
        A[j, j] = np.sqrt(A[j, j] - total)
        for i in prange(j + 1, n):
            total = 0.0
            for k in range(j):
                total += A[i, k] * A[j, k]
            A[i, j] = (A[i, j] - total) / A[j, j]


def durbin(r, y, z):
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, r.shape[0]):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


def gramschmidt(A, R, Q):
    m, n = A.shape
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += A[i, k] * A[i, k]
        R[k, k] = np.sqrt(norm)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for block in prange((n - k - 1 + BLOCK - 1) // BLOCK):
            begin = k + 1 + block * BLOCK
            columns = range(begin, min(n, begin + BLOCK))
            for j in columns:
                R[k, j] = 0.0
            for i in range(m):
                for j in columns:
                    R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                for j in columns:
                    A[i, j] -= Q[i, k] * R[k, j]


def lu(A):
    n = A.shape[0]
    for k in range(n):
        for i in prange(k + 1, n):
            A[i, k] /= A[k, k]
            factor = A[i, k]
            for j in range(k + 1, n):
                A[i, j] -= factor * A[k, j]


def ludcmp(A, b, x, y):
    n = A.shape[0]
    for k in range(n):
        for i in prange(k + 1, n):
            A[i, k] /= A[k, k]
            factor = A[i, k]
            for j in range(k + 1, n):
                A[i, j] -= factor * A[k, j]
    for i in range(n):
        total = b[i]
        for j in range(i):
            total -= A[i, j] * y[j]
        y[i] = total
    for i in range(n - 1, -1, -1):
        total = y[i]
        for j in range(i + 1, n):
            total -= A[i, j] * x[j]
        x[i] = total / A[i, i]


def trisolv(L, x, b):
    for i in range(L.shape[0]):
        total = b[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]


# -- medley -------------------------------------------------------------------------------------


def deriche(alpha, imgIn, imgOut, y1, y2):
    w, h = imgIn.shape
    decay = np.exp(-alpha)
    k = (1.0 - decay) * (1.0 - decay) / (1.0 + 2.0 * alpha * decay - np.exp(2.0 * alpha))
    a1 = k
    a2 = k * decay * (alpha - 1.0)
    a3 = k * decay * (alpha + 1.0)
    a4 = -k * decay * decay
    b1 = 2.0**-alpha
    b2 = -decay * decay
    for i in prange(w):
        ym1 = ym2 = xm1 = 0.0
        for j in range(h):
            y1[i, j] = a1 * imgIn[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = imgIn[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
        yp1 = yp2 = xp1 = xp2 = 0.0
        for j in range(h - 1, -1, -1):
            yp = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = imgIn[i, j]
            yp2 = yp1
            yp1 = yp
            imgOut[i, j] = y1[i, j] + yp
    for block in prange((h + BLOCK - 1) // BLOCK):
        columns = range(block * BLOCK, min(h, (block + 1) * BLOCK))
        for j in columns:
            y1[0, j] = a1 * imgOut[0, j]
            y1[1, j] = a1 * imgOut[1, j] + a2 * imgOut[0, j] + b1 * y1[0, j]
            y2[w - 1, j] = 0.0
            y2[w - 2, j] = a3 * imgOut[w - 1, j]
        for i in range(2, w):
            for j in columns:
                recent = a1 * imgOut[i, j] + a2 * imgOut[i - 1, j]
                y1[i, j] = recent + b1 * y1[i - 1, j] + b2 * y1[i - 2, j]
        for i in range(w - 3, -1, -1):
            for j in columns:
                recent = a3 * imgOut[i + 1, j] + a4 * imgOut[i + 2, j]
                y2[i, j] = recent + b1 * y2[i + 1, j] + b2 * y2[i + 2, j]
        for i in range(w):
            for j in columns:
                imgOut[i, j] = y1[i, j] + y2[i, j]


def floyd_warshall(path):
    n = path.shape[0]
    for k in range(n):
        for i in prange(n):
            first = path[i, k]
            for j in range(n):
                path[i, j] = min(path[i, j], first + path[k, j])


def nussinov(seq, table):
    n = table.shape[0]
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            bond = 1 if i < j - 1 and seq[i] + seq[j] == 3 else 0
            best = max(table[i + 1, j], table[i + 1, j - 1] + bond)
            table[i, j] = max(table[i, j], table[i, j - 1], best)
            # What ends at j serves all longer intervals at once, along their rows.
            for end in range(j + 1, n):
                table[i, end] = max(table[i, end], table[i, j] + table[j + 1, end])


# -- stencils -----------------------------------------------------------------------------------


def adi(TSTEPS, N, u, v, p, q):
    n = u.shape[0]
    d_x = -(2.0 / TSTEPS) * N * N / 2.0
    d_y = -(1.0 / TSTEPS) * N * N / 2.0
    m_x = 1.0 - 2.0 * d_x
    m_y = 1.0 - 2.0 * d_y
    for _ in range(TSTEPS):
        for i in prange(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = 1.0
            for j in range(1, n - 1):
                pivot = d_x * p[i, j - 1] + m_x
                p[i, j] = -d_x / pivot
                explicit = -d_y * (u[j, i - 1] + u[j, i + 1]) + (1.0 + 2.0 * d_y) * u[j, i]
                q[i, j] = (explicit - d_x * q[i, j - 1]) / pivot
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in prange(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = 1.0
            for j in range(1, n - 1):
                pivot = d_y * p[i, j - 1] + m_y
                p[i, j] = -d_y / pivot
                explicit = -d_x * (v[i - 1, j] + v[i + 1, j]) + (1.0 + 2.0 * d_x) * v[i, j]
                q[i, j] = (explicit - d_y * q[i, j - 1]) / pivot
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


def fdtd_2d(TMAX, ex, ey, hz, _fict_):
    nx, ny = hz.shape
    for t in range(TMAX):
        for i in prange(nx):
            for j in range(ny):
                ey[i, j] = _fict_[t] if i == 0 else ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
            for j in range(1, ny):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(nx - 1):
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def heat_3d(TSTEPS, A, B):
    n = A.shape[0]
    for _ in range(TSTEPS):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    around = A[i + 1, j, k] + A[i - 1, j, k] + A[i, j + 1, k] + A[i, j - 1, k]
                    around += A[i, j, k + 1] + A[i, j, k - 1]
                    B[i, j, k] = 0.125 * around + 0.25 * A[i, j, k]
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    around = B[i + 1, j, k] + B[i - 1, j, k] + B[i, j + 1, k] + B[i, j - 1, k]
                    around += B[i, j, k + 1] + B[i, j, k - 1]
                    A[i, j, k] = 0.125 * around + 0.25 * B[i, j, k]


def jacobi_1d(TSTEPS, A, B):
    # A sweep is shorter than the start of a team of threads.
    for _ in range(TSTEPS):
        for i in range(1, A.shape[0] - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, A.shape[0] - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


def jacobi_2d(TSTEPS, A, B):
    n = A.shape[0]
    for _ in range(TSTEPS):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


def seidel_2d(TSTEPS, A):
    n = A.shape[0]
    for _ in range(TSTEPS):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                around = A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                around += A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                A[i, j] = (around + A[i, j] + A[i, j + 1] + A[i, j - 1]) / 9.0


KERNELS: dict[str, Callable[..., None]] = {
    "cholesky": cholesky,
    "durbin": durbin,
    "gramschmidt": gramschmidt,
    "lu": lu,
    "ludcmp": ludcmp,
    "trisolv": trisolv,
    "deriche": deriche,
    "floyd-warshall": floyd_warshall,
    "nussinov": nussinov,
    "adi": adi,
    "fdtd-2d": fdtd_2d,
    "heat-3d": heat_3d,
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
    "seidel-2d": seidel_2d,
}
