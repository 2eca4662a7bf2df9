"""Loops that have been compared with the function that they were made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from loopbook.errors import LoopbookError, LoweringError
from loopbook.frontend.check import check
from loopbook.frontend.lower import lower
from loopbook.frontend.lowered import Lowered


def translated(
    func: Callable[..., Any], args: Sequence[Any], *, loops_too: bool = False
) -> Lowered | None:
    """A function as loops that give its numbers, for arguments like these.

    Args:
        loops_too: also where it consists of loops already.

    Returns:
        None if it consists of loops already.

    Raises:
        LoweringError: it holds what has no form in loops, or they give other numbers.
    """
    try:
        lowered = lower(func, args, loops_too=loops_too)
        if lowered is None:
            return None
        return replace(lowered, compared=check(func, lowered, args))
    except LoopbookError:
        raise
    except Exception as error:  # a fault of ours must not stop a program that Python can run
        reason = " ".join(str(error).split())[:200]
        what = f"{func.__name__}() cannot be read: {type(error).__name__}: {reason}"
        raise LoweringError(what) from error
