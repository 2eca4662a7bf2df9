"""From NumPy's functions, and methods of arrays, to what lowers them.

A construct is added by a function in one of the files in ``constructs``::

    @lowers(np.trace)
    def trace(t, a): ...

It is given the `Translator` and the call's arguments as values, and returns a value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
METHODS: dict[str, Callable[..., Any]] = {}
ATTRIBUTES: dict[str, Callable[..., Any]] = {}
ELEMENTWISE: set[Any] = set()
"""Functions whose results' elements each depend on one element of each argument."""


def lowers(*functions: Any, method: str | None = None) -> Callable[..., Any]:
    """Register what lowers `functions`, and a method of arrays if one is named."""

    def register(lowering: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            FUNCTIONS[function] = lowering
        if method is not None:
            METHODS[method] = lowering
        return lowering

    return register


def attribute(name: str) -> Callable[..., Any]:
    """Register what an array's attribute is."""

    def register(lowering: Callable[..., Any]) -> Callable[..., Any]:
        ATTRIBUTES[name] = lowering
        return lowering

    return register
