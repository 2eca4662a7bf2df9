"""Functions with keyword-only parameters, as ones that take all of them by place.

Before::

    def scaled(x, *, by=2.0): ...

After::

    def scaled(x, by=2.0): ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import takewhile
from types import FunctionType
from typing import Any


def positional(func: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, but that what it takes by name alone comes last; itself if there is
    nothing of the kind."""
    if not isinstance(func, FunctionType) or not func.__code__.co_kwonlyargcount:
        return func
    parameters = inspect.signature(func).parameters.values()
    code, own = func.__code__, [parameter.default for parameter in parameters]
    count = code.co_argcount + code.co_kwonlyargcount
    if len(parameters) != count:  # it takes any number of others
        return func
    given = list(takewhile(lambda value: value is not inspect.Parameter.empty, reversed(own)))
    made = FunctionType(
        code.replace(co_argcount=count, co_kwonlyargcount=0),
        func.__globals__,
        func.__name__,
        tuple(reversed(given)),
        func.__closure__,
    )
    made.__module__, made.__qualname__ = func.__module__, func.__qualname__
    return made
