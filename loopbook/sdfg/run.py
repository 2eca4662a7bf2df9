"""Runs compiled programs: numbers, and times taken in turn.

Everything happens in a forked child with limits. Arrays are handed over inside guard zones, so that
a program that writes past its arrays is caught even where the numbers still come out right.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from docc.compiler.compiled_sdfg import CompiledSDFG

from loopbook.errors import WrongResultError
from loopbook.sdfg import frontend
from loopbook.sdfg.build import Built
from loopbook.sdfg.sandbox import run_limited
from loopbook.sdfg.timers import Timers

RUN_SECONDS = 120.0
RUN_BYTES = 12 << 30
LONG_RUN = 0.25
"""Runs of more seconds than this are timed from the first one on."""

GUARD_BYTES = 4096
GUARD_VALUE = 0xA5

TOLERANCE = {"f4": 2e-3, "f8": 1e-6}
"""How far results may differ, relative to the largest magnitude in the array: docc allows the
compiler to reorder sums (``-fassociative-math``), and every recipe does so in its own way."""


class Program(Protocol):
    """A loaded library; `output_args` names the results that a call returns."""

    output_args: Any

    def __call__(self, *values: Any) -> Any: ...


@dataclass(frozen=True)
class Times:
    """What one library took, run by run.

    Attributes:
        seconds: whole program, one entry for each run.
        nests: nest position to seconds, one entry for each run (with timers only).
    """

    seconds: list[float] = field(default_factory=list)
    nests: dict[int, list[float]] = field(default_factory=dict)

    def add(self, seconds: float, owners: Mapping[int, int], elements: Mapping[int, float]) -> None:
        """Add one run: its time, and that of each outermost loop by element id."""
        self.seconds.append(seconds)
        sums: dict[int, float] = {}
        for element, part in elements.items():
            if element in owners:
                sums[owners[element]] = sums.get(owners[element], 0.0) + part
        for position, total in sums.items():
            self.nests.setdefault(position, []).append(total)


@dataclass(frozen=True)
class Schedule:
    """How often and how long to measure.

    Attributes:
        repeats: rounds at most; in each, every library runs once.
        seconds: no new round begins after this time.
        at_least: rounds that are run even when the time is over.
        give_up: stop as soon as the last library takes more than this many times the first one's
            fastest run; 0 never stops early.
    """

    repeats: int = 7
    seconds: float = 2.0
    at_least: int = 2
    give_up: float = 0.0


class Binding:
    """A program and its arguments, ready to be run from any library built for it.

    Args:
        bind: loads a library as a callable (in the child: a library is foreign code).
        args: what it is called with.
        results: picks what must be right from the arguments after a run; all arrays if None.
    """

    def __init__(
        self,
        bind: Callable[[Path], Program],
        args: Sequence[Any],
        results: Callable[[list[Any]], list[np.ndarray]] | None = None,
    ) -> None:
        self._bind = bind
        self._args = list(args)
        self._pick = results or _all_arrays

    @classmethod
    def of_function(
        cls,
        func: Callable[..., Any],
        args: Sequence[Any],
        results: Callable[[list[Any]], list[np.ndarray]] | None = None,
    ) -> Binding:
        """For libraries built from the SDFG of ``func(*args)``."""
        return cls(partial(frontend.bind, func, args), args, results)

    def results(
        self, library: Path, *, seconds: float = RUN_SECONDS, memory: int = RUN_BYTES
    ) -> list[np.ndarray]:
        """All array arguments after one run, then what the function returned.

        Raises:
            RunError: the run crashed, hung, took too much memory or wrote past its arrays.
        """
        return run_limited(
            self._results, library, seconds=seconds, memory=memory, what="the kernel"
        )

    def measure(
        self,
        builts: Sequence[Built],
        schedule: Schedule,
        expected: Sequence[np.ndarray] | None = None,
        *,
        seconds: float = RUN_SECONDS,
        memory: int = RUN_BYTES,
    ) -> list[Times]:
        """Run libraries in turn and time them, after one run of each to check its numbers.

        That first run is not timed, unless runs are so long that warming up cannot matter.

        Args:
            expected: what `results` gave for the unoptimised program; None checks no numbers.

        Raises:
            WrongResultError: a library's numbers differ from `expected`.
            RunError: a run crashed, hung or took too much memory.
        """
        return run_limited(
            self._measure,
            list(builts),
            schedule,
            expected,
            seconds=seconds,
            memory=memory,
            what="the kernel",
        )

    # -- in the child ---------------------------------------------------------------------------

    def _load(self, libraries: Sequence[Path]) -> Sequence[Program]:
        """Callables for libraries that differ only in their code."""
        first = self._bind(libraries[0])
        if not isinstance(first, CompiledSDFG):
            return [first, *map(self._bind, libraries[1:])]
        return [first] + [
            CompiledSDFG(
                str(library),
                first.sdfg,
                first.shape_sources,
                first.structure_member_info,
                first.output_args,
                first.output_shapes,
                first.output_strides,
            )
            for library in libraries[1:]
        ]

    def _outputs(self, program: Program, returned: Any) -> list[np.ndarray]:
        """What the function itself returned; nothing for one that only changes its arguments."""
        if not program.output_args:  # docc gives back an undefined number then
            return []
        values = returned if isinstance(returned, tuple | list) else [returned]
        return [np.array(value) for value in values]

    def _results(self, library: Path) -> list[np.ndarray]:
        Timers()  # docc's own would want PAPI, or end the process
        arguments = _Guarded(self._args)
        values = arguments.fresh()
        program = self._load([library])[0]
        returned = program(*values)
        arguments.check()
        return [a.copy() for a in self._pick(values)] + self._outputs(program, returned)

    def _measure(
        self,
        builts: list[Built],
        schedule: Schedule,
        expected: Sequence[np.ndarray] | None,
    ) -> list[Times]:
        timers = Timers()
        arguments = _Guarded(self._args)
        programs = self._load([built.library for built in builts])
        times = [Times() for _ in builts]
        firsts = []
        for program in programs:
            values = arguments.fresh()
            timers.reset()
            begun = time.perf_counter()
            returned = program(*values)
            firsts.append((time.perf_counter() - begun, timers.read()))
            arguments.check()
            if expected is not None:
                compare(self._pick(values) + self._outputs(program, returned), expected)
        if schedule.repeats and min(seconds for seconds, _ in firsts) > LONG_RUN:
            for built, taken, (seconds, elements) in zip(builts, times, firsts, strict=True):
                taken.add(seconds, built.owners, elements)
        started = time.perf_counter()
        for turn in range(schedule.repeats):
            if turn >= schedule.at_least and time.perf_counter() - started > schedule.seconds:
                break
            for built, program, taken in zip(builts, programs, times, strict=True):
                values = arguments.fresh()
                timers.reset()
                begun = time.perf_counter()
                program(*values)
                taken.add(time.perf_counter() - begun, built.owners, timers.read())
            first, last = min(times[0].seconds), min(times[-1].seconds)
            if schedule.give_up and last > schedule.give_up * first:
                break
        return times


class _Guarded:
    """Copies of the arguments, each array between two guard zones."""

    def __init__(self, args: Sequence[Any]) -> None:
        self._args = list(args)
        self._buffers: list[np.ndarray] = []
        self.arrays: list[np.ndarray] = []
        for value in self._args:
            if isinstance(value, np.ndarray):
                self._make(value)

    def _make(self, value: np.ndarray) -> None:
        order = "C" if value.flags["C_CONTIGUOUS"] else "F"
        buffer = np.full(value.nbytes + 2 * GUARD_BYTES + 64, GUARD_VALUE, np.uint8)
        start = GUARD_BYTES - buffer.ctypes.data % 64
        middle = buffer[start : start + value.nbytes]
        self._buffers.append(buffer)
        self.arrays.append(middle.view(value.dtype).reshape(value.shape, order=order))

    def fresh(self) -> list[Any]:
        """The arguments with their first values."""
        arrays = iter(self.arrays)
        values = []
        for value in self._args:
            if isinstance(value, np.ndarray):
                array = next(arrays)
                np.copyto(array, value)
                values.append(array)
            else:
                values.append(value)
        return values

    def check(self) -> None:
        """Raise `WrongResultError` if a guard zone has been written to."""
        for buffer, array in zip(self._buffers, self.arrays, strict=True):
            start = array.ctypes.data - buffer.ctypes.data
            before, after = buffer[:start], buffer[start + array.nbytes :]
            if (before != GUARD_VALUE).any() or (after != GUARD_VALUE).any():
                raise WrongResultError("the program writes past the end of an array")


def _all_arrays(values: list[Any]) -> list[np.ndarray]:
    return [value for value in values if isinstance(value, np.ndarray)]


def compare(results: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    """Raise `WrongResultError` where `results` are not `expected` within `TOLERANCE`.

    Infinities and NaNs must stand in the same places.
    """
    if len(results) != len(expected):
        raise WrongResultError(f"{len(results)} results instead of {len(expected)}")
    for number, (got, want) in enumerate(zip(results, expected, strict=True)):
        if got.shape != want.shape:
            raise WrongResultError(f"result {number} has shape {got.shape}, not {want.shape}")
        if got.dtype.kind not in "fc":
            if not np.array_equal(got, want):
                raise WrongResultError(f"result {number} differs from the unoptimised program's")
            continue
        finite = np.isfinite(want)
        if not np.array_equal(finite, np.isfinite(got)):
            raise WrongResultError(f"result {number} is not finite where it should be, or reversed")
        if not finite.any():
            continue
        scale = float(np.abs(want[finite]).max())
        worst = float(np.abs(got[finite] - want[finite]).max())
        limit = TOLERANCE.get(want.dtype.str[1:], 1e-6) * scale
        if worst > limit:
            raise WrongResultError(f"result {number} is off by {worst:.3g}, more than {limit:.3g}")
