"""Functions that call methods of their arguments which store into ``self``, as ones that store.

Before::

    def run(wave, n):
        for _ in range(n):
            most = wave.step(0.1)
        return most / wave.energy

After::

    def run(wave, n):
        for _ in range(n):
            most, wave.u = step(wave.c, wave.u, 0.1)
        return most / energy(wave.u)

where the methods are functions of what they read, which return what they store besides.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from loopbook.client.variants.remade import remade
from loopbook.client.variants.stored import (
    as_variables,
    check_stores,
    field_of,
    read_fields,
    replaced_at_times,
    replaced_fields,
    returning,
    stored_fields,
)
from loopbook.errors import LoweringError
from loopbook.frontend.inline import parsed
from loopbook.syntax import mentioned

CONSTANTS = (bool, int, float, str)


@dataclass(frozen=True)
class Held:
    """What is known of an object: its class, and what it holds.

    Attributes:
        arrays: which of the names are those of arrays.
    """

    kind: type
    names: frozenset[str]
    arrays: frozenset[str]


@dataclass(frozen=True)
class _Method:
    """A method as a function.

    Attributes:
        name: what it is called.
        read: the attributes that it is given in front of its arguments.
        stored: those that it returns behind its result.
        flagged: those of which it says behind them whether they have another value.
        gives: whether it has a result.
    """

    name: str
    read: tuple[str, ...]
    stored: tuple[str, ...]
    flagged: tuple[str, ...]
    gives: bool


class _UnclearError(Exception):
    """Something may be done with an object that nobody follows."""


def spelled_out(
    func: Callable[..., Any], objects: Mapping[str, Held]
) -> tuple[ast.FunctionDef, dict[str, Any]]:
    """A function's tree, and what it calls besides; the tree as it is where no method of these
    arguments stores anything, or it is unclear what one does.

    Raises:
        LoweringError: if the function's source is not at hand.
    """
    node = parsed(func)
    if not any(map(_has_methods, {held.kind for held in objects.values()})):
        return node, {}
    speller = _Speller()
    try:
        made = speller.function(copy.deepcopy(node), objects)
    except (_UnclearError, LoweringError):
        return node, {}
    return (made, speller.outside) if speller.stores else (node, {})


def _has_methods(kind: type) -> bool:
    return any(
        isinstance(value, FunctionType) and not name.startswith("__")
        for base in kind.__mro__[:-1]
        for name, value in vars(base).items()
    )


class _Speller:
    """Writes functions out.

    Attributes:
        outside: the functions that methods have become, by name.
        stores: whether one of them stores anything.
    """

    def __init__(self) -> None:
        self.outside: dict[str, Any] = {}
        self.stores = False
        self._made: dict[tuple[Held, str], _Method | None] = {}
        self._kinds: dict[type, str] = {}
        self._count = 0

    def function(self, node: ast.FunctionDef, objects: Mapping[str, Held]) -> ast.FunctionDef:
        """Calls of methods as those of functions, in place."""
        own = (n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in objects)
        if not all(isinstance(name.ctx, ast.Load) for name in own):
            raise _UnclearError
        node.body = self._block(node.body, objects)
        return ast.fix_missing_locations(node)

    def method(self, held: Held, name: str) -> _Method | None:
        """What an attribute that an object does not hold itself has become; None if it is neither
        a method nor a property."""
        found = inspect.getattr_static(held.kind, name, None)
        function = found.fget if isinstance(found, property) else found
        if name in held.names or not isinstance(function, FunctionType):
            return None
        if (held, name) in self._made:
            if (made := self._made[held, name]) is None:  # it calls itself
                raise _UnclearError
            return made
        self._made[held, name] = None
        made = self._made[held, name] = self._written(function, held, isinstance(found, property))
        return made

    def named(self, kind: type) -> str:
        """What a class is called."""
        if kind not in self._kinds:
            self._kinds[kind] = self.fresh(kind.__name__)
            self.outside[self._kinds[kind]] = kind
        return self._kinds[kind]

    def fresh(self, hint: str) -> str:
        """A name that nobody has."""
        self._count += 1
        return f"{hint}_{self._count}__"

    def _written(self, function: FunctionType, held: Held, decorated: bool) -> _Method:
        node = copy.deepcopy(parsed(function))
        given = node.args
        if not given.args or given.posonlyargs or (node.decorator_list and not decorated):
            raise _UnclearError
        owner = given.args[0].arg
        self.function(node, {owner: held})
        fields = [field for inner in ast.walk(node) if (field := field_of(inner)) is not None]
        uses = sum(isinstance(n, ast.Name) and n.id == owner for n in ast.walk(node))
        if uses != sum(name == owner for name, _ in fields):
            raise _UnclearError
        replaced = replaced_fields(node, owner)
        kept = held.arrays - replaced  # changed in place
        stored = tuple(name for name in stored_fields(node, owner) if name not in kept)
        flagged = tuple(sorted(held.arrays & replaced_at_times(node, owner)))
        read = tuple(sorted({*read_fields(node, owner), *flagged}))
        own = {(owner, name): self.fresh(f"{owner}_{name}") for name in {*stored, *read}}
        gives = any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(node))
        if stored:
            self.stores = True
            check_stores(node, [owner])
            flags = {(owner, name): self.fresh(f"has_{name}") for name in flagged}
            returning(node, own, [own[owner, name] for name in stored], flags)
        else:
            as_variables(node, own)
        given.args = [*(ast.arg(own[owner, name]) for name in read), *given.args[1:]]
        node.decorator_list, node.returns = [], None
        made = remade(function, node, self.outside)
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        name = self.fresh(function.__name__)
        self.outside[name] = made
        return _Method(name, read, stored, flagged, gives)

    def _block(self, body: Sequence[ast.stmt], objects: Mapping[str, Held]) -> list[ast.stmt]:
        return [made for node in body for made in self._statement(node, objects)]

    def _statement(self, node: ast.stmt, objects: Mapping[str, Held]) -> list[ast.stmt]:
        made = self._taken_out(node, objects)
        for one in made:
            for part in ("body", "orelse", "finalbody"):
                if inner := getattr(one, part, None):
                    setattr(one, part, self._block(inner, objects))
        return [_Expressions(self, objects).visit(one) for one in made]

    def _taken_out(self, node: ast.stmt, objects: Mapping[str, Held]) -> list[ast.stmt]:
        """A statement behind the call in it of a method that stores something."""
        calls = [
            (call, owner, method)
            for part in _own_parts(node)
            for call in ast.walk(part)
            if isinstance(call, ast.Call) and (owner := _owner(call.func, objects)) is not None
            if (method := self.method(objects[owner[0]], owner[1])) is not None and method.stored
        ]
        if not calls:
            return [node]
        if len(calls) > 1 or isinstance(node, ast.While):
            raise _UnclearError
        call, (owner, _), method = calls[0]
        _check_order(node, call, owner, {*method.read, *method.stored})
        stored: list[ast.expr] = [
            ast.Attribute(ast.Name(owner, ast.Load()), name, ast.Store()) for name in method.stored
        ]
        told = {(owner, name): self.fresh(f"has_{name}") for name in method.flagged}
        stored += [ast.Name(name, ast.Store()) for name in told.values()]
        instead = _called(method, owner, call)
        match node:
            case ast.Expr(value=value) if value is call:
                unused = [ast.Name(self.fresh("unused"), ast.Store())] if method.gives else []
                return [_assigned([*unused, *stored], instead, node, told)]
            case ast.Assign(targets=[target], value=value) if value is call and method.gives:
                return [_assigned([target, *stored], instead, node, told)]
        if not method.gives:
            raise _UnclearError
        name = self.fresh("given")
        before = _assigned([ast.Name(name, ast.Store()), *stored], instead, node, told)
        return [before, _Replaced(call, ast.Name(name, ast.Load())).visit(node)]


def _own_parts(node: ast.stmt) -> Iterator[ast.AST]:
    """What a statement is made of but for the statements in it."""
    return (part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt))


def _owner(node: ast.AST, objects: Mapping[str, Held]) -> tuple[str, str] | None:
    """The object and the name, of an attribute of one."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in objects:
            return owner, name
    return None


