"""Data that is no number, in a function that takes the lesser or greater of floats."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from loopbook.sdfg.known_wrong.kinds import FLOAT, Kinds

CHOOSING = {"min", "max", "minimum", "maximum", "clip", "fmin", "fmax"}

OURS = "<loopbook "
"""How the names of files begin in which loops stand that `loopbook.frontend` wrote. There ``min``
and ``max`` are NumPy's, as they are in what is served (`loopbook.toolchain.compiler`)."""


def check(kinds: Kinds, values: Iterable[Any]) -> None:
    """Python's ``min`` and ``max`` give the first one of a number and a NaN, docc's the number.

    Refused where an argument holds a NaN when the function is compiled. Data that gets one later
    cannot be known here. Comparisons are put right in what is served (`loopbook.sdfg.decided`).
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
