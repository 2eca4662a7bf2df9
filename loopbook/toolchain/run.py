"""Runs compiled programs: numbers, and times taken in turn.

Everything happens in a forked child with limits. Arrays are handed over inside guard zones, so that
a program that writes past its arrays is caught even where the numbers still come out right.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from loopbook.errors import WrongResultError
from loopbook.toolchain.built import Built
from loopbook.toolchain.sandbox import run_limited
from loopbook.toolchain.timers import Timers
from loopbook.toolchain.times import Schedule, Times

RUN_SECONDS = 120.0
RUN_BYTES = 12 << 30
LONG_RUN = 0.1
"""Libraries that run for more seconds than this are timed from their first run on: warming up does
not matter to them."""

GUARD_BYTES = 4096
GUARD_VALUE = 0xA5

TOLERANCE = {"f4": 2e-3, "f8": 1e-6}
"""How far results may differ, relative to the largest magnitude in the array: docc allows the
compiler to reorder sums (``-fassociative-math``), and every recipe does so in its own way."""

ROUNDING = 8.0
"""Units in the last place that numbers which cancel may leave."""


class Program(Protocol):
    """A loaded library; `output_args` names the results that a call returns."""

    output_args: Any

    def __call__(self, *values: Any) -> Any: ...


Results = Callable[[list[Any]], list[np.ndarray]] | None
Functions = Callable[[Any, Path, Sequence[str]], Sequence[Program]]


class Binding:
    """A program and its arguments, ready to be run from any library built for it.

    Args:
        bind: loads a library as a callable (in the child: a library is foreign code).
        args: what it is called with.
        results: picks what must be right from the arguments after a run; all arrays if None.
        functions: loads the functions of another library like one that is loaded, from the names of
            its sources (`loopbook.toolchain.batch`); without it, `bind` loads all, one from each.
    """

    def __init__(
        self,
        bind: Callable[[Path], Program],
        args: Sequence[Any],
        results: Results = None,
        functions: Functions | None = None,
    ) -> None:
        self._bind = bind
        self._functions = functions
        self._args = list(args)
        self._pick = results or _all_arrays

    def results(self, library: Path, *, seconds: float = RUN_SECONDS) -> list[np.ndarray]:
        """All array arguments after one run, then what the function returned.

        Raises:
            RunError: the run crashed, hung, took too much memory or wrote past its arrays.
        """
        return run_limited(
            self._results, library, seconds=seconds, memory=RUN_BYTES, what="the kernel"
        )

    def run_once(
        self, built: Built, *, seconds: float = RUN_SECONDS
    ) -> tuple[list[np.ndarray], Times]:
        """`results` of a library, and how long that one run took.

        Raises:
            RunError: the run crashed, hung, took too much memory or wrote past its arrays.
        """
        return run_limited(
            self._run_once, built, seconds=seconds, memory=RUN_BYTES, what="the kernel"
        )

    def measure(
        self,
        builts: Sequence[Built],
        schedule: Schedule,
        expected: Sequence[np.ndarray] | None = None,
        *,
        tolerant: bool = False,
        seconds: float = RUN_SECONDS,
    ) -> list[Times]:
        """Run libraries in turn and time them, after one run of each to check its numbers.

        That first run is not timed, unless it is so long that warming up cannot matter.

        Args:
            expected: what `results` gave for the unoptimised program; None checks no numbers.
            tolerant: see `in_turn`.

        Raises:
            WrongResultError: a library's numbers differ from `expected`.
            RunError: a run crashed, hung or took too much memory.
        """
        return run_limited(
            self._measure,
            list(builts),
            schedule,
            expected,
            tolerant,
            seconds=seconds,
            memory=RUN_BYTES,
            what="the kernel",
        )

    # -- in a child ---------------------------------------------------------------------------

    def load(self, libraries: Sequence[Path]) -> Sequence[Program]:
        """Load libraries that differ only in their code into this very process."""
        first = self._bind(libraries[0])
        return [first, *self.load_more(first, libraries[1:])]

    def load_more(self, first: Program, libraries: Sequence[Path]) -> Sequence[Program]:
        """Load more libraries like one that is loaded."""
        if self._functions is None:
            return [*map(self._bind, libraries)]
        return [self._functions(first, library, [""])[0] for library in libraries]

    def load_together(
        self, first: Program, library: Path, names: Sequence[str]
    ) -> Sequence[Program]:
        """The functions of a library of `loopbook.toolchain.batch.compile_together`."""
        assert self._functions is not None
        return self._functions(first, library, names)

    @property
    def arguments(self) -> list[Any]:
        """What a library is called with."""
        return self._args

    def picked(self, program: Program, values: list[Any], returned: Any) -> list[np.ndarray]:
        """What must be right after a run with these values, as in `results`."""
        return self._pick(values) + self._outputs(program, returned)

    def _outputs(self, program: Program, returned: Any) -> list[np.ndarray]:
        """What the function itself returned; nothing for one that only changes its arguments."""
        # Without, docc gives back an undefined number.
        return returned_arrays(returned) if program.output_args else []

    def _results(self, library: Path) -> list[np.ndarray]:
        return self._run_once(Built(library, "", {}, {}))[0]

    def _run_once(self, built: Built) -> tuple[list[np.ndarray], Times]:
        timers = Timers()  # docc's own would want PAPI, or end the process
        arguments = Guarded(self._args)
        values = arguments.fresh()
        program = self.load([built.library])[0]
        timers.reset()
        begun = time.perf_counter()
        returned = program(*values)
        times = Times()
        times.add(time.perf_counter() - begun, built.owners, timers.read())
        arguments.check()
        return [a.copy() for a in self._pick(values)] + self._outputs(program, returned), times

    def _measure(
        self,
        builts: list[Built],
        schedule: Schedule,
        expected: Sequence[np.ndarray] | None,
        tolerant: bool,
    ) -> list[Times]:
        timers = Timers()
        programs = self.load([built.library for built in builts])
        return self.in_turn(programs, builts, timers, schedule, expected, tolerant=tolerant)

    def in_turn(
        self,
        programs: Sequence[Program],
        builts: Sequence[Built],
        timers: Timers,
        schedule: Schedule,
        expected: Sequence[np.ndarray] | None,
        *,
        trusted: int = 0,
        lost: float = 0.0,
        tolerant: bool = False,
    ) -> list[Times]:
        """Run loaded libraries in turn, in this very process (see `measure`).

        Args:
            trusted: so many of the libraries, from the first on, need no check of their numbers.
            lost: see `Schedule.enough`.
            tolerant: leave libraries with wrong numbers out, with no times, instead of raising.
        """
        arguments = Guarded(self._args)
        times = [Times() for _ in builts]
        spent = [0.0] * len(builts)
        wrong: set[int] = set()

        def run(place: int) -> tuple[float, list[Any], Any]:
            values = arguments.fresh()
            timers.reset()
            begun = time.perf_counter()
            returned = programs[place](*values)
            return time.perf_counter() - begun, values, returned

        def keep(place: int, seconds: float) -> None:
            times[place].add(seconds, builts[place].owners, timers.read())
            spent[place] += seconds

        for place in range(len(builts)):
            seconds, values, returned = run(place)
            arguments.check()
            if place >= trusted and expected is not None:
                try:
                    compare(self.picked(programs[place], values, returned), expected)
                except WrongResultError:
                    if not tolerant:
                        raise
                    wrong.add(place)
                    continue
            if schedule.repeats and seconds > LONG_RUN:
                keep(place, seconds)
        for _ in range(schedule.repeats):
            due = [
                place
                for place, taken in enumerate(times)
                if place not in wrong
                and (len(taken.seconds) < schedule.at_least or spent[place] < schedule.seconds)
            ]
            for place in due:
                keep(place, run(place)[0])
            if not due or (not wrong and schedule.enough(times, lost)):
                break
        return times


class Guarded:
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


def compare(
    results: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    whose: str = "the unoptimised program's",
) -> None:
    """Raise `WrongResultError` where `results` are not `expected` within `TOLERANCE`.

    Infinities and NaNs must stand in the same places. Integers must be equal. Where all is 0, it is
    so because numbers cancel, and may be what rounding the largest of the others leaves of it.

    Args:
        whose: numbers are expected, for the message.
    """
    single = any(want.dtype in (np.float32, np.complex64) for want in expected)
    if len(results) != len(expected):
        raise WrongResultError(f"{len(results)} results instead of {len(expected)}")
    for number, (got, want) in enumerate(zip(results, expected, strict=True)):
        if got.shape != want.shape:
            raise WrongResultError(f"result {number} has shape {got.shape}, not {want.shape}")
        if got.dtype.kind not in "fc":
            if not np.array_equal(got, want):
                raise WrongResultError(f"result {number} differs from {whose}")
            continue
        finite = np.isfinite(want)
        if not np.array_equal(want[~finite], got[~finite], equal_nan=True) or not np.array_equal(
            finite, np.isfinite(got)
        ):
            raise WrongResultError(f"result {number} is not finite where it should be, or reversed")
        if not finite.any():
            continue
        scale = float(np.abs(want[finite]).max())
        worst = float(np.abs(got[finite] - want[finite]).max())
        limit = TOLERANCE["f4" if single else "f8"] * scale
        if not scale:
            limit = (
                ROUNDING * float(np.finfo(np.float32 if single else float).eps) * _most(expected)
            )
        if worst > limit:
            raise WrongResultError(f"result {number} is off by {worst:.3g}, more than {limit:.3g}")


def _most(expected: Sequence[np.ndarray]) -> float:
    """The largest magnitude of all that is finite."""
    floats = [want[np.isfinite(want)] for want in expected if want.dtype.kind in "fc"]
    return max((float(np.abs(some).max()) for some in floats if some.size), default=0.0)


def returned_arrays(returned: Any) -> list[np.ndarray]:
    """What a function returned, as arrays in order; none for None."""
    if returned is None:
        return []
    values: Sequence[Any] = returned if isinstance(returned, tuple | list) else [returned]
    return [np.array(value) for value in values]
