"""The NumPy, Numba and DaCe versions of PolyBench against its Python loops."""

from __future__ import annotations

import copy
import importlib

import numpy as np
import pytest

from benchmarks.systems import numpy_suite
from benchmarks.systems.base import Unsupported
from loopbook.toolchain.run import compare
from loopbook.workloads import polybench
from loopbook.workloads.state import reference_results, shuffled

NEEDS_ITS_DATA = {"cholesky", "durbin", "gramschmidt", "lu", "ludcmp", "trisolv"}
"""Kernels that only make sense on their own data."""


def check(system, name, threads=1):
    """Compile once, then run on PolyBench's data and, where it makes sense, on shuffled data.

    What is right the references say, which are its loops' own (`workloads.test_polybench`), sooner.
    """
    workload = polybench.load(name)
    arguments = workload.arguments("MINI")
    run = system.compile(name, workload, copy.deepcopy(arguments), threads)
    data = [arguments] if name in NEEDS_ITS_DATA else [arguments, shuffled(arguments)]
    for values in data:
        expected = reference_results(workload, values)
        assert expected is not None
        with np.errstate(all="ignore"):  # dependent columns in gramschmidt
            run(values)
        compare(workload.results(values), expected)


def installed(suite):
    """The system of a suite whose library `make setup` does not install."""
    pytest.importorskip(suite.removesuffix("_suite"))
    return importlib.import_module(f"benchmarks.systems.{suite}").SYSTEM


@pytest.mark.parametrize("name", polybench.names())
def test_numpy(name):
    check(numpy_suite.SYSTEM, name)


def test_numpy_across_the_panels_of_a_factorisation():
    workload = polybench.load("ludcmp")
    arguments = workload.arguments("MINI", {"N": 2 * numpy_suite.PANEL + 3})
    expected = copy.deepcopy(arguments)
    workload.kernel(*expected)
    numpy_suite.ludcmp(*arguments)
    compare(arguments, expected)


@pytest.mark.parametrize("name", polybench.names())
def test_numba(name):
    check(installed("numba_suite"), name)


@pytest.mark.parametrize("name", ["correlation", "cholesky", "deriche", "fdtd-2d"])
def test_numba_with_two_threads(name):
    numba = pytest.importorskip("numba")
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("one core")
    check(installed("numba_suite"), name, threads=2)


def test_numba_refuses_more_threads_than_it_was_started_with():
    numba = pytest.importorskip("numba")
    workload = polybench.load("gemm")
    with pytest.raises(Unsupported, match="fewer threads"):
        installed("numba_suite").compile(
            "gemm", workload, workload.arguments("MINI"), numba.config.NUMBA_NUM_THREADS + 1
        )


@pytest.mark.parametrize("name", ["2mm", "trisolv", "floyd-warshall", "jacobi-2d"])
def test_dace(name):
    check(installed("dace_suite"), name)


def test_a_kernel_that_dace_cannot_read_is_unsupported():
    system = installed("dace_suite")
    workload = polybench.load("seidel-2d")  # read by its loops: no version of its own
    with pytest.raises(Unsupported, match="DaCe"):
        system.compile("seidel-2d", workload, [5, "no array"], 1)


@pytest.mark.parametrize("suite", ["numpy_suite", "numba_suite"])
def test_an_unknown_kernel_is_unsupported(suite):
    with pytest.raises(Unsupported, match="fft"):
        installed(suite).compile("fft", polybench.load("gemm"), [], 1)
