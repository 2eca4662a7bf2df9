"""Measures candidate after candidate against the same reference.

A `Runner` lives in a process of its own (see `loopbook.toolchain.worker`): the reference libraries
are loaded once. Each candidate is loaded and run in a fork of that process, so whatever it does to
its memory is gone with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loopbook.toolchain.built import Built
from loopbook.toolchain.run import RUN_BYTES, Binding, Program
from loopbook.toolchain.sandbox import run_limited
from loopbook.toolchain.timers import Timers
from loopbook.toolchain.times import Schedule, Times


class Runner:
    """A program's arguments, right numbers and reference.

    Args:
        reference: its numbers are known to be right.
        expected: the right numbers.
    """

    def __init__(
        self, binding: Binding, reference: Built, expected: Sequence[np.ndarray] | None
    ) -> None:
        self._binding = binding
        self._reference = reference
        self._expected = expected
        self._timers: Timers | None = None
        self._loaded: Sequence[Program] = ()

    def measure(
        self, built: Built, schedule: Schedule, lost: float, seconds: float
    ) -> tuple[Times, Times]:
        """Times of the reference and of `built`, taken in turn, after a check of the numbers.

        Args:
            lost: stop when it is clear that the speedup over the reference is below this.
            seconds: limit for all of it.

        Raises:
            WrongResultError: the numbers differ from the expected ones.
            RunError: a run crashed, hung or took too much memory.
        """
        if self._timers is None:
            self._timers = Timers()
            self._loaded = self._binding.load([self._reference.library])
        return run_limited(
            self._in_fork,
            built,
            schedule,
            lost,
            seconds=seconds,
            memory=RUN_BYTES,
            what="the kernel",
        )

    def _in_fork(self, built: Built, schedule: Schedule, lost: float) -> tuple[Times, Times]:
        assert self._timers is not None
        loaded = self._binding.load_more(self._loaded[0], [built.library])
        reference, tuned = self._binding.in_turn(
            [*self._loaded, *loaded],
            [self._reference, built],
            self._timers,
            schedule,
            self._expected,
            trusted=1,
            lost=lost,
        )
        return reference, tuned
