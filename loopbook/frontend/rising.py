"""Variables that are never negative: counts that begin at 0, or at a size, and only grow.

What such a variable is used for as an index does not count from the end, so nothing has to test
whether it does::

    k = 0                                    k_0 = 0
    for i in range(n):                       for i_0 in range(n):
        if x[i] > 0.0:                           if x[i_0] > 0.0:
            y[k] = x[i]                              n_0 = int(k_0)
            k += 1                                   y[n_0] = x[i_0]
                                                     k_0 = k_0 + 1

All that is assigned to it anywhere in its function has to be such, as long as it is itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from loopbook.syntax import walk

Given = tuple[str, ast.expr | None]
"""A name, and what it is set to; None for what is not known."""


GROWING = (
    ast.Add | ast.Mult | ast.FloorDiv | ast.Mod | ast.BitAnd | ast.BitOr | ast.BitXor | ast.RShift
)
"""Operators that make no negative number of others; a division by 0 raises."""


def never_negative(body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names of a function's variables that are whole numbers of at least 0 wherever they are
    set."""
    given = [one for statement in body for one in _given(statement)]
    found = {name for name, _ in given}
    while True:
        wrong = {name for name, value in given if value is None or not _is_natural(value, found)}
        if not wrong & found:
            return frozenset(found)
        found -= wrong


def _given(statement: ast.stmt) -> Iterator[Given]:
    told: set[int] = set()
    for node in walk(statement):
        match node:
            case ast.Assign(targets=targets, value=value):
                pairs = [pair for target in targets for pair in _pairs(target, value)]
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                pairs = [(target, ast.BinOp(ast.Name(name, ast.Load()), op, value))]
            case ast.NamedExpr(target=target, value=value):
                pairs = [(target, value)]
            case ast.For(target=ast.Name() as target, iter=ast.Call(func=ast.Name(id="range"))):
                pairs = [(target, _least(node.iter.args))]  # type: ignore[attr-defined]
            case _:
                continue
        for target, value in pairs:
            if isinstance(target, ast.Name):
                told.add(id(target))
                yield target.id, value
    for node in walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in told:
            yield node.id, None


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr | None]]:
    if not isinstance(target, ast.Tuple | ast.List):
        return [(target, value)]
    if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
        return [pair for one in zip(target.elts, value.elts, strict=True) for pair in _pairs(*one)]
    return []


def _least(ends: Sequence[ast.expr]) -> ast.expr | None:
    """What a loop's variable begins with, if it goes up from there."""
    if len(ends) == 1:
        return ast.Constant(0)
    if len(ends) == 2:
        return ends[0]
    return ast.BinOp(ends[0], ast.Add(), ends[2])  # a step of 0 raises


def _is_count(value: object, least: int) -> bool:
    return type(value) is int and value >= least


def _is_natural(node: ast.expr, names: set[str]) -> bool:
    """Whether it is a whole number of at least 0 as long as some variables are."""
    match node:
        case ast.Constant(value=value):
            return _is_count(value, 0)
        case ast.Name(id=name):
            return name in names
        case ast.BinOp(op=op, left=left, right=right) if isinstance(op, GROWING):
            return _is_natural(left, names) and _is_natural(right, names)
        case ast.IfExp(body=one, orelse=other):
            return _is_natural(one, names) and _is_natural(other, names)
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant()):
            return True
        case ast.Call(func=ast.Name(id="len"), args=[_], keywords=[]):
            return True
    return False
