"""docc's own schedules, and what loopbook makes of them with its book."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import loopbook
from benchmarks.systems.base import Runner
from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_baseline
from loopbook.targets import for_threads
from loopbook.workloads.workload import Workload


def target(threads: int) -> str:
    """docc's CPU target for so many threads."""
    return for_threads(threads).name


class Docc:
    """docc as ``@native(target=…)`` compiles.

    Args:
        fixed: the target for any number of threads; default the one for it.
    """

    def __init__(self, name: str, fixed: str | None = None) -> None:
        self.name = name
        self._fixed = fixed

    def compile(
        self, kernel: str, workload: Workload, arguments: list[Any], threads: int
    ) -> Runner:
        text = frontend.trace(workload.kernel, arguments)
        folder = Path(tempfile.mkdtemp(prefix="loopbook-"))
        built = build_baseline(text, self._fixed or target(threads), folder)
        return _runner(workload, arguments, built.library)


class Loopbook:
    """``@loopbook.native``: what the book says for these sizes. Nothing is measured but whether
    several threads are faster than one, in the first call.

    The user's book is the one that ``LOOPBOOK_BOOK`` names, over the starter book.
    """

    name = "loopbook"

    def compile(
        self, kernel: str, workload: Workload, arguments: list[Any], threads: int
    ) -> Runner:
        program = loopbook.native(workload.kernel, target=target(threads), strict=True)
        program.compile(*arguments)
        return lambda values: program(*values)


def _runner(workload: Workload, arguments: list[Any], library: Path) -> Runner:
    program = frontend.bind(workload.kernel, arguments, library)

    def run(values: list[Any]) -> Any:
        returned = program(*values)
        return returned if program.output_args else None  # an undefined number otherwise

    return run


DOCC = Docc("docc")
REFERENCE = Docc("reference", "none")
LOOPBOOK = Loopbook()
