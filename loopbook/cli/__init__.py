"""The ``loopbook`` command: one file for each group of subcommands, all imported lazily."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from loopbook.toolchain.circles import seldom_searched

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Returns (and, called as a program, exits with) the exit code.

    0 is success, 1 a check that failed (a damaged book, wrong numbers), 2 a mistake or a failure
    explained in one line on stderr, 130 an interrupt.
    """
    # What is imported stays, and most of what a command makes as long as it runs: a sixth of the
    # time of a short one went into the search for circles.
    with seldom_searched():
        from loopbook.cli.app import run

        return run(sys.argv[1:] if arguments is None else list(arguments))
