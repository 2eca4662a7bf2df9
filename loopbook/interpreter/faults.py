"""What can be said of a program that was not run to its end."""

from __future__ import annotations

from loopbook.errors import LoopbookError


class NotInterpretedError(LoopbookError):
    """The program has something that is not interpreted."""


class TooLongError(NotInterpretedError):
    """The program does more than its budget allows."""


class FaultError(LoopbookError):
    """The program did what no program may do: its result is not defined."""
