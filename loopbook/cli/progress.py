"""What a command that takes long is doing, and how long it will take: always on stderr.

On a terminal that is a bar. Anywhere else, such as in a pipe or a log, it is a line within a
second, then one every few seconds if something has changed, and else ever more seldom.
What comes out of the command is no part of it: `Progress.tell` prints that on stdout.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from loopbook.cli import style
from loopbook.errors import LoopbookError
from loopbook.printable import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

BEAT = 0.1
"""Seconds between two looks at whether a line is due, or a bar is to be moved."""

CHANGED, SAME, SELDOM = 3.0, 10.0, 60.0
"""Seconds from line to line where the stage or its count changed; where nothing did, at first; and
at most."""

SOON = 0.15
"""Seconds without a line: most mistakes are found by then, and have one of their own."""

ENOUGH = 2.0
"""Seconds after which an estimate of the time left begins to mean something."""


class Interrupted(LoopbookError):
    """Somebody stopped the command, and this is what became of its work."""


class Estimate:
    """How long the rest takes, if it goes on as it did from the first call on."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None

    def left(self, share: float, now: float) -> float | None:
        """Seconds; None while that cannot be told.

        Args:
            share: of the work that is done, 0 to 1. What was done before the first call, as in a
                search that goes on, says nothing of how long the rest takes.
            now: seconds on any clock.
        """
        if self._first is None or share < self._first[0]:
            self._first = share, now
        begun, since = self._first
        took = now - since
        if took < ENOUGH or share <= begun or share >= 1:
            return None
        return took * (1 - share) / (share - begun)


class Progress:
    """The present stage of a command: what it is, how far it has got, and what is to be said of it.

    A command may have several jobs, each with stages of its own; the time left is that of all.
    """

    def __init__(self, jobs: int = 1, what: str = "") -> None:
        self._jobs, self._kind, self._job = jobs, what, 0
        self._begun = time.monotonic()
        self._estimate = Estimate()
        self._left: tuple[float, float] | None = None
        self.stage("")

    def job(self, number: int) -> None:
        """The job of this number, from 0, begins; there is none of it once all are done."""
        self._job = number
        self.stage("")

    def stage(self, what: object, *, left: float | None = None) -> None:
        """A stage begins.

        Args:
            left: seconds that the job will take from here on, where that is known beforehand.
        """
        self._what = one_line(what, 100)
        self._done, self._total, self._note = 0.0, 0.0, ""
        self._left = None if left is None else (left, time.monotonic())
        self.look()

    def at(self, done: float, total: float, note: object = "") -> None:
        """So much of the stage is done; the note is what it has come to."""
        first = not self._total
        self._done, self._total, self._note = done, total, one_line(note, 100)
        if first and self._jobs == 1:  # what came before it took its time for something else
            self.restart()
        self.look()

    def restart(self) -> None:
        """What is done so far took no time, and says nothing of how long the rest takes."""
        self._estimate = Estimate()
        self._estimate.left(self.share, time.monotonic())

    def tell(self, *parts: RenderableType) -> None:
        """Print an outcome on stdout, texts and tables as `style.tell` does."""
        style.tell(*parts)

    @property
    def what(self) -> str:
        """The present stage."""
        return self._what

    def words(self) -> str:
        """The stage on one line, without its times."""
        job = min(self._job + 1, self._jobs)
        where = f"{self._kind} {job} of {self._jobs}" if self._jobs > 1 else ""
        count = f"{self._done:g} of {self._total:g}" if self._total else ""
        return ", ".join(one for one in (where, self._what, count, self._note) if one)

    @property
    def share(self) -> float:
        """Of all jobs, how much is done."""
        inner = min(self._done / self._total, 1.0) if self._total else 0.0
        return min((self._job + inner) / self._jobs, 1.0) if self._jobs else 1.0

    @property
    def elapsed(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self._begun

    def left(self) -> float | None:
        """Seconds that the rest takes; None while that cannot be told."""
        now = time.monotonic()
        told = self._estimate.left(self.share, now)
        if self._left is None or self._jobs > 1:
            return told
        seconds, since = self._left
        return max(seconds - (now - since), 0.0) or None

    def times(self) -> str:
        """Such as "0:42, about 3:10 left"."""
        left = self.left()
        return clock(self.elapsed) + ("" if left is None else f", about {clock(left)} left")

    def look(self) -> None:
        """Show what there is to be shown by now."""


class _Lines(Progress):
    """Lines, written by a thread of their own, since what takes long says nothing meanwhile."""

    def __init__(self, jobs: int, what: str, quiet: float) -> None:
        self._due = time.monotonic() + quiet
        self._pause, self._shown = SAME, ""
        self._writing = threading.Lock()
        super().__init__(jobs, what)

    def look(self) -> None:
        """Write a line if one is due."""
        with self._writing:
            now, words = time.monotonic(), self.words()
            changed = words != self._shown
            if not words or now < (self._due if changed else self._due + self._pause - CHANGED):
                return
            self._pause = SAME if changed else min(1.5 * self._pause, SELDOM)
            self._due, self._shown = now + CHANGED, words
            _write(f"[{clock(self.elapsed)}] {words}{self._more()}\n")

    def _more(self) -> str:
        left = self.left()
        return "" if left is None else f"; about {clock(left)} left"


class _Bar(Progress):
    """A bar on the terminal that stderr is."""

    def __init__(self, jobs: int, what: str, bar: Any) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=1.0, times="")
        super().__init__(jobs, what)

    def look(self) -> None:
        """Move the bar and its times."""
        share = self.share
        known = self._total or self._job
        self._bar.update(
            self._task,
            completed=share,
            total=1.0 if known else None,
            description=self.words(),
            times=self.times(),
        )

    def tell(self, *parts: RenderableType) -> None:
        """Print on stdout; where that is the same terminal, above the bar."""
        text = style.rendered(*parts)
        if not sys.stdout.isatty():
            style.put(text)
            return
        self._bar.stop()
        style.put(text)
        self._bar.start()


