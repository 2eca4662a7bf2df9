"""Whether what a function gives hangs on elements that nobody has set.

``np.empty`` and its like give memory as it comes: what is never stored there is one number in one
call and another one in the next, so that nothing can be said of it. Data that are made up leave
such elements where a call's own would not: rows of a sparse matrix, of which the ends say too much.
"""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from loopbook.alarm import TooLong, limited
from loopbook.frontend.rounding import flat

FILLS = (1, 2)
"""What stands for memory as it comes."""


def hangs_on_unset(func: Callable[..., Any], args: Sequence[Any], seconds: float) -> bool:
    """Whether results or arguments differ with what memory holds that the function gets.

    Args:
        args: what it is called with, which stays as it is.
        seconds: that it may take.
    """
    if not isinstance(func, types.FunctionType):
        return False
    found = []
    for fill in FILLS:
        values = [value.copy() if isinstance(value, np.ndarray) else value for value in args]
        names = _filled(func.__globals__, fill)
        own = types.FunctionType(
            func.__code__, names, func.__name__, func.__defaults__, func.__closure__
        )
        own.__kwdefaults__ = func.__kwdefaults__
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"), limited(seconds):
                warnings.simplefilter("ignore")
                found.append([*flat(own(*values)), *values])
        except (TooLong, Exception):
            return False
    one, other = found
    return len(one) != len(other) or not all(map(_is_same, one, other))


def _is_same(one: Any, other: Any) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    exact = one.dtype.kind in "fc" and one.dtype == other.dtype
    return np.array_equal(one, other, equal_nan=exact)


def _filled(names: Mapping[str, Any], fill: int) -> dict[str, Any]:
    """A function's globals, in which new memory is full of one number."""
    module = _Module(fill)
    instead = {id(np): module} | {id(getattr(np, n)): getattr(module, n) for n in _Module.MADE}
    return {name: instead.get(id(value), value) for name, value in names.items()}


class _Module:
    """NumPy, but for functions that give memory as it comes."""

    MADE = ("empty", "empty_like")

    def __init__(self, fill: int) -> None:
        self._fill = fill

    def __getattr__(self, name: str) -> Any:
        made = getattr(np, name)
        if name not in self.MADE:
            return made

        def filled(*args: Any, **kwargs: Any) -> np.ndarray:
            array = made(*args, **kwargs)
            array.fill(self._fill)
            return array

        return filled
