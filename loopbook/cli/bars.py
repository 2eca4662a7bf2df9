"""Progress bars on stderr, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from loopbook.printable import printable, show


@contextmanager
def bars(*, hidden: bool, elapsed: bool = False, remaining: bool = False) -> Iterator[Any]:
    """Bars with counts: `rich.progress.Progress`, to add tasks to.

    Args:
        hidden: show none.
        elapsed, remaining: also how long it has taken, and will take.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    times = [TimeElapsedColumn()] * elapsed + [TimeRemainingColumn()] * remaining
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        *times,
        console=console,
        disable=hidden or not console.is_terminal,
        redirect_stdout=False,  # what is printed there is no part of the bars
    ) as progress:
        yield progress


def say(progress: Any, line: str) -> None:
    """Print a line: above the bars, or to stdout where there are none or that is no terminal."""
    if progress.disable or not sys.stdout.isatty():
        show(line, flush=True)
    else:
        progress.console.print(printable(line), highlight=False, markup=False)
