"""PolyBench in DaCe, made fast by its own auto-optimiser for CPUs.

Kernels that are products, sums and slices at heart are written so, as DaCe's users do; the others
are the workloads' loops themselves, which DaCe reads too. DaCe is given the arguments, hence sizes
are constants to it. It knows no `axis` of methods, no `out` and no loop over an array; what it
refuses or breaks on is reported with its own message.

DaCe 1.0 needs numpy below 2 and networkx below 3.6 (``KeyError: SDFGState`` from then on). Its
products call MKL, if there is one (``pip install mkl-devel`` or ``MKLROOT``; the linker looks for
``libmkl_rt.so``, which some packages only have with a number behind it); its own loops for them are
slow.
"""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dace  # pyright: ignore[reportMissingImports]
import numpy as np
from dace.transformation.auto.auto_optimize import (  # pyright: ignore[reportMissingImports]
    auto_optimize,
)

from benchmarks.systems.base import Runner, Unsupported
from loopbook.workloads.workload import Workload


class DaceSystem:
    """DaCe's Python frontend, auto-optimiser and C++ compiler with DaCe's default flags.

    The number of threads is OpenMP's, from the environment.
    """

    name = "dace"

    def compile(
        self, kernel: str, workload: Workload, arguments: list[Any], threads: int
    ) -> Runner:
        """The kernel compiled for the types and sizes of `arguments`.

        Raises:
            Unsupported: DaCe cannot read, optimise or compile the kernel.
        """
        find_mkl()
        # Views are refused by default for fear of strides; the arguments here are contiguous.
        dace.Config.set("compiler", "allow_view_arguments", value=True)
        function = KERNELS.get(kernel, workload.kernel)
        folder = tempfile.TemporaryDirectory(prefix="dace-")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sdfg = dace.program(function).to_sdfg(*arguments, simplify=True)
                sdfg.build_folder = folder.name
                auto_optimize(sdfg, dace.DeviceType.CPU)
                compiled = sdfg.compile()
        except Exception as error:  # DaCe raises whatever its passes stumble on
            reason = (str(error).strip().splitlines() or ["no message"])[0]
            raise Unsupported(f"DaCe: {type(error).__name__}: {reason}"[:200]) from error
        wanted = set(sdfg.arglist())
        names = inspect.signature(function).parameters

        def run(values: list[Any], _folder: tempfile.TemporaryDirectory[str] = folder) -> None:
            pairs = zip(names, values, strict=True)
            compiled(**{name: value for name, value in pairs if name in wanted})

        return run


def find_mkl() -> None:
    """Show DaCe the MKL of this virtual environment; it threads with the OpenMP of DaCe's code."""
    if (Path(sys.prefix) / "lib" / "libmkl_rt.so").exists():
        os.environ.setdefault("MKLROOT", sys.prefix)
    os.environ.setdefault("MKL_THREADING_LAYER", "GNU")


SYSTEM = DaceSystem()


# -- linear algebra -----------------------------------------------------------------------------


def correlation(float_n, data, corr, mean, stddev):
    mean[:] = np.sum(data, axis=0) / float_n
    data[:] = data - mean
    stddev[:] = np.sqrt(np.sum(data * data, axis=0) / float_n)
    for j in range(data.shape[1]):
        if stddev[j] <= 0.1:
            stddev[j] = 1.0
    data[:] = data / (np.sqrt(float_n) * stddev)
    corr[:] = np.transpose(data) @ data
    for i in range(corr.shape[0]):
        corr[i, i] = 1.0


def covariance(float_n, data, cov, mean):
    mean[:] = np.sum(data, axis=0) / float_n
    data[:] = data - mean
    cov[:] = (np.transpose(data) @ data) / (float_n - 1.0)


def two_mm(alpha, beta, tmp, A, B, C, D):
    tmp[:] = alpha * (A @ B)
    D[:] = beta * D + tmp @ C


def three_mm(AB, A, B, CD, C, D, G):
    AB[:] = A @ B
    CD[:] = C @ D
    G[:] = AB @ CD


def atax(A, x, y, tmp):
    tmp[:] = A @ x
    y[:] = tmp @ A


def bicg(A, s, q, p, r):
    s[:] = r @ A
    q[:] = A @ p


def doitgen(A, C4, sum_):
    for r in range(A.shape[0]):
        A[r] = A[r] @ C4
    sum_[:] = A[A.shape[0] - 1, A.shape[1] - 1]


def mvt(x1, x2, y_1, y_2, A):
    x1[:] = x1 + A @ y_1
    x2[:] = x2 + y_2 @ A


def gemm(alpha, beta, C, A, B):
    C[:] = alpha * (A @ B) + beta * C


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    x[:] = x + beta * (y @ A) + z
    w[:] = w + alpha * (A @ x)


def gesummv(alpha, beta, A, B, tmp, x, y):
    tmp[:] = A @ x
    y[:] = alpha * tmp + beta * (B @ x)


