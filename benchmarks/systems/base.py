"""What a system must offer to take part in the comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from loopbook.workloads.workload import Workload

Runner = Callable[[list[Any]], Any]
"""Runs a compiled kernel on arguments in the order of the Python kernel's signature. Results are
left in the argument arrays; where the kernel returns something, that is returned."""


class Unsupported(Exception):
    """The system cannot take this kernel; the message says why, in one line."""


class System(Protocol):
    """One system, as the module-level object ``SYSTEM`` (or several) of its module.

    A system lives in a worker process of its own, whose environment limits its threads
    (``OMP_NUM_THREADS`` and the like) before anything is imported, so modules may import what they
    need at the top.
    """

    @property
    def name(self) -> str:
        """As in the table's head: ``numba``."""
        ...

    def compile(
        self, kernel: str, workload: Workload, arguments: list[Any], threads: int
    ) -> Runner:
        """Do everything that need not be done again at each run.

        Args:
            kernel: PolyBench's name, ``jacobi-2d``.
            workload: the same kernel as plain Python.
            arguments: copies for this call alone: types and shapes to compile for, and values to
                warm up with.
            threads: how many the runs may use.

        Raises:
            Unsupported: the system cannot take this kernel, or cannot use so many threads.
        """
        ...
