"""Data that is no number, in a function that compares floats."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from loopbook.sdfg.known_wrong.kinds import FLOAT, Kinds

CHOOSING = {"min", "max", "minimum", "maximum", "clip", "fmin", "fmax"}


def check(kinds: Kinds, values: Iterable[Any]) -> None:
    """docc writes ``else`` as the opposite comparison, so that a NaN takes neither way, and gives
    the number where ``min`` and ``max`` of a number and a NaN are asked for.

    Refused where an argument holds a NaN when the function is compiled. Data that gets one later
    cannot be known here.
    """
    if not any(_holds_nan(value) for value in values):
        return
    for node in kinds.source.walk():
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and _name(node.func) in CHOOSING:
            parts = node.args
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            parts = [node.test]
        if any(kinds.of(part).what in (FLOAT, "?") for part in parts):
            kinds.source.refuse(
                node, "compares the NaN among the arguments wrongly", "replace NaN before"
            )


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
