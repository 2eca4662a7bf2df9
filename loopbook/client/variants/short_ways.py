"""What calls of one kind take once it is known what is run for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from loopbook.client.variants.cases import Short
from loopbook.client.variants.compiled import AGAIN

Take = Callable[[Callable[..., Any] | None], None]


class RunsAsPythonError(Exception):
    """A call with the items of tuples, dicts and so on is not compiled: it is to be made with those
    themselves, since it may change them."""


def as_python(func: Callable[..., Any], args: Sequence[Any], *unasked: type) -> Short:
    """The short way to Python, for calls with these numbers: with others they may be compiled.

    Args:
        unasked: types of which any number will do.
    """
    others = (np.ndarray, *unasked)
    numbers = [value for value in args if type(value) not in others]

    def entry(args: Sequence[Any]) -> Any:
        if [value for value in args if type(value) not in others] != numbers:
            return AGAIN
        return func(*args)

    return entry


def refusing(reason: str) -> Callable[..., Any]:
    """What is called in place of a function that takes the items of tuples and the like."""

    def refuse(*_: Any) -> Any:
        raise RunsAsPythonError(reason)

    return refuse


def leaving_out(rest: Sequence[Any], entry: Short) -> Short:
    """The short way for calls that leave the last arguments out."""
    return lambda args: entry((*args, *rest))


def taking(rest: Sequence[Any], take: Take) -> Take:
    """What takes Python's function to call it as well where the last arguments are left out."""
    return lambda python: take(python and (lambda *args: python(*args, *rest)))
