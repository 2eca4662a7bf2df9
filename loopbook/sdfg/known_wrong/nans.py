"""Data that is no number, in a function that takes the lesser or greater of floats."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from loopbook.sdfg.known_wrong.kinds import FLOAT, Kinds
from loopbook.sdfg.known_wrong.source import OURS, Source
from loopbook.syntax import PYTHONS

CHOOSING = {"min", "max", "minimum", "maximum", "clip", "fmin", "fmax"}


def check(kinds: Kinds, values: Iterable[Any]) -> None:
    """Python's ``min`` and ``max`` give the first one of a number and a NaN, docc's the number.

    Refused where an argument holds a NaN when the function is compiled: of data that gets one later
    they are put right in what is served (`loopbook.sdfg.own_extremes`), as comparisons are
    (`loopbook.sdfg.decided`), and so are NumPy's, which is what loops of our own call.
    """
    if kinds.source.file.startswith(OURS) or not any(_holds_nan(value) for value in values):
        return
    for node in kinds.source.walk():
        if not isinstance(node, ast.Call) or _name(node.func) not in CHOOSING:
            continue
        if any(kinds.of(part).what in (FLOAT, "?") for part in node.args):
            kinds.source.refuse(
                node, "compares the NaN among the arguments wrongly", "replace NaN before"
            )


def are_pythons(func: Callable[..., Any]) -> bool:
    """Whether a function has extremes, and all of them are Python's own ``min`` and ``max``: it
    calls nothing else that chooses, nor what may. Loops of our own say so themselves."""
    source = Source.of(func)
    if source is None or source.file.startswith(OURS):
        return source is not None and PYTHONS in source.names
    called = [node.func for node in source.walk() if isinstance(node, ast.Call)]
    return any(_is_pythons(one, source) for one in called) and all(
        _is_pythons(one, source) or _chooses_nothing(one, source) for one in called
    )


def _is_pythons(func: ast.expr, source: Source) -> bool:
    return isinstance(func, ast.Name) and func.id in {"min", "max"} - source.names.keys()


def _chooses_nothing(func: ast.expr, source: Source) -> bool:
    """Whether a function is none of the program's, and gives no extreme."""
    match func:
        case ast.Name(id=name):
            return name not in source.names and name not in CHOOSING
        case ast.Attribute(value=ast.Name(id="math" | "np"), attr=name):
            return name not in CHOOSING
    return False


def _holds_nan(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return bool(np.isnan(value).any())
    return False


def _name(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""
