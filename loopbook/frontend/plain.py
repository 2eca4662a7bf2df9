"""Whether a function consists of loops and scalars already, as PolyBench's do.

Such a function goes to docc as it is: the very same object, so that its fingerprints stay. Not if
an index in it may be negative: docc's code would not count it from the end; nor if a branch hangs
on constants alone: docc forgets that something does; nor if it clamps a loop's count, or divides it
in an index.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend.inline import names_of, parsed
from loopbook.frontend.quotients import divisor_of, is_count

PLAIN_CALLS = frozenset(("range", "min", "max", "int", "float", "bool"))

MOST_COMPARED = 2
"""Numbers that docc's front end takes the least or greatest of."""


def is_plain(func: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether all expressions in the function are of numbers, and only elements are stored."""
    try:
        node = parsed(func)
    except LoweringError:
        return False
    parameters = [a.arg for a in node.args.args]
    ranks = {
        name: value.ndim
        for name, value in zip(parameters, args, strict=False)
        if isinstance(value, np.ndarray)
    }
    if len(args) != len(parameters) or node.args.vararg or node.args.kwarg:
        return False
    return not _changes_inside(node) and all(
        _statement(s, ranks, names_of(func)) for s in node.body
    )


def _changes_inside(node: ast.FunctionDef) -> bool:
    """Whether a loop is written otherwise because its count is clamped, as by ``max(i - 1, 0)``
    (`loopbook.frontend.edges`), or divided in an index (`loopbook.frontend.quotients`)."""
    loops = [one for one in ast.walk(node) if isinstance(one, ast.For)]
    counts = {one.target.id for one in loops if isinstance(one.target, ast.Name)}
    inside = [part for one in loops for statement in one.body for part in _outside_heads(statement)]
    return any(divisor_of(one, counts) or _clamps(one, counts) for one in inside)


def _clamps(node: ast.AST, counts: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="max" | "min"), args=args):
            return any(is_count(arg, counts) for arg in args)
    return False


def _outside_heads(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, but for the ends of loops."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.For) and child is node.iter):
            yield from _outside_heads(child)


def _statement(node: ast.stmt, ranks: dict[str, int], names: dict[str, Any]) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.For):
        head = (
            isinstance(node.target, ast.Name)
            and isinstance(node.iter, ast.Call)
            and isinstance(node.iter.func, ast.Name)
            and node.iter.func.id == "range"
            and not node.orelse
            and all(_number(a, ranks, names) for a in node.iter.args)
        )
        return head and all(_statement(s, ranks, names) for s in node.body)
    if isinstance(node, ast.While) and node.orelse:
        return False
    if isinstance(node, ast.While | ast.If):
        inner = [*node.body, *node.orelse]
        if isinstance(node, ast.If) and _is_constant(node.test, names):
            return False
        return _number(node.test, ranks, names) and all(_statement(s, ranks, names) for s in inner)
    if isinstance(node, ast.Assign):
        return all(_target(x, ranks, names) for x in node.targets) and _number(
            node.value, ranks, names
        )
    if isinstance(node, ast.AugAssign):
        return _target(node.target, ranks, names) and _number(node.value, ranks, names)
    return isinstance(node, ast.Pass | ast.Break | ast.Continue)


def _target(node: ast.expr, ranks: dict[str, int], names: dict[str, Any]) -> bool:
    if isinstance(node, ast.Name):
        return node.id not in ranks
    return isinstance(node, ast.Subscript) and _number(node, ranks, names)


def _number(node: ast.expr, ranks: dict[str, int], names: dict[str, Any]) -> bool:
    match node:
        case ast.Constant():
            return isinstance(node.value, bool | int | float)
        case ast.Name():
            outside = names.get(node.id)
            return not (node.id in ranks or callable(outside) or isinstance(outside, np.ndarray))
        case ast.BinOp():
            return not isinstance(node.op, ast.MatMult) and all(
                _number(x, ranks, names) for x in (node.left, node.right)
            )
        case ast.UnaryOp():
            return _number(node.operand, ranks, names)
        case ast.BoolOp():
            return all(_number(x, ranks, names) for x in node.values)
        case ast.Compare():
            return all(_number(x, ranks, names) for x in (node.left, *node.comparators))
        case ast.IfExp():
            return not _is_constant(node.test, names) and all(
                _number(x, ranks, names) for x in (node.test, node.body, node.orelse)
            )
        case ast.Subscript():
            return _element(node, ranks, names)
        case ast.Attribute():
            return isinstance(node.value, ast.Name) and node.value.id in ("np", "math")
        case ast.Call():
            return _plain_call(node) and all(_number(x, ranks, names) for x in node.args)
    return False


def _is_constant(node: ast.expr, names: dict[str, Any]) -> bool:
    """Whether an expression is of constants alone, the module's among them."""
    used = [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    return all(isinstance(names.get(name), bool | int | float) for name in used)


def _element(node: ast.Subscript, ranks: dict[str, int], names: dict[str, Any]) -> bool:
    """An element by all its indices, or a size."""
    if isinstance(node.value, ast.Attribute):
        return (
            node.value.attr == "shape"
            and isinstance(node.value.value, ast.Name)
            and node.value.value.id in ranks
        )
    if not isinstance(node.value, ast.Name) or node.value.id not in ranks:
        return False
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return len(indices) == ranks[node.value.id] and all(_number(i, ranks, names) for i in indices)


def _plain_call(node: ast.Call) -> bool:
    if node.keywords:
        return False
    if isinstance(node.func, ast.Name):
        few = len(node.args) <= MOST_COMPARED or node.func.id not in ("min", "max")
        return few and node.func.id in PLAIN_CALLS
    match node.func:
        case ast.Attribute(value=ast.Name(id="math")):
            return True
        case ast.Attribute(value=ast.Name(id="np"), attr=name):
            return isinstance(getattr(np, name, None), np.ufunc | type)
    return False