def _check_order(node: ast.stmt, call: ast.Call, owner: str, touched: set[str]) -> None:
    """Raises where something else in a statement may come before a call, or not at all with it."""
    within = {id(inner) for inner in ast.walk(call)}
    around = {id(outer) for outer in ast.walk(node) if any(n is call for n in ast.walk(outer))}
    choices = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension, ast.ListComp, ast.DictComp)
    for part in _own_parts(node):
        for inner in ast.walk(part):
            if id(inner) in within:
                continue
            if id(inner) in around:
                if isinstance(inner, (*choices, ast.GeneratorExp, ast.SetComp, ast.NamedExpr)):
                    raise _UnclearError
                continue
            field = field_of(inner)
            if isinstance(inner, ast.Call) or (field is not None and field[1] in touched):
                raise _UnclearError
            if isinstance(inner, ast.Subscript) and owner in mentioned(inner):
                raise _UnclearError


def _called(method: _Method, owner: str, call: ast.Call) -> ast.Call:
    first = [ast.Attribute(ast.Name(owner, ast.Load()), name, ast.Load()) for name in method.read]
    return ast.Call(ast.Name(method.name, ast.Load()), [*first, *call.args], call.keywords)


def _assigned(
    targets: list[ast.expr], value: ast.expr, at: ast.stmt, told: dict[Any, str]
) -> ast.stmt:
    made = ast.Assign([ast.Tuple(targets, ast.Store())], value)
    made.told = told  # type: ignore[attr-defined]
    return ast.fix_missing_locations(ast.copy_location(made, at))


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if node is self._old:
            return ast.copy_location(self._new, node)
        return super().generic_visit(node)


class _Expressions(ast.NodeTransformer):
    """Calls of methods that store nothing, properties, and what belongs to the class."""

    def __init__(self, speller: _Speller, objects: Mapping[str, Held]) -> None:
        self._speller, self._objects = speller, objects

    def visit_Call(self, node: ast.Call) -> ast.AST:
        owner = _owner(node.func, self._objects)
        if owner is None:
            return self.generic_visit(node)
        method = self._speller.method(self._objects[owner[0]], owner[1])
        if method is None:
            return self.generic_visit(node)
        if method.stored:
            raise _UnclearError
        made = ast.copy_location(_called(method, owner[0], node), node)
        return self.generic_visit(ast.fix_missing_locations(made))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        owner = _owner(node, self._objects)
        if owner is None or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        held = self._objects[owner[0]]
        if owner[1] in held.names:
            return node
        found = inspect.getattr_static(held.kind, owner[1], None)
        if isinstance(found, (staticmethod, *CONSTANTS)):  # the class may get another one
            name = self._speller.named(held.kind)
            made = ast.Attribute(ast.Name(name, ast.Load()), owner[1], ast.Load())
            return ast.fix_missing_locations(ast.copy_location(made, node))
        method = self._speller.method(held, owner[1])
        if method is None or method.stored or not isinstance(found, property):
            raise _UnclearError
        call = _called(method, owner[0], ast.Call(node, [], []))
        return ast.fix_missing_locations(ast.copy_location(call, node))
