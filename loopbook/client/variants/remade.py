"""Functions of other trees, with what the ones that they are made of know of outside."""

from __future__ import annotations

import ast
import hashlib
import linecache
from collections.abc import Iterator, Mapping
from types import CellType, CodeType, FunctionType
from typing import Any


def remade(func: FunctionType, node: ast.FunctionDef, outside: Mapping[str, Any]) -> FunctionType:
    """A function of this tree, with the globals of another and what that closes over.

    Args:
        outside: what it closes over besides.
    """
    cells = dict(zip(func.__code__.co_freevars, func.__closure__ or (), strict=True))
    cells |= {name: CellType(value) for name, value in outside.items()}
    inner = ast.unparse(ast.fix_missing_locations(node))
    text = inner + "\n"
    if cells:  # a cell for each name, so that it is one in the function
        lines = "".join(f"    {line}\n" for line in inner.splitlines())
        text = f"def around({', '.join(cells)}):\n{lines}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    file = f"<loopbook {func.__name__} {digest}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    code = next(_codes(compile(text, file, "exec"), node.name))  # a lambda has no such name
    closure = tuple(cells[name] for name in code.co_freevars)
    return FunctionType(code, func.__globals__, node.name, None, closure)


def _codes(code: CodeType, name: str) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            if part.co_name == name:
                yield part
            yield from _codes(part, name)
