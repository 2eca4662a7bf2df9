"""Times of programs that differ in more than their code, run in turn: Python among them.

`loopbook.toolchain.run.Binding.measure` is for libraries of one program. Here each has arguments of
its own: loops have temporaries among theirs, and the Python function has neither library nor SDFG.
"""

from __future__ import annotations

import copy
import math
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loopbook.toolchain.run import LONG_RUN, RUN_BYTES, RUN_SECONDS, Guarded
from loopbook.toolchain.sandbox import run_limited
from loopbook.toolchain.timers import Timers
from loopbook.toolchain.times import Schedule


@dataclass(frozen=True)
class Runnable:
    """Something to time.

    Attributes:
        load: gives what is called, in the child.
        arguments: copies of them are what it is called with.
        limit: of one run, seconds; it is given up where Python has a say after that.
    """

    load: Callable[[], Callable[..., Any]]
    arguments: Sequence[Any]
    limit: float = math.inf


@dataclass
class Timed:
    """What came of it.

    Attributes:
        seconds: of its runs; empty where there is an error.
        error: one line.
    """

    seconds: list[float] = field(default_factory=list)
    error: str = ""

    @property
    def fastest(self) -> float | None:
        return min(self.seconds, default=None)


def in_turn(
    runnables: Sequence[Runnable],
    schedule: Schedule,
    *,
    seconds: float = RUN_SECONDS,
) -> list[Timed]:
    """Run all in turn, in one child process. First runs are not timed, unless they are long.

    Args:
        schedule: rounds, and how long one may be run in all.
        seconds: limit for all of it.

    Raises:
        RunError: a library crashed or hung, or memory was too little.
    """
    return run_limited(
        _in_turn, list(runnables), schedule, seconds=seconds, memory=RUN_BYTES, what="the kernel"
    )


class _Late(BaseException):
    pass


def _in_turn(runnables: list[Runnable], schedule: Schedule) -> list[Timed]:
    _ = Timers()  # before any library that calls them
    arguments = [Guarded(one.arguments) for one in runnables]
    programs = [one.load() for one in runnables]
    timed = [Timed() for _ in runnables]
    spent = [0.0] * len(runnables)

    def run(place: int, keep_from: float) -> None:
        one, values = timed[place], [_own(value) for value in arguments[place].fresh()]
        try:
            with _limited(runnables[place].limit):
                begun = time.perf_counter()
                programs[place](*values)
                taken = time.perf_counter() - begun
        except _Late:
            one.error = f"takes more than {runnables[place].limit:g} s"
        except Exception as error:
            one.error = " ".join(f"raises {type(error).__name__}: {error}".split())[:200]
        else:
            if taken >= keep_from:
                one.seconds.append(taken)
                spent[place] += taken

    def due(place: int) -> bool:
        one = timed[place]
        little = len(one.seconds) < schedule.at_least or spent[place] < schedule.seconds
        return little and not one.error

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in range(len(runnables)):
            run(place, LONG_RUN)
        for _ in range(schedule.repeats):
            waiting = [place for place in range(len(runnables)) if due(place)]
            for place in waiting:
                run(place, 0.0)
            if not waiting:
                break
    return [Timed([], one.error) if one.error else one for one in timed]


def _own(value: Any) -> Any:
    """Arrays are copies already."""
    return value if isinstance(value, np.ndarray) else copy.deepcopy(value)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End what takes longer, as soon as Python has a say."""
    if math.isinf(seconds):
        yield
        return

    def stop(*_: Any) -> None:
        raise _Late

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
