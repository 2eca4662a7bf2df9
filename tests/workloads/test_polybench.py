"""All PolyBench kernels: sizes, initialisation, and loops against their references."""

from __future__ import annotations

import ast
import copy
import inspect

import numpy as np
import pytest

from loopbook.errors import WorkloadError
from loopbook.workloads import polybench
from loopbook.workloads.state import agree, reference_results, shuffled, stable


def test_all_thirty_kernels_in_polybench_order():
    names = polybench.names()
    assert len(names) == len(set(names)) == 30
    assert names[0] == "correlation"
    assert names[-1] == "seidel-2d"
    files = {path.name for path in polybench.path("gemm").parent.glob("[a-z]*.py")}
    assert files == {polybench.path(name).name for name in names}


@pytest.mark.parametrize("name", polybench.names())
def test_loops_equal_reference(name):
    workload = polybench.load(name)
    arguments = workload.arguments("MINI")
    expected = reference_results(workload, arguments)
    assert workload.reference is not None
    assert expected is not None
    assert all(np.isfinite(array).all() for array in expected)
    workload.kernel(*arguments)
    assert agree(expected, workload.results(arguments)) < 1e-10


# Shuffled, a matrix is no longer what a decomposition or a recursion needs.
NEEDS_ITS_DATA = {"cholesky", "durbin", "gramschmidt", "lu", "ludcmp", "trisolv"}


@pytest.mark.parametrize("name", [n for n in polybench.names() if n not in NEEDS_ITS_DATA])
def test_loops_equal_reference_on_shuffled_data(name):
    workload = polybench.load(name)
    arguments = shuffled(workload.arguments("MINI"))
    before = copy.deepcopy(arguments)
    expected = reference_results(workload, arguments)
    assert expected is not None
    assert stable(workload, arguments, expected)
    workload.kernel(*arguments)
    assert agree(expected, workload.results(arguments)) < 1e-10
    assert agree(workload.results(before), workload.results(arguments)) > 1e-2


@pytest.mark.parametrize("name", polybench.names())
def test_kernel_is_plain_loops(name):
    """Only counted loops, scalars and elements: calls are range and a few scalar functions."""
    tree = ast.parse(inspect.getsource(polybench.load(name).kernel))
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert calls <= {"range", "max", "np.sqrt", "np.exp", "np.power"}
    assert not any(isinstance(node, ast.Slice | ast.MatMult) for node in ast.walk(tree))
    assert any(isinstance(node, ast.For) for node in ast.walk(tree))


@pytest.mark.parametrize("name", polybench.names())
def test_five_growing_data_sets(name):
    parameters = polybench.load(name).parameters
    assert tuple(parameters) == polybench.PRESETS
    work = [np.prod(np.array(list(parameters[p].values()), float)) for p in polybench.PRESETS]
    assert work[:4] == sorted(set(work[:4]))  # atax and bicg do not grow from LARGE on
    assert len({tuple(sizes) for sizes in parameters.values()}) == 1


@pytest.mark.parametrize(
    ("name", "preset", "sizes"),
    [
        ("gemm", "LARGE", {"NI": 1000, "NJ": 1100, "NK": 1200}),
        ("3mm", "MEDIUM", {"NI": 180, "NJ": 190, "NK": 200, "NL": 210, "NM": 220}),
        ("atax", "EXTRALARGE", {"M": 1800, "N": 2200}),
        ("deriche", "SMALL", {"W": 192, "H": 128}),
        ("nussinov", "LARGE", {"N": 2500}),
        ("heat-3d", "MINI", {"TSTEPS": 20, "N": 10}),
        ("fdtd-2d", "LARGE", {"TMAX": 500, "NX": 1000, "NY": 1200}),
    ],
)
def test_sizes_are_polybench_s(name, preset, sizes):
    assert polybench.load(name).sizes(preset) == sizes


def _data(name, preset="MINI"):
    workload = polybench.load(name)
    names = inspect.signature(workload.kernel).parameters
    return dict(zip(names, workload.arguments(preset), strict=True))


@pytest.mark.parametrize(
    ("name", "array", "index", "value"),
    [
        ("gemm", "C", (3, 5), ((3 * 5 + 1) % 20) / 20),
        ("gemm", "A", (7, 9), (7 * 10 % 30) / 30),
        ("2mm", "C", (4, 6), ((4 * 9 + 1) % 24) / 24),
        ("3mm", "D", (2, 8), ((2 * 10 + 2) % 20) / 100),
        ("symm", "A", (3, 4), -999.0),
        ("symm", "B", (1, 29), ((30 + 1 - 29) % 100) / 20),
        ("syr2k", "C", (9, 4), ((9 * 4 + 3) % 30) / 20),
        ("gramschmidt", "A", (3, 8), ((3 * 8) % 20) / 20 * 100 + 10),
        ("trisolv", "L", (5, 2), (5 + 40 - 2 + 1) * 2 / 40),
        ("trisolv", "x", (0,), -999.0),
        ("durbin", "r", (4,), 37.0),
        ("deriche", "imgIn", (60, 63), ((313 * 60 + 991 * 63) % 65536) / 65535.0),
        ("floyd-warshall", "path", (2, 3), 2 * 3 % 7 + 1),
        ("floyd-warshall", "path", (3, 4), 999),
        ("nussinov", "seq", (6,), 3),
        ("adi", "u", (4, 1), (4 + 20 - 1) / 20),
        ("fdtd-2d", "ey", (3, 7), 3 * 9 / 30),
        ("heat-3d", "B", (1, 2, 3), (1 + 2 + 7) * 10 / 10),
        ("jacobi-1d", "B", (7,), 10 / 30),
        ("correlation", "data", (3, 5), 3 * 5 / 28 + 3),
        ("gemver", "v2", (9,), 10 / 40 / 6.0),
        ("ludcmp", "b", (4,), 5 / 40 / 2.0 + 4),
    ],
)
def test_initialisation_is_polybench_s(name, array, index, value):
    assert _data(name)[array][index] == value


def test_decompositions_get_a_positive_definite_matrix():
    lower = np.array([[1.0, 0, 0], [1, 1, 0], [1, 1 - 1 / 3, 1]])
    (matrix,) = polybench.load("cholesky").arguments("MINI", {"N": 3})
    np.testing.assert_allclose(matrix, lower @ lower.T, rtol=1e-15)
    assert np.linalg.eigvalsh(_data("lu")["A"]).min() > 0


def test_integer_kernels_have_integer_data():
    assert _data("floyd-warshall")["path"].dtype == np.int32
    assert _data("nussinov")["table"].dtype == np.int32
    assert _data("nussinov")["seq"].dtype == np.int8


def test_unknown_kernel():
    with pytest.raises(WorkloadError, match=r"no kernel 'gemmm'; it has correlation"):
        polybench.load("gemmm")
