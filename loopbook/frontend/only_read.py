"""Arrays of which a function asks for elements and sizes, and does nothing else with them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from loopbook.syntax import walk

SIZES = ("shape", "size", "ndim", "dtype")


def only_read(body: Sequence[ast.stmt], arrays: Iterable[str]) -> frozenset[str]:
    """Those of some arrays that stand in a function's body only as ``x[i]``, read, ``x.shape`` and
    ``len(x)``: nobody can store into them by another name."""
    harmless: set[int] = set()
    named: dict[str, set[int]] = {name: set() for name in arrays}
    for statement in body:
        for node in walk(statement):
            match node:
                case ast.Subscript(value=ast.Name() as name, slice=index, ctx=ast.Load()):
                    if not any(isinstance(inner, ast.Slice) for inner in walk(index)):
                        harmless.add(id(name))
                case ast.Attribute(value=ast.Name() as name, attr=attribute) if attribute in SIZES:
                    harmless.add(id(name))
                case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as name]):
                    harmless.add(id(name))
                case ast.Name(id=text) if text in named:
                    named[text].add(id(node))
    return frozenset(name for name, places in named.items() if places <= harmless)
