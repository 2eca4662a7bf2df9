"""What is given to docc's frontend in place of the function that the user wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from loopbook.sdfg.known_wrong import understood


def to_trace(func: Callable[..., Any], args: Sequence[Any]) -> Callable[..., Any]:
    """The function that docc is to read for ``func(*args)``: one with the same arguments that
    computes the same.

    Raises:
        MistranslationError: docc is known to translate it wrongly. It runs as Python then.
    """
    return understood(func, args)
