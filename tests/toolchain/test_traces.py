"""docc's exceptions start no process for each frame of their stack trace."""

from __future__ import annotations

import os
import subprocess
import sys

PROVOKE = """
import os
import loopbook.sdfg
from loopbook.toolchain.compiler import activate
from docc.sdfg import StructuredSDFG
activate()
before = os.times()
try:
    StructuredSDFG.parse("{}")
except RuntimeError:
    after = os.times()
    print(sum(after[2:4]) - sum(before[2:4]))
"""


def seconds_in_children(folder: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", PROVOKE],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": folder},
        timeout=600,
        check=True,
    )
    return float(done.stdout)


def test_after_the_first_process_traces_are_cheap(tmp_path):
    seconds_in_children(str(tmp_path))  # makes the library
    assert len([*tmp_path.glob("loopbook-kept-*/traces-*.so")]) == 1
    assert seconds_in_children(str(tmp_path)) == 0.0


def test_a_library_that_is_no_library_is_left_alone(tmp_path):
    seconds_in_children(str(tmp_path))
    (library,) = tmp_path.glob("loopbook-kept-*/traces-*.so")
    library.write_text("no library")
    seconds_in_children(str(tmp_path))
    assert library.read_text() == "no library"
