"""The Python function beside what was compiled of it: NumPy may be faster, on small arrays or where
a library does all the work."""

from __future__ import annotations

import math
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
"""Python is stopped when it takes so many times as long. Twice, that decides: once, something else
may have run."""

FASTER = 0.95
"""Python is taken if it needs less than so much of the time."""

LOOK = 1e-6
"""Seconds of what is looked at before compiled code is called, and not before Python: overlap, what
is outside of the function, what was taken for granted. Measured."""

LONG = 2.0
"""Calls of more seconds are compared once."""

MOST_BYTES = 1 << 30
"""What it may change is not copied to find out if it is larger."""

LEAST = 1e-3
"""Seconds that Python gets in any case: an alarm, and the quiet around a call, take their time as
well."""

MORE = 12
"""Calls are timed so many times more, on copies: the first ones of microseconds say what a cold
cache costs, and those of milliseconds what it costs to get memory for a result, seven times as much
as all the rest where that is 4 MB (2026-11-27)."""

EXTRA = 0.02
"""Seconds that these and their copies may take for one call."""

SHORT = 1e-3
"""Where a call takes fewer seconds, Python is never stopped for good: something else may have run.
"""

MOST_SPARE = 1 << 23
"""Bytes of arguments that are copied for that."""

LONGER = 4.0
"""A call of Python that takes so many times as long as compiled code did has more to do than those
that were timed, with a greater number: they are timed anew. So they are after `IN_A_ROW` calls that
take so many times as long as Python did. Each time that Python is the faster one again, twice as
much is taken for that."""

IN_A_ROW = 3
"""One call may be long because something else ran meanwhile."""


class Rival:
    """Times the first calls of compiled code, and Python on copies of their arguments.

    Args:
        func: the Python function; it changes nothing but its arguments.
        say: is told that Python is the faster one, once.
        read_only: positions of arguments that it does not change either.
        take: is given what calls Python when that is the faster one, and None when both are to be
            timed anew.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        say: Callable[[str], None],
        read_only: frozenset[int] = frozenset(),
        take: Callable[[Callable[..., Any] | None], None] | None = None,
    ) -> None:
        self.func = func
        self._take = take or (lambda _: None)
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
        if _bytes(changed) > MOST_BYTES:
            return compiled(*args), False
        own = self._copies(args)
        spare = self._copies(args) if _bytes(changed) <= MOST_SPARE else None
        begun = time.perf_counter()
        answer = compiled(*args)
        ours = time.perf_counter() - begun
        patience = max(PATIENCE * ours, LEAST)
        theirs = self._python(own, patience)
        if theirs == math.inf and ours > SHORT and spare is not None:
            theirs = self._python(self._copies(spare), patience)
            if theirs == math.inf:
                return answer, False
        if theirs is None or (theirs == math.inf and ours > SHORT and self._once_too_long(ours)):
            return answer, False
        if spare is not None:
            ours, theirs = self._again(compiled, spare, ours, theirs)
        self._times.append((ours, theirs))
        if ours < LONG and len(self._times) < ROUNDS:
            return answer, None
        return answer, self.python < FASTER * self.compiled

    def _once_too_long(self, ours: float) -> bool:
        """Whether Python has been stopped before, or a call is too long to see that again."""
        return ours >= LONG or any(theirs == math.inf for _, theirs in self._times)

    def _copies(self, args: Sequence[Any]) -> list[Any]:
        """Arguments that either may be called with, so that these stay as they are."""
        copies = iter(copied([v for n, v in enumerate(args) if n not in self._read_only]))
        return [v if n in self._read_only else next(copies) for n, v in enumerate(args)]

    def _again(
        self, compiled: Callable[..., Any], args: Sequence[Any], ours: float, theirs: float
    ) -> tuple[float, float]:
        """The least that a call takes either, after a few more of them, if these are not too long.

        Args:
            ours, theirs: what the first call took.
        """
        spent = 0.0
        for _ in range(MORE):
            if spent + ours + theirs > EXTRA:
                break
            copying = time.perf_counter()
            own, others = self._copies(args), self._copies(args)
            begun = time.perf_counter()
            compiled(*own)
            one = time.perf_counter() - begun
            patience = max(PATIENCE * one, SHORT)
            other = self._python(others, patience)
            if other is None:
                break
            spent += begun - copying + one + min(other, patience)
            ours, theirs = min(ours, one), min(theirs, other)
        return ours, theirs

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
        func, clock = self.func, time.perf_counter
        most, more = self._longer * max(self.compiled, LEAST), self._longer * self.python
        long = 0

        def python(*args: Any) -> Any:
            nonlocal long
            begun = clock()
            answer = func(*args)
            taken = clock() - begun
            if taken > more:
                long += 1
                if long >= IN_A_ROW or taken > most:
                    self._times.clear()
                    self._longer *= 2
                    self._take(None)
                    anew()
            else:
                long = 0
            return answer

        self._take(python)

        return python

    @property
    def compiled(self) -> float:
        """Seconds of the fastest call of compiled code, with what is looked at before it."""
        return min(ours for ours, _ in self._times) + LOOK

    @property
    def python(self) -> float:
        """Seconds of the fastest call of Python."""
        return min(theirs for _, theirs in self._times)

    def _python(self, args: Sequence[Any], seconds: float) -> float | None:
        """How long Python takes; infinity if that is too long, None if it cannot be said."""
        try:
            with limited(seconds) as can, warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                if not can:
                    return None
                begun = time.perf_counter()
                self.func(*args)
                return time.perf_counter() - begun
        except TooLong:
            return math.inf
        except Exception:
            return None


def _bytes(values: Sequence[Any]) -> int:
    """How much the arrays among them hold."""
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


def _seconds(value: float) -> str:
    unit, name = next(((u, n) for u, n in ((1.0, "s"), (1e-3, "ms")) if value >= u), (1e-6, "us"))
    return f"{value / unit:.3g} {name}"
