"""Functions that store into attributes and keys of their arguments, as ones that return the values.

Before::

    def step(self, f):
        self.u = self.u + self.dt * f
        self.t += self.dt
        return self.t

After, where each attribute is a variable from the beginning on::

        self_u = self_u + self_dt * f
        self_t += self_dt
        return self_t, self_u, self_t
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loopbook.errors import LoweringError

Field = tuple[str, Any]
"""An argument's name, and that of an attribute or key."""


def field_of(node: ast.AST) -> Field | None:
    """Which attribute or key of which name an expression is; None if it is none."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=field):
            return owner, field
        case ast.Subscript(value=ast.Name(id=owner), slice=ast.Constant(value=key)):
            return owner, key
    return None


def stored_fields(node: ast.FunctionDef, name: str) -> tuple[Any, ...]:
    """The attributes and keys of an argument that a function stores into, in order."""
    found = [
        field
        for inner in ast.walk(node)
        if isinstance(getattr(inner, "ctx", None), ast.Store)
        and (field := field_of(inner)) is not None
        and field[0] == name
    ]
    return tuple(dict.fromkeys(key for _, key in found))


def read_fields(node: ast.FunctionDef, name: str) -> frozenset[Any]:
    """Those whose values at the beginning it needs: all but what every call stores first."""
    always = _always(node)
    changed = {id(n.target) for n in ast.walk(node) if isinstance(n, ast.AugAssign)}
    found = set()
    for inner in ast.walk(node):
        field = field_of(inner)
        if field is None or field[0] != name:
            continue
        loaded = isinstance(getattr(inner, "ctx", None), ast.Load) or id(inner) in changed
        if loaded or field not in always:
            found.add(field[1])
    return frozenset(found)


def replaced_fields(node: ast.FunctionDef, name: str) -> frozenset[Any]:
    """Those that it stores into otherwise than by ``+=`` and the like, which keep an array."""
    changed = {id(n.target) for n in ast.walk(node) if isinstance(n, ast.AugAssign)}
    return frozenset(
        field[1]
        for inner in ast.walk(node)
        if isinstance(getattr(inner, "ctx", None), ast.Store)
        and id(inner) not in changed
        and (field := field_of(inner)) is not None
        and field[0] == name
    )


def replaced_at_times(node: ast.FunctionDef, name: str) -> frozenset[Any]:
    """Those of them that some calls may leave as they are."""
    last = node.body[-1]
    early = any(isinstance(n, ast.Return) and n is not last for n in ast.walk(node))
    always = set() if early else {field for owner, field in _always(node) if owner == name}
    return replaced_fields(node, name) - always


def _always(node: ast.FunctionDef) -> frozenset[Field]:
    """Attributes and keys that a function's own statements assign."""
    return frozenset(
        field
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if (field := field_of(target)) is not None
    )


def check_stores(node: ast.FunctionDef, owners: Iterable[str]) -> None:
    """Raises `LoweringError` where what was stored might be lost: behind it something raises, or
    it is stored in a function within."""
    names = list(owners)
    inner = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Try, ast.Delete)
    if any(isinstance(n, inner) for n in ast.walk(node) if n is not node):
        what = f"storing into {names[0]}, which the caller has too, beside functions or del"
        raise LoweringError(f"{what}; return it instead")
    first = next(n for n, s in enumerate(node.body) if _stores(s, names))
    for statement in node.body[first:]:
        for found in ast.walk(statement):
            if isinstance(found, ast.Raise | ast.Assert):
                what = f"storing into {names[0]} before a check; check first"
                raise LoweringError(what, found.lineno)


def _stores(statement: ast.stmt, names: Sequence[str]) -> bool:
    return any(
        isinstance(getattr(n, "ctx", None), ast.Store)
        and (field := field_of(n)) is not None
        and field[0] in names
        for n in ast.walk(statement)
    )


def returning(node: ast.FunctionDef, own: Mapping[Field, str], back: Sequence[str]) -> None:
    """Make attributes variables of these names, and return some of them besides, in place."""
    body = [_Variables(own).visit(statement) for statement in node.body]
    found = [inner for statement in body for inner in ast.walk(statement)]
    given = any(isinstance(inner, ast.Return) and inner.value is not None for inner in found)
    body = [_Returning(back, given).visit(statement) for statement in body]
    last = ast.Return(_with(None, back, given))
    node.body = body if isinstance(body[-1], ast.Return) else [*body, last]


def _with(value: ast.expr | None, names: Sequence[str], given: bool) -> ast.Tuple:
    """A value, if there are any, and those of some variables."""
    first = [value or ast.Constant(None)] if given else []
    return ast.Tuple([*first, *(ast.Name(name, ast.Load()) for name in names)], ast.Load())


class _Variables(ast.NodeTransformer):
    def __init__(self, own: Mapping[Field, str]) -> None:
        self._own = own

    def _variable(self, node: Any) -> ast.AST:
        field = field_of(node)
        if field is not None and field in self._own:
            return ast.copy_location(ast.Name(self._own[field], node.ctx), node)
        return self.generic_visit(node)

    visit_Attribute = visit_Subscript = _variable


class _Returning(ast.NodeTransformer):
    def __init__(self, names: Sequence[str], given: bool) -> None:
        self._names, self._given = names, given

    def visit_Return(self, node: ast.Return) -> ast.Return:
        value = _with(node.value, self._names, self._given)
        return ast.copy_location(ast.Return(value), node)


def put_back(answer: Any, owners: Sequence[tuple[Any, Sequence[Any]]]) -> Any:
    """What a function returned, after the rest of `answer` has been stored where it belongs."""
    count = sum(len(names) for _, names in owners)
    value, rest = (None, answer) if len(answer) == count else (answer[0], answer[1:])
    values = iter(rest)
    for owner, names in owners:
        for name in names:
            if isinstance(owner, dict):
                owner[name] = next(values)
            else:
                setattr(owner, name, next(values))
    return value
