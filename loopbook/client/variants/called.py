"""Statements in which functions are called that store into objects and dicts, in terms of what
these hold (`loopbook.client.variants.methods`)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol

from loopbook.client.variants.stored import Field, field_of
from loopbook.syntax import mentioned

CONSTANTS = (bool, int, float, str)


@dataclass(frozen=True)
class Held:
    """What is known of an object or dict: its class, and what it holds.

    Attributes:
        arrays: which of the names are those of arrays.
    """

    kind: type
    names: frozenset[Any]
    arrays: frozenset[Any]


@dataclass(frozen=True)
class Called:
    """What is called with objects.

    Attributes:
        function: itself, one of Python's.
        owners: by parameter, the variables that are given as such.
        rest: the other arguments, in order, and those with names.
    """

    function: Any
    owners: Mapping[str, str]
    rest: tuple[list[ast.expr], list[ast.keyword]]


@dataclass(frozen=True)
class Spelled:
    """A function, as one of what its objects hold.

    Attributes:
        name: what it is called.
        read: what it is given in front of its arguments, each a parameter and a name.
        stored: what it returns behind its result.
        flagged: those of which it says behind them whether they have another value.
        gives: whether it has a result.
    """

    name: str
    read: tuple[Field, ...]
    stored: tuple[Field, ...]
    flagged: tuple[Field, ...]
    gives: bool


_Call = tuple[ast.Call, Called, Spelled]


class UnclearError(Exception):
    """Something may be done with an object that nobody follows."""


class Speller(Protocol):
    """Makes functions of what objects hold: `loopbook.client.variants.methods`."""

    def spelled(self, called: Called, objects: Mapping[str, Held]) -> Spelled: ...
    def named(self, kind: type) -> str: ...
    def fresh(self, hint: object) -> str: ...


@dataclass(frozen=True)
class Statements:
    """Statements of one function."""

    speller: Speller
    objects: Mapping[str, Held]
    names: Mapping[str, Any]

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements in place of others."""
        return [made for node in body for made in self._statement(node)]

    def called(self, call: ast.Call) -> Called | None:
        """What is called with objects, if it is a function that may be read."""
        args = list(call.args)
        match call.func:
            case ast.Attribute(value=ast.Name(id=owner) as first, attr=name) if (
                held := self.objects.get(owner)
            ) is not None:
                function = _method(held, name)
                args = [first, *args]
            case ast.Attribute(
                value=ast.Call(func=ast.Name(id="super"), args=[], keywords=[]), attr=name
            ):
                first, function = self._inherited(name)
                args = [first, *args]
            case ast.Name(id=name) as first if name in self.objects:
                function = _method(self.objects[name], "__call__")
                args = [first, *args]
            case ast.Name(id=name):
                function = self.names.get(name)
            case _:
                return None
        values = [*args, *(keyword.value for keyword in call.keywords)]
        if not isinstance(function, FunctionType) or not any(map(self._is_object, values)):
            return None
        if any(isinstance(value, ast.Starred) for value in values):
            raise UnclearError
        if (function.__module__ or "").startswith("numpy"):
            return None
        try:
            named = {k.arg: k.value for k in call.keywords if k.arg is not None}
            bound = inspect.signature(function).bind(*args, **named).arguments
        except TypeError:
            raise UnclearError from None
        owners = {
            n: v.id for n, v in bound.items() if isinstance(v, ast.Name) and v.id in self.objects
        }
        rest = [value for value in args if not self._is_object(value)]
        keywords = [k for k in call.keywords if not self._is_object(k.value)]
        return Called(function, owners, (rest, keywords))

    def _inherited(self, name: str) -> tuple[ast.Name, FunctionType | None]:
        """The object whose method calls another one as ``super().name(...)`` does, and that one."""
        kind = self.names.get("__class__")
        found = [o for o, h in self.objects.items() if kind in h.kind.__mro__]
        if len(found) != 1:
            raise UnclearError
        mro = self.objects[found[0]].kind.__mro__
        above = (vars(one) for one in mro[mro.index(kind) + 1 :] if name in vars(one))
        function = next(above, {}).get(name)
        is_function = isinstance(function, FunctionType)
        return ast.Name(found[0], ast.Load()), function if is_function else None

    def _is_object(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.objects

    def field(self, owner: str, name: Any, context: ast.expr_context) -> ast.expr:
        """What an object holds by a name."""
        place = ast.Name(owner, ast.Load())
        if self.objects[owner].kind is dict:
            return ast.Subscript(place, ast.Constant(name), context)
        return ast.Attribute(place, name, context)

    def instead(self, called: Called, spelled: Spelled) -> ast.Call:
        """The call of what a function has become."""
        first = [self.field(called.owners[o], name, ast.Load()) for o, name in spelled.read]
        args, keywords = called.rest
        return ast.Call(ast.Name(spelled.name, ast.Load()), [*first, *args], keywords)

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        made = self._taken_out(node)
        for one in made:
            for part in ("body", "orelse", "finalbody"):
                if inner := getattr(one, part, None):
                    setattr(one, part, self.block(inner))
        return [_Expressions(self).visit(one) for one in made]

    def _taken_out(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement behind the call in it of what stores something."""
        calls = [
            (call, called, spelled)
            for part in _own_parts(node)
            for call in ast.walk(part)
            if isinstance(call, ast.Call) and (called := self.called(call)) is not None
            if (spelled := self.speller.spelled(called, self.objects)).stored
        ]
        if not calls:
            return [node]
        if isinstance(node, ast.While) and not node.orelse:  # its condition comes first in its body
            stop = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
            again = ast.While(ast.Constant(True), [stop, *node.body], [])
            return [ast.fix_missing_locations(ast.copy_location(again, node))]
        if isinstance(node, ast.While):
            raise UnclearError
        call, called, spelled = _first(calls)
        if (listed := self._as_loop(node, call)) is not None:
            return listed
        touched = {(called.owners[o], name) for o, name in (*spelled.read, *spelled.stored)}
        _check_order(node, call, touched, self.objects)
        stored = [self.field(called.owners[o], name, ast.Store()) for o, name in spelled.stored]
        told = {
            (called.owners[o], name): self.speller.fresh(f"has_{name}")
            for o, name in spelled.flagged
        }
        stored += [ast.Name(name, ast.Store()) for name in told.values()]
        instead = self.instead(called, spelled)
        match node:
            case ast.Expr(value=value) if value is call:
                name = self.speller.fresh("unused")
                unused = [ast.Name(name, ast.Store())] if spelled.gives else []
                return [_assigned([*unused, *stored], instead, node, told)]
            case ast.Assign(targets=[target], value=value) if value is call and spelled.gives:
                return [_assigned([target, *stored], instead, node, told)]
        if not spelled.gives:
            raise UnclearError
        name = self.speller.fresh("given")
        before = _assigned([ast.Name(name, ast.Store()), *stored], instead, node, told)
        rest = _Replaced(call, ast.Name(name, ast.Load())).visit(node)
        return [before, *(self._taken_out(rest) if len(calls) > 1 else [rest])]

    def _as_loop(self, node: ast.stmt, call: ast.Call) -> list[ast.stmt] | None:
        """A statement behind a loop that stands for the comprehension in it which a call is in;
        None if there is none."""
        lists = [n for p in _own_parts(node) for n in ast.walk(p) if isinstance(n, ast.ListComp)]
        lists = [n for n in lists if any(inner is call for inner in ast.walk(n))]
        if len(lists) != 1 or len(lists[0].generators) != 1:
            return None
        (made,) = lists
        (each,) = made.generators
        if any(inner is call for inner in ast.walk(each.iter)):
            return None
        name, rest = self.speller.fresh("listed"), list[ast.stmt]()
        match node:
            case ast.Assign(targets=[ast.Name(id=own)]) if node.value is made and (
                own not in mentioned(made)
            ):
                name = own
            case _:
                _check_order(node, made, {}, self.objects)
                rest = self._taken_out(_Replaced(made, ast.Name(name, ast.Load())).visit(node))
        method = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
        adds: ast.stmt = ast.Expr(ast.Call(method, [made.elt], []))
        for test in reversed(each.ifs):
            adds = ast.If(test, [adds], [])
        begun = ast.Assign([ast.Name(name, ast.Store())], ast.List([], ast.Load()))
        lines: list[ast.stmt] = [begun, ast.For(each.target, each.iter, [adds], [])]
        lines = [ast.fix_missing_locations(ast.copy_location(one, node)) for one in lines]
        return [*lines, *rest]


def _method(held: Held, name: str) -> FunctionType | None:
    """What an attribute that an object does not hold itself is, if that is a method or property."""
    if name in held.names or held.kind is dict:
        return None
    found = inspect.getattr_static(held.kind, name, None)
    function = found.fget if isinstance(found, property) else found
    return function if isinstance(function, FunctionType) else None


def _own_parts(node: ast.stmt) -> Iterator[ast.AST]:
    """What a statement is made of but for the statements in it."""
    return (part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt))


def _check_order(
    node: ast.stmt, call: ast.expr, touched: Collection[Field], objects: Mapping[str, Held]
) -> None:
    """Raises where something else in a statement may come before a call, or not at all with it."""
    within = {id(inner) for inner in ast.walk(call)}
    around = {id(outer) for outer in ast.walk(node) if any(n is call for n in ast.walk(outer))}
    owners = {owner for owner, _ in touched}
    choices = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension, ast.ListComp, ast.DictComp)
    for part in _own_parts(node):
        for inner in ast.walk(part):
            if id(inner) in within or _is_behind(inner, call):
                continue
            if id(inner) in around:
                if any(n is call for n in ast.walk(_always(inner))):
                    continue
                if isinstance(inner, (*choices, ast.GeneratorExp, ast.SetComp, ast.NamedExpr)):
                    raise UnclearError
                continue
            field = field_of(inner)
            if isinstance(inner, ast.Call) or field in touched:
                raise UnclearError
            if field is not None and field[0] in objects and _is_property(objects, field):
                raise UnclearError
            if isinstance(inner, ast.Subscript) and owners & mentioned(inner):
                raise UnclearError


def _is_property(objects: Mapping[str, Held], field: Field) -> bool:
    """Whether an attribute is computed of others."""
    owner, name = field
    held = objects[owner]
    if name in held.names or held.kind is dict:
        return False
    return isinstance(inspect.getattr_static(held.kind, name, None), property)


def _first(calls: Sequence[_Call]) -> _Call:
    """The call that is made first of those in a statement."""
    ends = [(call.end_lineno or 0, call.end_col_offset or 0) for call, _, _ in calls]
    return calls[ends.index(min(ends))]


def _is_behind(node: ast.AST, call: ast.expr) -> bool:
    """Whether an expression is written, and computed, after a call."""
    if not isinstance(node, ast.expr) or not hasattr(node, "lineno"):
        return False
    end = (call.end_lineno or 0, call.end_col_offset or 0)
    return (node.lineno, node.col_offset) >= end


def _always(node: ast.AST) -> ast.AST:
    """What is computed of a choice in any case."""
    match node:
        case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first):
            return first
    return ast.Pass()


def _assigned(
    targets: list[ast.expr], value: ast.expr, at: ast.stmt, told: dict[Field, str]
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
    """Calls of what stores nothing, properties, and what belongs to a class."""

    def __init__(self, around: Statements) -> None:
        self._around = around

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = self._around.called(node)
        if called is None:
            return self.generic_visit(node)
        spelled = self._around.speller.spelled(called, self._around.objects)
        if spelled.stored:
            raise UnclearError
        made = ast.copy_location(self._around.instead(called, spelled), node)
        return self.generic_visit(ast.fix_missing_locations(made))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        held = self._around.objects.get(owner)
        if held is None or held.kind is dict or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        if node.attr in held.names:
            return node
        found = inspect.getattr_static(held.kind, node.attr, None)
        speller = self._around.speller
        if isinstance(found, (staticmethod, *CONSTANTS)):  # the class may get another one
            place = ast.Name(speller.named(held.kind), ast.Load())
            made: ast.expr = ast.Attribute(place, node.attr, ast.Load())
            return ast.fix_missing_locations(ast.copy_location(made, node))
        if not isinstance(found, property) or not isinstance(found.fget, FunctionType):
            raise UnclearError
        (first, *_) = inspect.signature(found.fget).parameters
        called = Called(found.fget, {first: owner}, ([], []))
        spelled = speller.spelled(called, self._around.objects)
        if spelled.stored:
            raise UnclearError
        made = self._around.instead(called, spelled)
        return ast.fix_missing_locations(ast.copy_location(made, node))
