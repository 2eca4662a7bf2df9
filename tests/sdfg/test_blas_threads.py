"""A program's BLAS uses as many threads as its target, and leaves the process as it was."""

from __future__ import annotations

import ctypes
import os
import time

import numpy as np
import pytest
from client_kit import blas_is

import loopbook
from loopbook.sdfg.blas_threads import with_blas_threads
from loopbook.toolchain.blas import has_tuned_blas
from loopbook.toolchain.sandbox import run_limited

CODE = '#include <cblas.h>\nextern "C" void f(double *A)\n{\n    cblas_dgemm(A);\n    return ;\n}\n'


def test_one_thread_unless_the_target_has_more() -> None:
    assert "loopbook_threads(1);" in with_blas_threads(CODE, "sequential")
    assert "loopbook_threads(omp_get_max_threads());" in with_blas_threads(CODE, "openmp")


def test_code_without_a_library_stays() -> None:
    assert with_blas_threads(CODE.replace("cblas_", ""), "sequential") == CODE.replace("cblas_", "")


def product(A, B, C):
    C[:] = A @ B


def _busy() -> tuple[float, int, int]:
    """In a child: how many processors a product keeps busy; OpenBLAS's threads before and after."""
    blas = ctypes.CDLL("libblas.so.3")
    blas.openblas_set_num_threads(2)
    kernel = loopbook.native(product, target="sequential")
    A, B, C = (np.ones((900, 900)) for _ in range(3))
    for _ in range(6):  # what is compared and timed beside Python is over then
        kernel(A, B, C)
    spent, begun = time.process_time(), time.perf_counter()
    for _ in range(8):
        kernel(A, B, C)
    busy = (time.process_time() - spent) / (time.perf_counter() - begun)
    assert np.array_equal(C, np.full((900, 900), 900.0))
    assert kernel.plan is not None
    return busy, blas.openblas_get_num_threads(), "library" in str(kernel.plan.nests)


@pytest.mark.skipif(not has_tuned_blas(), reason="only OpenBLAS is told")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor is never two")
def test_a_sequential_product_keeps_one_processor_busy() -> None:
    with pytest.MonkeyPatch.context() as patch:
        blas_is(patch)
        busy, threads, called = run_limited(_busy, seconds=300, what="a product")
    assert called
    assert threads == 2
    assert busy < 1.3
