"""What can be said of a program that was not run to its end."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from loopbook.errors import LoopbookError


class NotInterpretedError(LoopbookError):
    """The program has something that is not interpreted."""


class TooLongError(NotInterpretedError):
    """The program does more than its budget allows."""


class FaultError(LoopbookError):
    """The program did what no program may do: its result is not defined."""


SAID: Mapping[type[Exception], str] = {
    IndexError: "something outside of an array is read or written",
    ZeroDivisionError: "something is divided by zero",
    UnboundLocalError: "something that nobody has set is read",
    TypeError: "something that nobody has set is computed with",
    ValueError: "a function of mathematics has no value",
    OverflowError: "a number is too large",
    struct.error: "a number is too large",
}
"""What Python's errors mean in an interpreted program."""
