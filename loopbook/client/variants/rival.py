"""The Python function beside what was compiled of it: NumPy may be faster, on small arrays or where
a library does all the work."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from loopbook.alarm import TooLong, limited
from loopbook.frontend.check import copied

ROUNDS = 3
"""Calls that both are timed in."""

PATIENCE = 2.0
"""Python is stopped when it takes so many times as long; that decides."""

FASTER = 0.95
"""Python is taken if it needs less than so much of the time."""

LONG = 2.0
"""Calls of more seconds are compared once."""

MOST_BYTES = 1 << 30
"""What it may change is not copied to find out if it is larger."""

LEAST = 1e-4
"""Seconds that Python gets in any case: an alarm takes its time as well."""

LONGER = 4.0
"""A call of Python that takes so many times as long as compiled code did has more to do than those
that were timed, with a greater number: they are timed anew. Each time that Python is the faster one
again, twice as much is taken for that."""


class Rival:
    """Times the first calls of compiled code, and Python on copies of their arguments.

    Args:
        func: the Python function; it changes nothing but its arguments.
        read_only: positions of arguments that it does not change either.
        say: is told that Python is the faster one, once.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        say: Callable[[str], None],
        read_only: frozenset[int] = frozenset(),
    ) -> None:
        self.func = func
        self._read_only = read_only
        self._say = say
        self._times: list[tuple[float, float]] = []
        self._longer = LONGER
        self._told = False

    def call(self, compiled: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, bool | None]:
        """Make a call, and have Python make it too.

        Returns:
            What compiled code gave, and whether Python is to be called from now on; None if that
            is not known yet.
        """
        changed = [v for place, v in enumerate(args) if place not in self._read_only]
        if sum(value.nbytes for value in changed if isinstance(value, np.ndarray)) > MOST_BYTES:
            return compiled(*args), False
        copies = iter(copied(changed))
        own = [v if n in self._read_only else next(copies) for n, v in enumerate(args)]
        begun = time.perf_counter()
        answer = compiled(*args)
        ours = time.perf_counter() - begun
        theirs = self._python(own, max(PATIENCE * ours, LEAST))
        if theirs is None:
            return answer, False
        self._times.append((ours, theirs))
        if ours < LONG and len(self._times) < ROUNDS:
            return answer, None
        return answer, self.python < FASTER * self.compiled

    def instead(self, anew: Callable[[], None]) -> Callable[..., Any]:
        """Say that Python is called from now on.

        Args:
            anew: called after a call that took so long that both are to be timed once more.

        Returns:
            What is called.
        """
        if not self._told:
            times = f"{_seconds(self.python)}, compiled {_seconds(self.compiled)}"
            self._say(f"it is faster here: {times}")
        self._told = True
        func, most = self.func, self._longer * max(self.compiled, LEAST)

        def python(*args: Any) -> Any:
            begun = time.perf_counter()
            answer = func(*args)
            if time.perf_counter() - begun > most:
                self._times.clear()
                self._longer *= 2
                anew()
            return answer

        return python

    @property
    def compiled(self) -> float:
        """Seconds of the fastest call of compiled code."""
        return min(ours for ours, _ in self._times)

    @property
    def python(self) -> float:
        """Seconds of the fastest call of Python."""
        return min(theirs for _, theirs in self._times)

    def _python(self, args: Sequence[Any], seconds: float) -> float | None:
        """How long Python takes; None if that is too long, or cannot be said."""
        try:
            with limited(seconds) as can, warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                if not can:
                    return None
                begun = time.perf_counter()
                self.func(*args)
                return time.perf_counter() - begun
        except (TooLong, Exception):
            return None


def _seconds(value: float) -> str:
    unit, name = next(((u, n) for u, n in ((1.0, "s"), (1e-3, "ms")) if value >= u), (1e-6, "us"))
    return f"{value / unit:.3g} {name}"
