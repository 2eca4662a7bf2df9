"""Children run OpenMP, whatever their parent has run and loaded before."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loopbook.toolchain.compiler import find_compiler

SOURCE = """\
extern "C" int counted(int n) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += 1;
    return sum;
}
"""

PROGRAM = """\
import ctypes, sys
{loaded}
from loopbook.toolchain.sandbox import run_limited
library = ctypes.CDLL(sys.argv[1])
assert library.counted(1000) == 1000  # threads are there
for _ in range(2):
    assert run_limited(library.counted, 2000, seconds=60, what="the child") == 2000
assert library.counted(3000) == 3000  # and again
"""


@pytest.mark.parametrize("loaded", ["", "import sklearn.neighbors", "import lightgbm"])
def test_a_child_of_a_process_with_threads_ends(loaded: str, tmp_path) -> None:
    """GNU's OpenMP beside LLVM's, loaded before it: the child waited for its parent's threads."""
    source, library = tmp_path / "counted.cpp", tmp_path / "counted.so"
    source.write_text(SOURCE)
    words = [find_compiler().path, "-fopenmp", "-shared", "-fPIC", "-o", library, source]
    subprocess.run(words, check=True)
    program = PROGRAM.format(loaded=loaded)
    done = subprocess.run(
        [sys.executable, "-c", program, library],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
