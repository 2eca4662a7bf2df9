"""Arguments to look at a function with, from what its text says of them: nothing is run.

::

    def kernel(n: int, A: "float64[N, M]", x: "float32[:]"): ...
    def kernel(A: np.ndarray[tuple[int, int], np.dtype[np.float64]]): ...
    def kernel(A, B): ... B[i] += A[i, j]       # two axes, and one, of doubles
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from loopbook.errors import InputError

SIZE = 7
"""Of dimensions that an annotation does not name, and of whole numbers that nothing gives."""


def sampled(function: Callable[..., Any]) -> list[Any]:
    """Small arguments for a function that comes without: of the types that annotations name; what
    has none is an array of doubles with as many axes as it is given indices, a whole number where
    it is the end of a ``range``, else its default.

    Raises:
        InputError: the text of the function cannot be read, or does not say enough.
    """
    name = getattr(function, "__name__", "the function")
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        raise InputError(f"the source of {name} cannot be read: give arguments=(…)") from None
    node = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda))
    samples, axes, ends = Samples({}), _axes(node), _ends(node)
    annotations = {a.arg: a.annotation for a in ast.walk(node) if isinstance(a, ast.arg)}
    found: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        one = samples.of(parameter.name, annotations.get(parameter.name))
        if one is None and parameter.name in axes:
            one = np.ones((SIZE,) * axes[parameter.name])
        elif one is None and parameter.default is not parameter.empty:
            one = parameter.default
        elif one is None and parameter.name in ends:
            one = SIZE
        if one is None:
            raise InputError(
                f"nothing says what {name}'s {parameter.name!r} is: "
                "give arguments=(…) or annotate it"
            )
        found.append(one)
    return found


def _axes(node: ast.AST) -> dict[str, int]:
    """By name, the most indices that are written behind it."""
    found: dict[str, int] = {}
    for one in ast.walk(node):
        if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name):
            count = len(one.slice.elts) if isinstance(one.slice, ast.Tuple) else 1
            found[one.value.id] = max(count, found.get(one.value.id, 0))
        match one:
            case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant(int(axis))):
                found[name] = max(axis + 1, found.get(name, 0))
    return found


def _ends(node: ast.AST) -> set[str]:
    """Names in the arguments of ``range``."""
    calls = (n for n in ast.walk(node) if isinstance(n, ast.Call) and _last_name(n.func) == "range")
    return {n.id for call in calls for n in ast.walk(call) if isinstance(n, ast.Name)}


class Samples:
    """An argument of the type that an annotation names; None where it names none.

    Attributes:
        loose: sizes were made up that no annotation names.
    """

    def __init__(self, sizes: Mapping[str, Any]) -> None:
        self.sizes, self.named = sizes, dict[str, int]()
        self.loose = False

    def of(self, name: str, annotation: ast.expr | None) -> Any:
        if annotation is None:
            return self.sizes.get(name)
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return None
        if isinstance(annotation, ast.Subscript):
            return self._array(annotation)
        kind = _last_name(annotation)
        if kind in ("int", "float", "bool", "complex"):
            number = self.sizes.get(name, SIZE)
            return {"int": int, "float": float, "bool": bool, "complex": complex}[kind](number)
        dtype = _dtype(kind)
        return None if dtype is None else dtype.type(SIZE)

    def _array(self, node: ast.Subscript) -> np.ndarray | None:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if _last_name(node.value) == "ndarray":
            # np.ndarray[tuple[int, int], np.dtype[np.float64]]
            if len(parts) != 2 or not all(isinstance(p, ast.Subscript) for p in parts):
                return None
            shape, kind = (p.slice for p in parts if isinstance(p, ast.Subscript))
            axes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
            dtype = _dtype(_last_name(kind))
            sizes = [self._size(ast.Slice()) for _ in axes]
        else:
            dtype = _dtype(_last_name(node.value))
            sizes = [self._size(part) for part in parts]
        known = [size for size in sizes if size is not None]
        return np.empty(known, dtype) if dtype is not None and len(known) == len(sizes) else None

    def _size(self, node: ast.expr) -> int | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value >= 0:
            return node.value
        if isinstance(node, ast.Name):
            return self.named.setdefault(node.id, SIZE + 1 + len(self.named))
        if isinstance(node, ast.Slice):
            self.loose = True
            return SIZE
        return None


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)


def _dtype(name: str) -> np.dtype | None:
    found = getattr(np, name, None)
    return np.dtype(found) if isinstance(found, type) and issubclass(found, np.generic) else None
