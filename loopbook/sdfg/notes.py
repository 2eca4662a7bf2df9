"""What only the function says that docc has read, noted in the program's metadata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from loopbook.normal_form import extents, singles
from loopbook.sdfg import own_extremes
from loopbook.sdfg.source import definition


def note(document: dict[str, Any], func: Callable[..., Any], args: Sequence[Any]) -> None:
    """Note in a program's JSON how large its arrays are, whose extremes it has, and whether all
    doubles in it are numbers of Python's.

    Args:
        func: what docc has read.
        args: what for.
    """
    extents.noted(document, args)
    own_extremes.note(document, func)
    singles.note(document, definition(func), args)