def symm(alpha, beta, C, A, B):
    full = np.empty_like(A)
    for i in range(A.shape[0]):
        for j in range(i + 1):
            full[i, j] = A[i, j]
        for j in range(i + 1, A.shape[0]):
            full[i, j] = A[j, i]
    C[:] = alpha * (full @ B) + beta * C


def syr2k(alpha, beta, C, A, B):
    product = A @ np.transpose(B)
    for i in range(A.shape[0]):
        for j in range(i + 1):
            C[i, j] = beta * C[i, j] + alpha * (product[i, j] + product[j, i])


def syrk(alpha, beta, C, A):
    product = A @ np.transpose(A)
    for i in range(A.shape[0]):
        for j in range(i + 1):
            C[i, j] = beta * C[i, j] + alpha * product[i, j]


def trmm(alpha, A, B):
    turned = np.zeros_like(A)
    for i in range(A.shape[0]):
        turned[i, i] = 1.0
        for j in range(i + 1, A.shape[0]):
            turned[i, j] = A[j, i]
    B[:] = alpha * (turned @ B)


# -- medley -------------------------------------------------------------------------------------


def deriche(alpha, imgIn, imgOut, y1, y2):
    decay = np.exp(-alpha)
    a1 = (1.0 - decay) * (1.0 - decay) / (1.0 + 2.0 * alpha * decay - np.exp(2.0 * alpha))
    a2 = a1 * decay * (alpha - 1.0)
    a3 = a1 * decay * (alpha + 1.0)
    a4 = -a1 * decay * decay
    b1 = 2.0 ** (-alpha)
    b2 = -decay * decay
    w = imgIn.shape[0]
    h = imgIn.shape[1]
    y1[:, 0] = a1 * imgIn[:, 0]
    y1[:, 1] = a1 * imgIn[:, 1] + a2 * imgIn[:, 0] + b1 * y1[:, 0]
    for j in range(2, h):
        y1[:, j] = a1 * imgIn[:, j] + a2 * imgIn[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]
    y2[:, h - 1] = 0.0
    y2[:, h - 2] = a3 * imgIn[:, h - 1]
    for j in range(h - 3, -1, -1):
        y2[:, j] = (
            a3 * imgIn[:, j + 1] + a4 * imgIn[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]
        )
    imgOut[:] = y1 + y2
    y1[0, :] = a1 * imgOut[0, :]
    y1[1, :] = a1 * imgOut[1, :] + a2 * imgOut[0, :] + b1 * y1[0, :]
    for i in range(2, w):
        y1[i, :] = a1 * imgOut[i, :] + a2 * imgOut[i - 1, :] + b1 * y1[i - 1, :] + b2 * y1[i - 2, :]
    y2[w - 1, :] = 0.0
    y2[w - 2, :] = a3 * imgOut[w - 1, :]
    for i in range(w - 3, -1, -1):
        y2[i, :] = (
            a3 * imgOut[i + 1, :] + a4 * imgOut[i + 2, :] + b1 * y2[i + 1, :] + b2 * y2[i + 2, :]
        )
    imgOut[:] = y1 + y2


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, np.add.outer(path[:, k], path[k]))


def nussinov(seq, table):
    n = table.shape[0]
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            table[i, j] = max(table[i, j], table[i + 1, j])
            if i < j - 1:
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + (seq[i] + seq[j] == 3))
            else:
                table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


# -- stencils -----------------------------------------------------------------------------------


def fdtd_2d(TMAX, ex, ey, hz, _fict_):
    for t in range(TMAX):
        ey[0, :] = _fict_[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def heat_3d(TSTEPS, A, B):
    for _ in range(TSTEPS):
        B[1:-1, 1:-1, 1:-1] = 0.25 * A[1:-1, 1:-1, 1:-1] + 0.125 * (
            A[2:, 1:-1, 1:-1]
            + A[:-2, 1:-1, 1:-1]
            + A[1:-1, 2:, 1:-1]
            + A[1:-1, :-2, 1:-1]
            + A[1:-1, 1:-1, 2:]
            + A[1:-1, 1:-1, :-2]
        )
        A[1:-1, 1:-1, 1:-1] = 0.25 * B[1:-1, 1:-1, 1:-1] + 0.125 * (
            B[2:, 1:-1, 1:-1]
            + B[:-2, 1:-1, 1:-1]
            + B[1:-1, 2:, 1:-1]
            + B[1:-1, :-2, 1:-1]
            + B[1:-1, 1:-1, 2:]
            + B[1:-1, 1:-1, :-2]
        )


def jacobi_1d(TSTEPS, A, B):
    for _ in range(TSTEPS):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def jacobi_2d(TSTEPS, A, B):
    for _ in range(TSTEPS):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]
        )


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
    "deriche": deriche,
    "floyd-warshall": floyd_warshall,
    "nussinov": nussinov,
    "fdtd-2d": fdtd_2d,
    "heat-3d": heat_3d,
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
}
"""Kernels written for DaCe; the loops of its workload stand for any other."""
