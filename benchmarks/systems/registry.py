"""Which systems there are, where they live, and which Python runs them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache

OTHER_PYTHON = "LOOPBOOK_PEERS_PYTHON"
"""Names a Python interpreter for systems that this one has not installed (DaCe wants an older NumPy
than others do). It needs NumPy and SciPy besides the systems."""

PEERS = "pip install 'loopbook[peers]'"


@dataclass(frozen=True)
class Entry:
    """One system.

    Attributes:
        name: in tables and on the command line.
        title: in prose.
        module: which has it.
        attribute: as which.
        requires: the package that it needs; none that loopbook does not need itself if empty.
    """

    name: str
    title: str
    module: str
    attribute: str = "SYSTEM"
    requires: str = ""

    def python(self) -> str | None:
        """The interpreter to run it with; None if it is not installed."""
        if not self.requires or importlib.util.find_spec(self.requires):
            return sys.executable
        other = os.environ.get(OTHER_PYTHON)
        return other if other and _has(other, self.requires) else None


@lru_cache
def _has(python: str, package: str) -> bool:
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"
    try:
        return not subprocess.run([python, "-c", code], capture_output=True).returncode
    except OSError:
        return False


BASELINE = "docc"
OURS = "loopbook"

REFERENCE = Entry("reference", "docc none", "benchmarks.systems.docc_suite", "REFERENCE")
"""docc without any schedule: its numbers are the right ones."""

SYSTEMS = {
    entry.name: entry
    for entry in (
        Entry("docc", "docc's own schedule", "benchmarks.systems.docc_suite", "DOCC"),
        Entry("numpy", "NumPy", "benchmarks.systems.numpy_suite"),
        Entry("numba", "Numba", "benchmarks.systems.numba_suite", requires="numba"),
        Entry("dace", "DaCe", "benchmarks.systems.dace_suite", requires="dace"),
        Entry("clang", "clang -O3", "benchmarks.systems.c_suite", "CLANG"),
        Entry("polly", "clang -O3 with Polly", "benchmarks.systems.c_suite", "WITH_POLLY"),
        Entry("loopbook", "loopbook", "benchmarks.systems.docc_suite", "LOOPBOOK"),
    )
}
