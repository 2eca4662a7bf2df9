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
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from loopbook.errors import LoweringError
from loopbook.syntax import returns

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
    always = {field for owner, field in _always(node, leaving=True) if owner == name}
    return replaced_fields(node, name) - always


def _always(node: ast.FunctionDef, leaving: bool = False) -> frozenset[Field]:
    """Attributes and keys that a function's own statements assign.

    Args:
        leaving: those in front of all returns, however it is left.
    """
    ends = (n for n, s in enumerate(node.body) if returns(s))
    last = next(ends, len(node.body)) if leaving else len(node.body)
    return frozenset(
        field
        for statement in node.body[:last]
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for part in (target.elts if isinstance(target, ast.Tuple) else [target])
        if (field := field_of(part)) is not None and field not in told(statement)
    )


def told(statement: ast.stmt) -> dict[Field, str]:
    """Attributes that a call may leave as they are, and the variables that say whether it has."""
    return getattr(statement, "told", {})


def check_stores(node: ast.FunctionDef, owners: Iterable[str], *, raises: bool = True) -> None:
    """Raises `LoweringError` where what was stored might be lost: behind it something raises, or
    it is stored in a function within.

    Args:
        raises: whether anybody sees what was stored before something raised.
    """
    names = list(owners)
    inner = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Try, ast.Delete)
    if any(isinstance(n, inner) for n in ast.walk(node) if n is not node):
        what = f"storing into {names[0]}, which the caller has too, beside functions or del"
        raise LoweringError(f"{what}; return it instead")
    if not raises:
        return
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


def returning(
    node: ast.FunctionDef,
    own: Mapping[Field, str],
    back: Sequence[str],
    flags: Mapping[Field, str] = MappingProxyType({}),
) -> None:
    """Make attributes variables of these names, and return some of them besides, in place.

    Args:
        flags: those that only some calls assign, and what says whether one has.
    """
    body = list(node.body)
    if flags:
        begun = [_assigned(flag, ast.Constant(False)) for flag in flags.values()]
        body = [*begun, *_flagged(body, flags)]
        back = [*back, *flags.values()]
    body = [_Variables(own).visit(statement) for statement in body]
    found = [inner for statement in body for inner in ast.walk(statement)]
    given = any(isinstance(inner, ast.Return) and inner.value is not None for inner in found)
    body = [_Returning(back, given).visit(statement) for statement in body]
    last = ast.Return(_with(None, back, given))
    node.body = body if isinstance(body[-1], ast.Return) else [*body, last]


def as_variables(node: ast.FunctionDef, own: Mapping[Field, str]) -> None:
    """Make attributes variables of these names, in place."""
    node.body = [_Variables(own).visit(statement) for statement in node.body]


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    made = ast.Assign([ast.Name(name, ast.Store())], value, lineno=1)
    return ast.fix_missing_locations(made)


def _flagged(body: Sequence[ast.stmt], flags: Mapping[Field, str]) -> list[ast.stmt]:
    """Statements that say behind each assignment to such an attribute that it has another value."""
    made: list[ast.stmt] = []
    for node in body:
        for part in ("body", "orelse"):
            if inner := getattr(node, part, None):
                setattr(node, part, _flagged(inner, flags))
        made.append(node)
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        for field in [field_of(n) for n in ast.walk(node) if _is_stored(n)]:
            if field is None or field not in flags:
                continue
            value: ast.expr = ast.Constant(True)
            if field in told(node):
                sides = [flags[field], told(node)[field]]
                value = ast.BoolOp(ast.Or(), [ast.Name(side, ast.Load()) for side in sides])
            made.append(_assigned(flags[field], value))
    return made


def _is_stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def sign(place: int) -> str:
    """What a function returns instead of an argument that it gives back."""
    return f"<argument {place}>"


def is_given_back(node: ast.FunctionDef, name: str) -> list[ast.Name]:
    """Where a function returns the very object that was passed, alone or in a tuple."""
    uses = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    inner = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef | ast.Lambda)]
    if any(not isinstance(n.ctx, ast.Load) for n in uses) or len(inner) > 1:
        return []
    returned = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
    items = [i for v in returned for i in (v.elts if isinstance(v, ast.Tuple) else [v])]
    return [item for item in items if isinstance(item, ast.Name) and item.id == name]


def return_signs(node: ast.FunctionDef, signs: Mapping[str, str]) -> None:
    """Return signs in place of arguments, in place."""
    instead = {id(place): s for name, s in signs.items() for place in is_given_back(node, name)}
    for found in ast.walk(node):
        if isinstance(found, ast.Return) and found.value is not None:
            value = found.value
            if id(value) in instead:
                found.value = ast.Constant(instead[id(value)])
            elif isinstance(value, ast.Tuple):
                value.elts = [
                    ast.Constant(instead[id(item)]) if id(item) in instead else item
                    for item in value.elts
                ]


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


@dataclass(frozen=True)
class Owner:
    """An argument that a function stores into, or may return.

    Attributes:
        stored: the names of what is to be stored.
        flagged: those of which it is said besides whether they are.
    """

    value: Any
    stored: Sequence[Any]
    flagged: Sequence[Any]


def put_back(answer: Any, owners: Sequence[Owner]) -> Any:
    """What a function returned, after the rest of `answer` has been stored where it belongs."""
    pairs = [(owner, name) for owner in owners for name in owner.stored]
    flagged = [(owner.value, name) for owner in owners for name in owner.flagged]
    count = len(pairs) + len(flagged)
    value = answer
    if count:
        value, rest = (None, answer) if len(answer) == count else (answer[0], answer[1:])
        flags = rest[len(pairs) :]
        kept = {
            (id(owner), name)
            for (owner, name), flag in zip(flagged, flags, strict=True)
            if not flag
        }
        for (owner, name), new in zip(pairs, rest, strict=False):
            if (id(owner.value), name) in kept:
                continue
            if isinstance(owner.value, dict):
                owner.value[name] = new
            else:
                setattr(owner.value, name, new)
    signs = {sign(place): owner.value for place, owner in enumerate(owners)}
    if type(value) is tuple:
        return tuple(signs.get(item, item) if type(item) is str else item for item in value)
    return signs.get(value, value) if type(value) is str else value
