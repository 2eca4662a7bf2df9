"""NumPy's own scalars among the arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from loopbook.sdfg.known_wrong.source import Source
from loopbook.syntax import walk


def check(source: Source, given: Mapping[str, Any]) -> None:
    """docc converts an array's elements to the type of such a scalar, not both to what holds both.

    ``a[i] * n`` of floats and ``np.int64(3)`` is a product of whole numbers. Refused unless all
    arrays have the scalar's type, or it only counts and indexes; ``np.float64`` holds what they
    hold, and Python's own numbers are converted rightly.
    """
    arrays = {value.dtype for value in given.values() if isinstance(value, np.ndarray)}
    for name, value in given.items():
        if not isinstance(value, np.generic) or isinstance(value, np.float64):
            continue
        if arrays - {value.dtype} and name in _computed_with(source):
            own = type(value.item()).__name__
            source.refuse(
                source.node,
                f"converts arrays to the type of '{name}', {value.dtype}",
                f"pass {own}({name})",
            )


def _computed_with(source: Source) -> set[str]:
    """Names that stand somewhere else than in a ``range`` or an index."""
    counting: set[ast.AST] = set()
    for node in source.walk():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "range":
                counting.update(inner for part in node.args for inner in walk(part))
        elif isinstance(node, ast.Subscript):
            counting.update(walk(node.slice))
    return {n.id for n in source.walk() if isinstance(n, ast.Name) and n not in counting}
