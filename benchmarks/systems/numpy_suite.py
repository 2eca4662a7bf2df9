"""PolyBench in NumPy, as a user writes it who cares for speed.

Products go to BLAS, factorisations are blocked so that they do too, sweeps and filters run over
whole slices into buffers made once, and an array is turned where its columns would be walked. No
function visits single elements. Each works in place, with its kernel's arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.systems.base import Unsupported
from loopbook.workloads.workload import Workload

PANEL = 64
"""Columns that a blocked factorisation eliminates one by one before it updates the rest."""


class NumPySystem:
    """NumPy with the BLAS that it was built with.

    BLAS reads its number of threads once, from the environment, so `threads` is the caller's to
    set there.
    """

    name = "numpy"

    def compile(
        self, kernel: str, workload: Workload, arguments: list[Any], threads: int
    ) -> Callable[[list[Any]], Any]:
        """The kernel as a function of its arguments.

        Raises:
            Unsupported: there is no NumPy version of this kernel.
        """
        if kernel not in KERNELS:
            raise Unsupported(f"no NumPy version of {kernel}")
        function = KERNELS[kernel]
        return lambda values: function(*values)


SYSTEM = NumPySystem()


# -- data mining --------------------------------------------------------------------------------


def correlation(float_n, data, corr, mean, stddev):
    np.divide(data.sum(axis=0), float_n, out=mean)
    data -= mean
    np.sqrt(np.einsum("ij,ij->j", data, data) / float_n, out=stddev)
    stddev[stddev <= 0.1] = 1.0
    data /= np.sqrt(float_n) * stddev
    np.matmul(data.T, data, out=corr)
    np.fill_diagonal(corr, 1.0)


def covariance(float_n, data, cov, mean):
    np.divide(data.sum(axis=0), float_n, out=mean)
    data -= mean
    np.matmul(data.T, data, out=cov)
    cov /= float_n - 1.0


# -- linear algebra -----------------------------------------------------------------------------


def two_mm(alpha, beta, tmp, A, B, C, D):
    np.matmul(A, B, out=tmp)
    tmp *= alpha
    D *= beta
    D += tmp @ C


def three_mm(AB, A, B, CD, C, D, G):
    np.matmul(A, B, out=AB)
    np.matmul(C, D, out=CD)
    np.matmul(AB, CD, out=G)


def atax(A, x, y, tmp):
    np.matmul(A, x, out=tmp)
    np.matmul(tmp, A, out=y)


def bicg(A, s, q, p, r):
    np.matmul(r, A, out=s)
    np.matmul(A, p, out=q)


def doitgen(A, C4, sum_):
    rows = A.reshape(-1, A.shape[2])  # one large product instead of many small ones
    rows[:] = rows @ C4
    sum_[:] = rows[-1]


def mvt(x1, x2, y_1, y_2, A):
    x1 += A @ y_1
    x2 += y_2 @ A


def gemm(alpha, beta, C, A, B):
    C *= beta
    C += (alpha * A) @ B


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.stack((u1, u2), axis=1) @ np.stack((v1, v2))
    x += beta * (y @ A) + z
    w += alpha * (A @ x)


def gesummv(alpha, beta, A, B, tmp, x, y):
    np.matmul(A, x, out=tmp)
    np.matmul(B, x, out=y)
    y *= beta
    y += alpha * tmp


def symm(alpha, beta, C, A, B):
    lower = np.tril(A)
    lower *= alpha
    C *= beta
    C += (lower + np.tril(lower, -1).T) @ B


def syr2k(alpha, beta, C, A, B):
    update = (alpha * A) @ B.T
    update = update + update.T
    update += beta * C
    np.copyto(C, update, where=_lower(C))


def syrk(alpha, beta, C, A):
    update = A @ A.T
    update *= alpha
    update += beta * C
    np.copyto(C, update, where=_lower(C))


def trmm(alpha, A, B):
    B += np.tril(A, -1).T @ B
    B *= alpha


def _lower(matrix):
    return np.tri(matrix.shape[0], dtype=bool)


# -- solvers ------------------------------------------------------------------------------------


def cholesky(A):
    np.copyto(A, np.linalg.cholesky(A), where=_lower(A))


def durbin(r, y, z):
    n = r.shape[0]
    backwards = r[::-1].copy()
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + backwards[n - k :] @ y[:k]) / beta
        np.multiply(y[k - 1 :: -1], alpha, out=z[:k])
        z[:k] += y[:k]
        y[:k] = z[:k]
        y[k] = alpha


def gramschmidt(A, R, Q):
    for k in range(A.shape[1]):
        column, rest = A[:, k], A[:, k + 1 :]
        R[k, k] = np.sqrt(column @ column)
        unit = column / R[k, k]
        Q[:, k] = unit
        np.matmul(unit, rest, out=R[k, k + 1 :])
        rest -= np.outer(unit, R[k, k + 1 :])


def lu(A):
    n = A.shape[0]
    for begin in range(0, n, PANEL):
        end = min(begin + PANEL, n)
        for k in range(begin, end):
            A[k + 1 :, k] /= A[k, k]
            A[k + 1 :, k + 1 : end] -= np.outer(A[k + 1 :, k], A[k, k + 1 : end])
        for k in range(begin + 1, end):
            A[k, end:] -= A[k, begin:k] @ A[begin:k, end:]
        A[end:, end:] -= A[end:, begin:end] @ A[begin:end, end:]


def ludcmp(A, b, x, y):
    lu(A)
    for i in range(A.shape[0]):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(A.shape[0] - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]


def trisolv(L, x, b):
    for i in range(L.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


# -- medley -------------------------------------------------------------------------------------


def deriche(alpha, imgIn, imgOut, y1, y2):
    decay = np.exp(-alpha)
    k = (1.0 - decay) ** 2 / (1.0 + 2.0 * alpha * decay - np.exp(2.0 * alpha))
    ahead = (k, k * decay * (alpha - 1.0))
    behind = (k * decay * (alpha + 1.0), -k * decay**2)
    poles = (2.0**-alpha, -(decay**2))
    # Both passes filter along the first axis, over contiguous rows: the first one on the transpose.
    turned = np.ascontiguousarray(imgIn.T)
    forth, back = np.empty_like(turned), np.empty_like(turned)
    _filter(turned, forth, ahead, poles, 0)
    _filter(turned[::-1], back[::-1], behind, poles, 1)
    forth += back
    imgOut[:] = forth.T
    _filter(imgOut, y1, ahead, poles, 0)
    _filter(imgOut[::-1], y2[::-1], behind, poles, 1)
    np.add(y1, y2, out=imgOut)


def _filter(rows, out, taps, poles, delay):
    """Second-order recursive filter down the rows; `taps` begin `delay` rows before the output."""
    term = np.empty(rows.shape[1])
    for i, row in enumerate(out):
        row[:] = 0.0
        for source, weights, offset in ((rows, taps, delay), (out, poles, 1)):
            for lag, weight in enumerate(weights, offset):
                if i >= lag:
                    row += np.multiply(source[i - lag], weight, out=term)


def floyd_warshall(path):
    through = np.empty_like(path)
    for k in range(path.shape[0]):
        np.add(path[:, k, None], path[k], out=through)
        np.minimum(path, through, out=path)


def nussinov(seq, table):
    # One diagonal after the other. Row m of `right` holds table[i, i + m] by i, row m of `left`
    # table[j - m, j] by j, so that all pairs to add up lie in two slices.
    n = table.shape[0]
    flat = table.reshape(-1)
    by_start = np.zeros_like(table)
    by_end = np.zeros_like(table)
    by_start[:, 0] = by_end[:, 0] = table.diagonal()
    for length in range(1, n):
        cells = flat[length : (n - length) * n : n + 1]
        if length == 1:
            inner = table.diagonal(-1)
        else:
            inner = table.diagonal(length - 2)[1 : n - length + 1]
            inner = inner + (seq[: n - length] + seq[length:] == 3)
        np.maximum(cells, by_start[: n - length, length - 1], out=cells)
        np.maximum(cells, by_end[length:, length - 1], out=cells)
        np.maximum(cells, inner, out=cells)
        if length > 1:
            splits = by_start[: n - length, 1:length] + by_end[length:, length - 2 :: -1]
            np.maximum(cells, splits.max(axis=1), out=cells)
        by_start[: n - length, length] = cells
        by_end[length:, length] = cells


# -- stencils -----------------------------------------------------------------------------------


def adi(TSTEPS, N, u, v, p, q):
    across = -(2.0 / TSTEPS) * N**2 / 2.0
    along = -(1.0 / TSTEPS) * N**2 / 2.0
    # Factors and the second half step live transposed: every sweep then goes down whole rows.
    p_turned, q_turned = p.T.copy(), q.T.copy()
    u_turned = np.empty_like(u)
    for _ in range(TSTEPS):
        _implicit(across, along, u, v, p_turned, q_turned)
        _implicit(along, across, np.ascontiguousarray(v.T), u_turned, p_turned, q_turned)
        u[1:-1] = u_turned[:, 1:-1].T
    p[:] = p_turned.T
    q[:] = q_turned.T


def _implicit(off, off_explicit, grid, out, p, q):
    """Solve a tridiagonal system down each inner column; one row of all systems at a time."""
    n = grid.shape[0]
    inner = slice(1, n - 1)
    p[0, inner] = 0.0
    q[0, inner] = 1.0
    out[0, inner] = out[n - 1, inner] = 1.0
    for j in range(1, n - 1):
        pivot = off * p[j - 1, inner] + (1.0 - 2.0 * off)
        explicit = grid[j, :-2] + grid[j, 2:]
        explicit *= -off_explicit
        explicit += (1.0 + 2.0 * off_explicit) * grid[j, inner]
        explicit -= off * q[j - 1, inner]
        np.divide(-off, pivot, out=p[j, inner])
        np.divide(explicit, pivot, out=q[j, inner])
    for j in range(n - 2, 0, -1):
        np.multiply(p[j, inner], out[j + 1, inner], out=out[j, inner])
        out[j, inner] += q[j, inner]


def fdtd_2d(TMAX, ex, ey, hz, _fict_):
    down, right = np.empty_like(hz[1:]), np.empty_like(hz[:, 1:])
    inside, change = hz[:-1, :-1], np.empty_like(hz[:-1, :-1])
    for t in range(TMAX):
        ey[0] = _fict_[t]
        np.subtract(hz[1:], hz[:-1], out=down)
        down *= 0.5
        ey[1:] -= down
        np.subtract(hz[:, 1:], hz[:, :-1], out=right)
        right *= 0.5
        ex[:, 1:] -= right
        np.subtract(ex[:-1, 1:], ex[:-1, :-1], out=change)
        change += ey[1:, :-1]
        change -= ey[:-1, :-1]
        change *= 0.7
        inside -= change


def heat_3d(TSTEPS, A, B):
    mid, up, down = slice(1, -1), slice(2, None), slice(None, -2)
    total = np.empty_like(A[mid, mid, mid])
    for _ in range(TSTEPS):
        for old, new in ((A, B), (B, A)):
            target = new[mid, mid, mid]
            np.add(old[up, mid, mid], old[down, mid, mid], out=total)
            total += old[mid, up, mid]
            total += old[mid, down, mid]
            total += old[mid, mid, up]
            total += old[mid, mid, down]
            total *= 0.125
            np.multiply(old[mid, mid, mid], 0.25, out=target)
            target += total


def jacobi_1d(TSTEPS, A, B):
    for _ in range(TSTEPS):
        for old, new in ((A, B), (B, A)):
            target = new[1:-1]
            np.add(old[:-2], old[1:-1], out=target)
            target += old[2:]
            target *= 0.33333


def jacobi_2d(TSTEPS, A, B):
    for _ in range(TSTEPS):
        for old, new in ((A, B), (B, A)):
            target = new[1:-1, 1:-1]
            np.add(old[1:-1, 1:-1], old[1:-1, :-2], out=target)
            target += old[1:-1, 2:]
            target += old[2:, 1:-1]
            target += old[:-2, 1:-1]
            target *= 0.2


def seidel_2d(TSTEPS, A):
    # Along a row x[j] = (known[j] + x[j-1]) / 9: the sum of known[j-m] / 9**(m+1). Each step
    # doubles the terms summed; what 16 of them leave out is below rounding.
    columns = np.empty(A.shape[1])
    for _ in range(TSTEPS):
        for above, row, below in zip(A, A[1:], A[2:], strict=False):
            x = row[1:-1]
            x += row[2:]
            np.add(above, below, out=columns)
            x += columns[:-2]
            x += columns[1:-1]
            x += columns[2:]
            x[0] += row[0]
            x /= 9.0
            for lag in (1, 2, 4, 8):
                x[lag:] += 9.0**-lag * x[:-lag]


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
