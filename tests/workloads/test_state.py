"""What docc makes of a workload, checked in a child process."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from loopbook.errors import CompilerError, WorkloadError
from loopbook.toolchain.compiler import find_compiler
from loopbook.workloads.state import State, agree, check, shuffled, states
from loopbook.workloads.workload import load_workload


def _has_compiler() -> bool:
    try:
        find_compiler()
    except CompilerError:
        return False
    return True


needs_compiler = pytest.mark.skipif(not _has_compiler(), reason="needs a clang++")

HEAD = "import numpy as np\nPARAMETERS = {'S': {'N': 300}}\n"


@pytest.fixture
def workload(tmp_path):
    def make(text: str):
        path = tmp_path / "work.py"
        path.write_text(HEAD + text)
        return load_workload(path)

    return make


@needs_compiler
def test_polybench_kernels_on_all_targets():
    found = list(states(["gemm", "trmm", "symm", "floyd-warshall"]))
    assert len(found) == 12
    assert [entry for entry in found if not entry[2].ok] == []


@needs_compiler
def test_code_that_does_not_compile_is_a_reason(workload):
    broken = workload(
        "def initialize(N):\n    return {'A': np.zeros(N)}\n"
        "def kernel(A):\n    for __LINE__ in range(A.shape[0]):\n        A[__LINE__] = 1.0\n"
    )
    state = check(broken, "none", "S")
    assert not state.ok
    assert "not compile" in state.reason


@needs_compiler
def test_code_that_docc_cannot_parse_is_a_reason(workload):
    broken = workload(
        "def initialize(N):\n    return {'A': np.zeros(N)}\n"
        "def kernel(A):\n    for i in zip(A, A):\n        A[0] = 1.0\n"
    )
    state = check(broken, "none", "S")
    assert not state.ok
    assert "cannot parse" in state.reason


@needs_compiler
def test_wrong_numbers_are_a_reason(workload):
    wrong = workload(
        "def initialize(N):\n    return {'A': np.ones(N)}\n"
        "def kernel(A):\n    for i in range(A.shape[0]):\n        A[i] = A[i] + 1.0\n"
        "def reference(A):\n    A += 2.0\n"
    )
    state = check(wrong, "sequential", "S")
    assert state == State(False, "docc's sequential code is wrong: relative error 3.3e-01")


@needs_compiler
def test_shuffled_data_find_what_regular_data_hide(workload):
    wrong = workload(
        "def initialize(N):\n    return {'A': np.arange(N) * 1.0}\n"
        "def kernel(A):\n    for i in range(1, A.shape[0]):\n        A[i] = A[i - 1] + 1.0\n"
        "def reference(A):\n    pass\n"
    )
    assert "on shuffled data" in check(wrong, "none", "S").reason


@needs_compiler
def test_kernel_that_never_ends_is_a_reason(workload):
    endless = workload(
        "def initialize(N):\n    return {'A': np.ones(N), 'steps': 1 << 40}\n"
        "def kernel(A, steps):\n"
        "    for t in range(steps):\n"
        "        for i in range(1, A.shape[0]):\n"
        "            A[i] = 0.5 * (A[i] + A[i - 1])\n"
        "def reference(A, steps):\n    pass\n"
    )
    state = check(endless, "none", "S", seconds=2.0)
    assert not state.ok
    assert "2 s" in state.reason


def test_without_a_compiler_there_is_no_state(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("LOOPBOOK_CXX", raising=False)
    assert shutil.which("clang++") is None
    with pytest.raises(CompilerError):
        check("gemm", "none")


def test_unknown_names():
    with pytest.raises(WorkloadError):
        check("nothing", "none")
    with pytest.raises(ValueError, match="target 'gpu'"):
        check("gemm", "gpu")


def test_agree_measures_relative_to_the_largest_magnitude():
    want = np.array([1.0, -4.0])
    assert agree([want], [want + 0.4]) == pytest.approx(0.1)
    assert agree([want], [want[:1]]) == float("inf")
    assert agree([want], []) == float("inf")
    assert agree([np.array([np.nan, 1.0])], [np.array([np.nan, 1.0])]) == 0.0
    assert agree([np.array([np.nan, 1.0])], [np.array([0.0, 1.0])]) == float("inf")
    assert agree([np.array([100], np.int8)], [np.array([-100], np.int8)]) == 2.0


def test_shuffling_leaves_the_rows_of_sparse_matrices_where_they_are() -> None:
    rows = np.array([0, 2, 2, 4], np.int64)
    others = [np.arange(100.0), np.array([3, 1, 2, 0], np.int32), np.arange(9.0).reshape(3, 3)]
    got = shuffled([rows, *others, 7])
    assert list(got[0]) == list(rows)
    assert got[4] == 7
    for before, after in zip(others, got[1:4], strict=True):
        assert (after.dtype, after.shape) == (before.dtype, before.shape)
        assert sorted(after.ravel()) == sorted(before.ravel())
        assert list(after.ravel()) != list(before.ravel())
