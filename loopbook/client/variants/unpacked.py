"""Functions that are called with tuples, as ones that take the items one by one.

Before, called with two arrays and a tuple of two numbers::

    def step(w, g, betas): ...

After::

    def step(w, g, betas_0, betas_1):
        betas = (betas_0, betas_1)
        ...
"""

from __future__ import annotations

import ast
import copy
import hashlib
import linecache
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

from loopbook.errors import LoweringError
from loopbook.frontend.inline import parsed

Layout = tuple[Any, ...] | int | None
"""Of a tuple: that of its items, where whole numbers below nought stand for themselves: they say
which axis, or that a size follows from the others. None for everything else."""


def layout(value: Any) -> tuple[Layout, ...]:
    """How many items a tuple has, and which of them are tuples."""
    return tuple(layout(x) if type(x) is tuple else x if _stays(x) else None for x in value)


def _stays(item: Any) -> bool:
    return type(item) is int and item < 0


def items(values: Sequence[Any]) -> list[Any]:
    """What is in tuples and beside them, one by one."""
    return [x for v in values for x in (_inner(v) if type(v) is tuple else (v,))]


def _inner(values: tuple[Any, ...]) -> list[Any]:
    return items([value for value in values if not _stays(value)])


def unpacked(func: Callable[..., Any], layouts: Sequence[Layout]) -> Callable[..., Any]:
    """A function that takes what `items` gives of arguments of these layouts.

    Raises:
        LoweringError: if the function's source is not at hand.
    """
    if not isinstance(func, FunctionType):
        raise LoweringError("a tuple, given to what is no function written with def")
    node = copy.deepcopy(parsed(func))
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | set(_parameters(node))
    parameters: list[ast.arg] = []
    begun: list[ast.stmt] = []
    for name, form in zip(_parameters(node), layouts, strict=True):
        if not isinstance(form, tuple):
            parameters.append(ast.arg(name))
            continue
        value = _made(name, form, parameters, taken)
        begun.append(ast.Assign([ast.Name(name, ast.Store())], value, lineno=node.lineno))
    node.args = ast.arguments([], parameters, None, [], [], None, [])
    node.body, node.decorator_list, node.returns = [*begun, *node.body], [], None
    return _function(func, node)


def _parameters(node: ast.FunctionDef) -> list[str]:
    given = node.args
    return [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _made(name: str, form: tuple[Any, ...], parameters: list[ast.arg], taken: set[str]) -> ast.expr:
    """The tuple of new parameters."""
    parts: list[ast.expr] = []
    for place, inner in enumerate(form):
        if isinstance(inner, int):
            parts.append(ast.Constant(inner))
            continue
        own = f"{name}_{place}"
        while own in taken:
            own += "_"
        taken.add(own)
        if inner is None:
            parameters.append(ast.arg(own))
            parts.append(ast.Name(own, ast.Load()))
        else:
            parts.append(_made(own, inner, parameters, taken))
    return ast.Tuple(parts, ast.Load())


def _function(func: FunctionType, node: ast.FunctionDef) -> FunctionType:
    """A function of this tree, with the globals of another and what that closes over."""
    free = func.__code__.co_freevars
    inner = ast.unparse(ast.fix_missing_locations(node))
    text = inner + "\n"
    if free:  # a cell for each name, so that it is one in the function
        lines = "".join(f"    {line}\n" for line in inner.splitlines())
        text = f"def around({', '.join(free)}):\n{lines}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    file = f"<loopbook {func.__name__} {digest}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    code = _code(compile(text, file, "exec"), func.__name__)
    cells = dict(zip(free, func.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    return FunctionType(code, func.__globals__, func.__name__, None, closure)


def _code(code: CodeType, name: str) -> CodeType:
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    own = next((part for part in inner if part.co_name == name), None)
    return own if own is not None else _code(inner[0], name)


def packed(args: Sequence[Any]) -> tuple[Layout, ...] | None:
    """The layouts of arguments among which there are tuples; None if there are none."""
    if not any(type(value) is tuple for value in args):
        return None
    return tuple(layout(value) if type(value) is tuple else None for value in args)


__all__ = ["items", "packed", "unpacked"]
