"""Measures many candidates of one program in turn with one reference, in one child process.

A child and a reference for each candidate cost more than a run of a millisecond does. Where a
candidate spoils the child, by a crash or by writing past its arrays, the candidates get a child
each, and only that one fails.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.errors import DeadlineError, LoopbookError, RunError, WrongResultError
from loopbook.toolchain.batch import Source
from loopbook.toolchain.run import LONG_RUN, RUN_BYTES, Binding, Guarded, Program, compare
from loopbook.toolchain.sandbox import run_limited
from loopbook.toolchain.timers import Timers
from loopbook.toolchain.times import Times, median_interval

HOPELESS = 4.0

SLOW_SHARE = 0.25
"""Of candidates measured together, how many are expected to need all the time that one may have."""


@dataclass(frozen=True)
class Rounds:
    """How often to run each candidate, and when to stop.

    Attributes:
        most: rounds at most.
        width: enough is known of a candidate when the confidence interval of its speedup is
            narrower than this share of it,
        lost: or when it is so many times slower than the reference in two runs, or `HOPELESS` times
            as much in one,
        seconds: or when it has run for so long.
    """

    most: int = 11
    width: float = 0.05
    lost: float = 2.0
    seconds: float = 0.3


@dataclass
class Reading:
    """What came of one candidate.

    Attributes:
        reference, times: of runs in turn; empty where there is an error.
    """

    reference: Times = field(default_factory=Times)
    times: Times = field(default_factory=Times)
    error: LoopbookError | None = None

    def known(self, rounds: Rounds) -> bool:
        """Whether further runs would tell nothing more."""
        before, after = self.reference.seconds, self.times.seconds
        if self.error is not None or sum(after) > rounds.seconds:
            return True
        lost = rounds.lost * (1.0 if len(after) > 1 else HOPELESS)
        if after and min(after) > lost * min(before):
            return True
        low, high = median_interval([a / b for a, b in zip(before, after, strict=True)])
        return high - low < rounds.width * low


class BatchRunner:
    """One program's arguments and right numbers.

    Args:
        binding: of the program.
        library: any library of it.
        expected: the right numbers.
    """

    def __init__(self, binding: Binding, library: Path, expected: Sequence[np.ndarray]) -> None:
        self._binding = binding
        self._expected = expected
        self._timers = Timers()  # before any library that calls them
        self._first: Any = binding.load([library])[0]

    def measure(
        self,
        library: Path,
        sources: Sequence[Source],
        *,
        rounds: Rounds,
        seconds: float,
    ) -> list[Reading]:
        """A reading for each of `sources` but the first one, which is the reference.

        Args:
            library: made of `sources` by `loopbook.toolchain.batch.compile_together`.
            seconds: limit for one candidate.
        """
        places = list(range(1, len(sources)))
        if len(places) > 1:
            with contextlib.suppress(RunError):
                limit = seconds * (1 + SLOW_SHARE * len(places))
                return self._limited(library, sources, places, rounds, limit)
        return [self._alone(library, sources, place, rounds, seconds) for place in places]

    def _alone(
        self, library: Path, sources: Sequence[Source], place: int, rounds: Rounds, seconds: float
    ) -> Reading:
        """One candidate in a child of its own; in another one if its time is up, which may be the
        fault of whatever else the machine does."""
        for _ in range(2):
            try:
                return self._limited(library, sources, [place], rounds, seconds)[0]
            except DeadlineError as error:
                failure: RunError = error
            except RunError as error:
                return Reading(error=error)
        return Reading(error=failure)

    def _limited(
        self,
        library: Path,
        sources: Sequence[Source],
        places: Sequence[int],
        rounds: Rounds,
        seconds: float,
    ) -> list[Reading]:
        return run_limited(
            self._in_fork,
            library,
            sources,
            places,
            rounds,
            seconds=seconds,
            memory=RUN_BYTES,
            what="the kernel",
        )

    def _in_fork(
        self, library: Path, sources: Sequence[Source], places: Sequence[int], rounds: Rounds
    ) -> list[Reading]:
        names = [source.name for source in sources]
        programs = self._binding.load_together(self._first, library, names)
        arguments = Guarded(self._binding.arguments)
        readings = {place: Reading() for place in places}

        def run(place: int, times: Times) -> tuple[Program, list[Any], Any]:
            values = arguments.fresh()
            returned = self._timed(programs[place], values, times, sources[place])
            return programs[place], values, returned

        warm = Times()
        for place in (0, *places):
            times = readings[place].times if place else warm
            numbers = self._binding.picked(*run(place, times))
            arguments.check()
            if not place:
                continue
            try:
                compare(numbers, self._expected)
            except WrongResultError as error:
                readings[place].error = error
            if times.seconds[0] > LONG_RUN:  # warming up does not matter to it
                readings[place].reference = warm.copy()
            else:
                readings[place].times = Times()
        for _ in range(rounds.most):
            due = [r for r in readings.items() if not r[1].known(rounds)]
            if not due:
                break
            reference = Times()
            run(0, reference)
            for place, reading in due:
                run(place, reading.times)
                reading.reference.extend(reference)
        return list(readings.values())

    def _timed(self, program: Program, values: list[Any], times: Times, source: Source) -> Any:
        self._timers.reset()
        begun = time.perf_counter()
        returned = program(*values)
        times.add(time.perf_counter() - begun, source.owners, self._timers.read())
        return returned
