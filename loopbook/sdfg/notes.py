"""What only the function says that docc has read, noted in the program's metadata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from loopbook.normal_form import extents, singles
from loopbook.sdfg import own_extremes
from loopbook.sdfg.known_wrong.source import OURS
from loopbook.sdfg.source import definition
from loopbook.syntax import PYTHON_FLOATS, makes_no_doubles


def note(document: dict[str, Any], func: Callable[..., Any], args: Sequence[Any]) -> None:
    """Note in a program's JSON how large its arrays are, whose extremes it has, and whether all
    doubles in it are numbers of Python's.

    Args:
        func: what docc has read.
        args: what for.
    """
    extents.noted(document, args)
    own_extremes.note(document, func)
    if _are_pythons(func, args):
        singles.note(document)


def _are_pythons(func: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether all doubles are numbers of Python's: loops of our own say so themselves."""
    if func.__code__.co_filename.startswith(OURS):
        return PYTHON_FLOATS in func.__globals__
    return makes_no_doubles(definition(func), args)
