"""Elements that are stored, and stored again before anything reads them."""

from __future__ import annotations

import ast
from types import ModuleType

from loopbook.sdfg.known_wrong.kinds import Kinds, assigned
from loopbook.sdfg.known_wrong.source import base, same
from loopbook.syntax import mentioned, walk

PURE = {"abs", "bool", "float", "int", "len", "max", "min", "pow", "range", "round"}
"""Built-in functions that change nothing."""

NEW = {"empty", "empty_like", "full", "ones", "ones_like", "zeros", "zeros_like"}
"""Functions of NumPy that make an array which shares nothing."""

LEAVING = (
    ast.Return
    | ast.Break
    | ast.Continue
    | ast.Raise
    | ast.Assert
    | ast.Try
    | ast.With
    | ast.NamedExpr
)


def run(kinds: Kinds) -> None:
    """Leave out the first of two such stores: docc may leave out the second.

    Before: ``b[i] = d[i] - a[i]``, then ``b[i] = c[i - 1]``. After: ``b[i] = c[i - 1]``.
    """
    _block(kinds, kinds.source.body)


def _block(kinds: Kinds, body: list[ast.stmt]) -> None:
    for statement in body:
        for inner in ("body", "orelse"):
            _block(kinds, getattr(statement, inner, []))
    for place in reversed(range(len(body))):
        statement = body[place]
        target = _element(kinds, statement)
        if target is None or not _is_pure(kinds, statement):
            continue
        if not _is_dead(kinds, target, body[place + 1 :]) or _is_shared(kinds, base(target)):
            continue
        kinds.source.mend(statement, "an element is stored that nothing reads before the next one")
        del body[place]


def _element(kinds: Kinds, statement: ast.stmt) -> ast.Subscript | None:
    """What a statement stores into, if that is one element of an array."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
    else:
        return None
    if not isinstance(target, ast.Subscript) or not base(target):
        return None
    loaded = ast.Subscript(target.value, target.slice, ast.Load())
    return target if kinds.of(loaded).rank == 0 else None


def _is_dead(kinds: Kinds, target: ast.Subscript, later: list[ast.stmt]) -> bool:
    """Whether an element is stored again before it can be read."""
    array, place = base(target), mentioned(target)
    for statement in later:
        again = _element(kinds, statement)
        plain = isinstance(statement, ast.Assign)
        if not _is_pure(kinds, statement):
            return False
        if plain and again is not None and base(again) == array:
            read = mentioned(statement.value) | mentioned(again.slice)
            if array in read:
                return False
            if same(again, target):
                return True
        elif mentioned(statement) & {array} or _stored(statement) & place:
            return False
    return False


def _stored(statement: ast.stmt) -> set[str]:
    """Variables, and arrays, that a statement may change."""
    targets: list[ast.expr] = []
    for node in walk(statement):
        if isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
            targets.append(node.target)
        elif isinstance(node, ast.Assign):
            targets += node.targets
    simple = (base(target) for target in targets if not isinstance(target, ast.Tuple | ast.List))
    parts = (target for target in targets if isinstance(target, ast.Tuple | ast.List))
    return {*simple, *(name for target in parts for name in mentioned(target))}


def _is_pure(kinds: Kinds, statement: ast.stmt) -> bool:
    """Whether a statement does nothing but compute and store, and the next one follows it."""
    for node in walk(statement):
        if isinstance(node, LEAVING):
            return False
        if isinstance(node, ast.Call) and not _changes_nothing(kinds, node):
            return False
    return True


def _changes_nothing(kinds: Kinds, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in PURE and call.func.id not in kinds.source.names
    return not call.keywords and _function(kinds, call) != ""


def _function(kinds: Kinds, call: ast.Call) -> str:
    """The name of a function of NumPy or `math`; empty of others."""
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return ""
    module = kinds.source.names.get(call.func.value.id)
    known = isinstance(module, ModuleType) and module.__name__ in ("numpy", "math")
    return call.func.attr if known else ""


def _is_shared(kinds: Kinds, array: str) -> bool:
    """Whether another variable may be a view of an array, or the array one of it."""
    for name, value in assigned(kinds.source.body):
        if isinstance(value, ast.For) or kinds.of(value).rank == 0:
            continue
        if isinstance(value, ast.Call) and _function(kinds, value) in NEW:
            continue
        if array == name or array in mentioned(value):
            return True
    return False
