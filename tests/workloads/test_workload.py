"""The workload-file loader: every form that it takes, and one clear line for each mistake."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from loopbook.errors import WorkloadError
from loopbook.workloads.workload import load_workload

DATA = Path(__file__).parent / "data"

HEAD = "import numpy as np\nPARAMETERS = {'S': {'N': 4}, 'L': {'N': 8}}\n"
INITIALIZE = "def initialize(N):\n    return {'A': np.arange(N), 'c': 2.0}\n"
KERNEL = "def kernel(c, A):\n    for i in range(A.shape[0]):\n        A[i] *= c\n"


@pytest.fixture
def write(tmp_path):
    def write_file(*parts: str) -> Path:
        path = tmp_path / "work.py"
        path.write_text("".join(parts))
        return path

    return write_file


def test_dict_form(write):
    workload = load_workload(write(HEAD, INITIALIZE, KERNEL))
    assert workload.name == "work"
    assert workload.reference is None
    c, A = workload.arguments("L")
    assert c == 2.0
    assert A.tolist() == list(range(8))
    assert workload.arguments("L")[1] is not A


def test_tuple_form_goes_by_the_names_of_the_return_line(write):
    initialize = (
        "def initialize(N):\n"
        "    def inner():\n        return 1, 2\n"
        "    if N < 0:\n        return None, None\n"
        "    A, c = np.ones(N), 3.0\n"
        "    return A, c\n"
    )
    c, A = load_workload(write(HEAD, initialize, KERNEL)).arguments("S")
    assert c == 3.0
    assert A.shape == (4,)


def test_tuple_without_names_goes_by_position(write):
    kernel = "def kernel(N, c, A):\n    A[0] = N * c\n"
    initialize = "def initialize(N):\n    return 3.0, np.ones(N)\n"
    n, c, A = load_workload(write(HEAD, initialize, kernel)).arguments("S")
    assert (n, c) == (4, 3.0)
    assert A.shape == (4,)


def test_a_tuple_without_names_may_repeat_the_sizes(write):
    kernel = "def kernel(A, N):\n    A[0] = N\n"
    initialize = "def initialize(N):\n    return np.ones(N) * 2, N\n"
    A, n = load_workload(write(HEAD, initialize, kernel)).arguments("S")
    assert (A.shape, n) == ((4,), 4)


def test_single_value_is_a_tuple_of_one(write):
    initialize = "def initialize(N):\n    return np.ones(N)\n"
    (A,) = load_workload(write(HEAD, initialize, "def kernel(A):\n    A[0] = 2\n")).arguments("S")
    assert A.shape == (4,)


def test_npbench_file_as_it_is():
    workload = load_workload(DATA / "npbench_smooth.py")
    steps, grid, weights = workload.arguments("S")
    assert steps == 4
    assert grid.shape == (12, 12)
    assert grid.dtype == np.float64
    assert weights.tolist() == [0.25, 0.5, 0.25]
    before = grid.copy()
    workload.kernel(steps, grid, weights)
    assert not np.array_equal(grid, before)


def test_npbench_file_with_another_kernel_name_and_positional_data():
    workload = load_workload(DATA / "npbench_outer.py")
    assert workload.kernel.__name__ == "rank_one"
    alpha, A, x, y = workload.arguments("S")
    workload.kernel(alpha, A, x, y)
    np.testing.assert_allclose(A, 1.5 * np.outer(x, y))


def test_overrides_replace_sizes(write):
    workload = load_workload(write(HEAD, INITIALIZE, KERNEL))
    assert workload.arguments("S", {"N": 5})[1].shape == (5,)
    assert workload.parameters["S"] == {"N": 4}
    with pytest.raises(WorkloadError, match=r"no size 'M'; it has N"):
        workload.arguments("S", {"M": 5})


def test_function_named_with_a_colon(write):
    path = write(HEAD, INITIALIZE, KERNEL, "def other(A):\n    A[0] = 7\n")
    assert load_workload(path).kernel.__name__ == "kernel"
    chosen = load_workload(f"{path}:other")
    assert (chosen.kernel.__name__, chosen.name, chosen.path) == ("other", "other", path)
    assert len(chosen.arguments("S")) == 1


def test_decorated_kernel_is_taken_as_written(write):
    wrapper = "class Wrapped:\n    def __init__(self, func):\n        self.func = func\n"
    workload = load_workload(write(HEAD, wrapper, INITIALIZE, "@Wrapped\n", KERNEL))
    A = np.ones(2)
    workload.kernel(3.0, A)
    assert A.tolist() == [3.0, 3.0]


def test_default_of_a_kernel_argument(write):
    kernel = "def kernel(A, times=2):\n    A[0] = times\n"
    assert load_workload(write(HEAD, INITIALIZE, kernel)).arguments("S")[1] == 2


def test_results_of_the_file_replace_all_arrays(write):
    path = write(HEAD, INITIALIZE, KERNEL, "def results(c, A):\n    return [A[:2]]\n")
    workload = load_workload(path)
    assert workload.results(workload.arguments("S"))[0].tolist() == [0, 1]


def test_file_imports_its_neighbours(write, tmp_path):
    (tmp_path / "neighbour_of_work.py").write_text("FACTOR = 2.5\n")
    path = write("from neighbour_of_work import FACTOR\n", HEAD, INITIALIZE, KERNEL)
    before = list(sys.path)
    load_workload(path)
    assert sys.path == before


def _fails(path, match, func=None):
    with pytest.raises(WorkloadError, match=match) as caught:
        load_workload(path, func).arguments("S")
    assert "\n" not in str(caught.value)


def test_missing_file(tmp_path):
    _fails(tmp_path / "none.py", "there is no file")
    _fails(f"{tmp_path}/none.py:kernel", "there is no file .*none.py$")


def test_unreadable_file(tmp_path):
    _fails(tmp_path, "cannot read")
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    _fails(tmp_path / "binary.py", "no UTF-8")


def test_syntax_error_names_the_line(write):
    _fails(write(HEAD, "def kernel(:\n"), "line 3 is no valid Python: SyntaxError")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("raise ValueError('two\\nlines')\n", "ValueError: two lines"),
        ("import no_such_module\n", "ModuleNotFoundError"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
    ],
)
def test_file_that_raises(write, line, what):
    loaded = set(sys.modules)
    _fails(write(line), f"raised {what}")
    assert not {name for name in set(sys.modules) - loaded if "workload" in name}


def test_no_kernel(write):
    _fails(write(HEAD, INITIALIZE), "no kernel function")
    _fails(write(HEAD, INITIALIZE, "from os.path import join\n"), "no kernel function")


def test_unclear_kernel(write):
    several = "def one(A):\n    pass\ndef two(A):\n    pass\n"
    _fails(write(HEAD, INITIALIZE, several), "no function 'kernel' but one, two")


def test_no_such_function(write):
    _fails(write(HEAD, INITIALIZE, KERNEL), "has no function 'nothing'", func="nothing")


def test_no_initialize(write):
    _fails(write(HEAD, KERNEL), "no initialize function")


@pytest.mark.parametrize(
    ("head", "what"),
    [
        ("import numpy as np\n", "has no PARAMETERS"),
        ("PARAMETERS = {'S': 3}\n", "no dict of sizes"),
    ],
)
def test_bad_parameters(write, head, what):
    _fails(write(head, INITIALIZE, KERNEL), what)


def test_unknown_preset(write):
    workload = load_workload(write(HEAD, INITIALIZE, KERNEL))
    with pytest.raises(WorkloadError, match=r"work has no preset 'XL'; it has S, L"):
        workload.arguments("XL")


def test_argument_that_nobody_provides(write):
    _fails(write(HEAD, INITIALIZE, "def kernel(A, B):\n    pass\n"), "kernel's argument 'B'")


def test_tuple_that_does_not_fit(write):
    initialize = "def initialize(N):\n    return 1, 2, np.ones(N)\n"
    _fails(write(HEAD, initialize, KERNEL), "returns 3 values, kernel takes 2")


def test_initialize_that_raises(write):
    _fails(write(HEAD, "def initialize(N):\n    return 1 / 0\n", KERNEL), "ZeroDivisionError")
    _fails(write(HEAD, "def initialize(M):\n    return {}\n", KERNEL), "TypeError")