@contextmanager
def progress(
    stage: object, jobs: int = 1, what: str = "", *, quiet: float = SOON, stopped: str = ""
) -> Iterator[Progress]:
    """Show what the block does.

    Args:
        stage: the first one.
        jobs: how many there are.
        what: one of them is called.
        quiet: seconds without a line where stderr is no terminal.
        stopped: what becomes of the work when somebody stops the command.

    Raises:
        Interrupted: somebody did, and there is something to be said about it.
    """
    shown, over = None, threading.Event()
    try:
        with _shown(jobs, what, quiet) as shown:
            shown.stage(stage)
            beat = threading.Thread(target=_beat, args=(shown, over), daemon=True)
            beat.start()
            try:
                yield shown
            finally:
                over.set()
                beat.join()
    except KeyboardInterrupt:
        if stopped:
            raise Interrupted(f"stopped; {stopped}") from None
        raise


@contextmanager
def _shown(jobs: int, what: str, quiet: float) -> Iterator[_Lines | _Bar]:
    """The kind that fits what stderr is."""
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield _Lines(jobs, what, quiet)
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    words = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    with Bars(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False, table_column=words),
        BarColumn(bar_width=16),
        TextColumn("{task.fields[times]}", markup=False, style=style.QUIET),
        console=style.console(stderr=True),
        expand=True,
        transient=True,
        redirect_stdout=False,  # what is printed there is no part of the bar
    ) as bars:
        yield _Bar(jobs, what, bars)


def _beat(shown: _Lines | _Bar, over: threading.Event) -> None:
    while not over.wait(BEAT):
        shown.look()


def _write(line: str) -> None:
    """To stderr, past Python's buffers where that is a file: their locks would be held in children
    that are forked meanwhile."""
    try:
        descriptor = sys.stderr.fileno()
    except (OSError, ValueError):
        sys.stderr.write(line)
    else:
        os.write(descriptor, line.encode(errors="replace"))


def clock(seconds: float) -> str:
    """A time, such as "0:42" or "1:03:20"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
