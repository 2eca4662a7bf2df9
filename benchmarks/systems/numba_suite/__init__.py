"""PolyBench in Numba: plain loops, ``njit(fastmath=True, parallel=True)``, nothing cached.

The loops are those that a careful user writes: unit stride innermost, sums in scalars, `prange`
outermost where its iterations are independent and worth a team of threads. One thread gets the same
loops without ``parallel``, which would only cost it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba  # pyright: ignore[reportMissingImports]

from benchmarks.systems.base import Runner, Unsupported
from benchmarks.systems.numba_suite import algebra, rest
from loopbook.workloads.workload import Workload

KERNELS: dict[str, Callable[..., None]] = {**algebra.KERNELS, **rest.KERNELS}


class NumbaSystem:
    """Numba's just-in-time compiler."""

    name = "numba"

    def compile(
        self, kernel: str, workload: Workload, arguments: list[Any], threads: int
    ) -> Runner:
        """The kernel compiled for the types of `arguments`.

        Raises:
            Unsupported: there is no Numba version of this kernel, or Numba was started with fewer
                threads (``NUMBA_NUM_THREADS``).
        """
        if kernel not in KERNELS:
            raise Unsupported(f"no Numba version of {kernel}")
        if threads > 1:
            try:
                numba.set_num_threads(threads)
            except ValueError as error:
                raise Unsupported(f"Numba was started with fewer threads: {error}") from error
        function = KERNELS[kernel]
        # Numba warns about parallel=True on a function without a parallel loop.
        parallel = threads > 1 and "prange" in function.__code__.co_names
        # Python's check for division by zero keeps a loop from being vectorised.
        compiled = numba.njit(fastmath=True, parallel=parallel, error_model="numpy")(function)
        compiled.compile(tuple(map(numba.typeof, arguments)))
        return lambda values: compiled(*values)


SYSTEM = NumbaSystem()
