"""One way out of a function: early returns become branches, and flags where they leave loops.

Before::

    for i in range(n):
        if x[i] > 1:
            return i
    return -1

After::

    LEFT = False
    for i in range(n):
        if x[i] > 1:
            RETURNED = i
            LEFT = True
            break
    if not LEFT:
        RETURNED = -1

Where all returns are of tuples of one length, each item has a name of its own. What all of them
give under one name that is bound once, such as an argument, is given as it is, at the end.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any

from loopbook.frontend.desugar import desugared, without_jumps
from loopbook.frontend.filled import with_arrays
from loopbook.frontend.optional import with_flags
from loopbook.frontend.tabular import with_tables

RETURNED = "returned_"
LEFT = "left_"


def single_exit(
    body: list[ast.stmt],
    parameters: Collection[str] = (),
    arrays: Collection[str] = (),
    *,
    optional: bool = False,
    outside: Mapping[str, Any] = MappingProxyType({}),
) -> list[ast.stmt]:
    """The statements with every ``return`` an assignment to `RETURNED`.

    Args:
        parameters: of the function, and those that are known to be `arrays`, which ``+=`` changes.
        optional: whether names may be None until they are numbers.
        outside: what it knows by name.
    """
    body = _without_docstring(body)
    plain = desugared(with_flags(body, parameters) if optional else body)
    known = {name: value for name, value in outside.items() if name not in parameters}
    body = with_arrays(with_tables(plain), known)
    found = [node for statement in body for node in _found(statement)]
    if not any(map(_has_value, found)):
        return _lift(body, None, in_loop=False)
    if not _always(body):
        last = ast.copy_location(ast.Return(ast.Constant(None)), body[-1])
        ast.fix_missing_locations(last)
        body = [*body, last]
        found.append(last)
    lengths = {len(n.value.elts) if isinstance(n.value, ast.Tuple) else -1 for n in found}
    alone = len(found) == 1 and found[0] is body[-1]
    width = lengths.pop() if not alone and len(lengths) == 1 else -1
    if alone:
        return _lift(body, [], in_loop=False)
    fixed = _bound_once(body, parameters, arrays)
    if width <= 0:
        same = _same([node.value for node in found], fixed)
        if same is None:
            return _lift(body, [], in_loop=False)
        lifted = _lift(body, None, in_loop=False)
        value: ast.expr = ast.Name(same, ast.Load())
        return [*lifted, _assigned(ast.Name(RETURNED, ast.Store()), value, body[-1])]
    parts = [[node.value.elts[n] for node in found] for n in range(width)]  # type: ignore[union-attr]
    names = [_same(part, fixed) or f"{RETURNED}{n}_" for n, part in enumerate(parts)]
    lifted = _lift(body, names, in_loop=False)
    items = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
    lifted.append(_assigned(ast.Name(RETURNED, ast.Store()), items, body[-1]))
    return lifted


def _same(values: Sequence[ast.expr | None], fixed: Collection[str]) -> str | None:
    """The one name that stands at all places, if it means the same at the end."""
    names = {value.id if isinstance(value, ast.Name) else "" for value in values}
    name = names.pop() if len(names) == 1 else ""
    return name if name in fixed else None


def _bound_once(
    body: Sequence[ast.stmt], parameters: Collection[str], arrays: Collection[str]
) -> frozenset[str]:
    """Names that stand for one thing from before the first return on."""
    added = {
        id(node.target)
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id in arrays
    }
    bound = [
        node.id if isinstance(node, ast.Name) else node.name
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.FunctionDef)
        or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
        if id(node) not in added
    ]
    first = next(place for place, statement in enumerate(body) if _returns(statement))
    ahead = {
        node.id
        for statement in body[:first]
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    own = {name for name in ahead - set(parameters) if bound.count(name) == 1}
    return frozenset(own | (set(parameters) - set(bound)))


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        return body[1:]
    return body


def _assigned(target: ast.expr, value: ast.expr, at: ast.stmt) -> ast.stmt:
    made = ast.copy_location(ast.Assign([target], value), at)
    return ast.fix_missing_locations(made)


def _flag(value: bool, at: ast.stmt) -> ast.stmt:
    return _assigned(ast.Name(LEFT, ast.Store()), ast.Constant(value), at)


def _branch(test: ast.expr, body: list[ast.stmt], at: ast.stmt) -> ast.stmt:
    made = ast.copy_location(ast.If(test, body, []), at)
    ast.copy_location(test, at)
    return ast.fix_missing_locations(made)


def _lift(body: list[ast.stmt], names: list[str] | None, in_loop: bool) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for place, node in enumerate(body):
        if isinstance(node, ast.Return):
            return [*result, *_leaving(node, names, in_loop)]
        rest = body[place + 1 :]
        if isinstance(node, ast.If) and _returns(node):
            if in_loop:
                then, other = _lift(node.body, names, True), _lift(node.orelse, names, True)
                result.append(ast.copy_location(ast.If(node.test, then, other), node))
                continue
            then, other = list(node.body), list(node.orelse)
            if not _always(then):
                then += copy.deepcopy(rest)
            if not _always(other):
                other += rest
            made = ast.If(node.test, _lift(then, names, False), _lift(other, names, False))
            return [*result, ast.copy_location(made, node)]
        if isinstance(node, ast.For | ast.While) and _returns(node):
            inner = copy.copy(node)
            inner.body = _lift(node.body, names, True)
            loops: list[ast.stmt] = [inner]
            if isinstance(inner, ast.For):  # one that is written out has nothing to break out of
                loops = without_jumps(inner, count(1000 * node.lineno + node.col_offset))
            left = ast.Name(LEFT, ast.Load())
            if in_loop:
                result += [*loops, _branch(left, [ast.Break()], node)]
                continue
            result += [_flag(False, node), *loops]
            if rest:
                test = ast.UnaryOp(ast.Not(), left)
                result.append(_branch(test, _lift(rest, names, False), rest[0]))
            return result
        result.append(node)
    return result


def _has_value(node: ast.Return) -> bool:
    value = node.value
    return value is not None and not (isinstance(value, ast.Constant) and value.value is None)


def _leaving(node: ast.Return, names: list[str] | None, in_loop: bool) -> list[ast.stmt]:
    """What stands for a return; `names` are those of the parts of results, None if there are no
    results at all."""
    made: list[ast.stmt] = []
    if names is not None:
        value = node.value or ast.Constant(None)
        target: ast.expr = ast.Name(RETURNED, ast.Store())
        items = value.elts if isinstance(value, ast.Tuple) else []
        kept = [n for n, name in enumerate(names) if name.startswith(RETURNED)]
        if names:
            value = ast.Tuple([items[n] for n in kept], ast.Load())
            target = ast.Tuple([ast.Name(names[n], ast.Store()) for n in kept], ast.Store())
        if kept or not names:
            made.append(_assigned(target, value, node))
    if in_loop:
        made += [_flag(True, node), ast.copy_location(ast.Break(), node)]
    return made or [ast.copy_location(ast.Pass(), node)]


def _found(node: ast.AST) -> list[ast.Return]:
    """Returns of the function itself, not of those in it."""
    if isinstance(node, ast.Return):
        return [node]
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return []
    return [found for child in ast.iter_child_nodes(node) for found in _found(child)]


def _returns(node: ast.AST) -> bool:
    return bool(_found(node))


def _always(body: list[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return _always(last.body) and _always(last.orelse)
    if isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and last.test.value:
        return not any(isinstance(node, ast.Break) for node in ast.walk(last))
    return isinstance(last, ast.Return | ast.Raise)
