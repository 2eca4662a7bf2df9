"""How objects begin: the statements of ``__init__``, where one is made.

Before::

    c = Control(limit, gain=0.5)

After::

    own_limit = limit
    own_gain = 0.5
    c.limit, c.gain = own_limit, own_gain
    c.total = 0.0
"""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import inspect
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Protocol

from loopbook.client.variants.called import UnclearError
from loopbook.frontend.inline import names_of, parsed
from loopbook.syntax import mentioned

DEEPEST = 8
"""Classes of which each begins as another one does."""

MISSING = object()

FIXED = (BuiltinFunctionType, FunctionType, ModuleType, type)
"""What names of other modules are taken to stand for from now on."""

SAME = ("__new__", "__setattr__", "__getattribute__", "__delattr__")
"""What objects have to have of `object`, for attributes to be variables."""


class Naming(Protocol):
    """Gives names to what a function reads from outside besides."""

    outside: dict[str, Any]

    def fresh(self, hint: object) -> str: ...


@dataclass(frozen=True)
class Beginning:
    """An object that is made.

    Attributes:
        block: a statement around those that do so.
    """

    name: str
    block: ast.If


def is_plain(kind: type) -> bool:
    """Whether objects of a class are no more than what they hold, and begin with a function."""
    if type(kind) is not type or any(getattr(kind, n) is not getattr(object, n) for n in SAME):
        return False
    if kind.__module__ == "builtins" or hasattr(kind, "__getattr__") or hasattr(kind, "__del__"):
        return False
    return isinstance(kind.__init__, FunctionType)


def beginning(
    kind: type,
    name: str,
    node: ast.Assign,
    naming: Naming,
    names: Mapping[str, Any],
    bound: Container[str],
) -> Beginning:
    """The statements that make an object.

    Args:
        names: that the function knows of outside.
        bound: those of its variables.
    """
    assert isinstance(node.value, ast.Call)
    body = _Begins(name, node, naming, names, bound).of(kind, kind, node.value)
    block = ast.If(ast.Constant(True), body or [ast.Pass()], [])
    return Beginning(name, ast.fix_missing_locations(ast.copy_location(block, node)))


class _Begins:
    def __init__(
        self,
        name: str,
        node: ast.Assign,
        naming: Naming,
        names: Mapping[str, Any],
        bound: Container[str],
    ) -> None:
        self._name, self._node, self._naming = name, node, naming
        self._names, self._bound = names, bound
        self._depth = 0

    def of(self, kind: type, base: type, call: ast.Call) -> list[ast.stmt]:
        """What ``base.__init__(self, *args)`` does, of an object of a kind."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise UnclearError
        mro = kind.__mro__
        for owner in mro[mro.index(base) :]:
            if "__init__" in vars(owner):
                break
        else:
            raise UnclearError
        function = vars(owner)["__init__"]
        if owner is object:
            if call.args or call.keywords:
                raise UnclearError
            return []
        if not isinstance(function, FunctionType):
            raise UnclearError
        if function.__code__.co_filename == "<string>":
            if not dataclasses.is_dataclass(owner):
                raise UnclearError
            return self._of_dataclass(owner, function, call)
        return self._of_function(kind, owner, function, call)

    # -- functions ------------------------------------------------------------------------------

    def _of_function(
        self, kind: type, owner: type, function: FunctionType, call: ast.Call
    ) -> list[ast.stmt]:
        node = copy.deepcopy(parsed(function))
        inner = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Return, ast.Try, ast.Delete)
        scopes = (*inner, ast.Global, ast.Nonlocal, ast.NamedExpr)
        if any(isinstance(n, scopes) for n in ast.walk(node) if n is not node):
            raise UnclearError
        first = node.args.args[0].arg
        variables = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        own = {n.id for n in variables if not isinstance(n.ctx, ast.Load)}
        if first in own:
            raise UnclearError
        given = self._given(function, call)
        renamed = {name: self._naming.fresh(name) for name in (own | given.keys()) - {first}}
        known = names_of(function)
        for name in {n.id for n in variables} - own - given.keys() - {first, "super"}:
            renamed |= self._outside(name, known)
        renamed[first] = self._name
        made = [
            self._assigned(renamed[name], value) for name, value in given.items() if name != first
        ]
        for one in node.body:
            match one:
                case ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(
                            value=ast.Call(func=ast.Name(id="super"), args=[], keywords=[]),
                            attr="__init__",
                        )
                    ) as above
                ):
                    for part in (*above.args, *above.keywords):
                        _rename(part, renamed)
                    after = kind.__mro__[kind.__mro__.index(owner) + 1]
                    made += self.of(kind, after, above)
                    continue
            if "super" in mentioned(one):
                raise UnclearError
            _rename(one, renamed)
            made.append(one)
        return made

    def _outside(self, name: str, known: Mapping[str, Any]) -> dict[str, str]:
        """A name that a function of another place reads from outside, here."""
        found = known.get(name, MISSING)
        shared = name not in self._bound and self._names.get(name, MISSING) is found
        if shared and (found is not MISSING or hasattr(builtins, name)):
            return {}
        if not isinstance(found, FIXED):
            raise UnclearError
        new = self._naming.fresh(name)
        self._naming.outside[new] = found
        return {name: new}

    def _given(self, function: FunctionType, call: ast.Call) -> dict[str, ast.expr]:
        """The values of parameters, in the order in which they are computed."""
        if any(isinstance(arg, ast.Starred) for arg in call.args):
            raise UnclearError
        named = {k.arg: k.value for k in call.keywords if k.arg is not None}
        if len(named) < len(call.keywords):
            raise UnclearError
        signature = inspect.signature(function)
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values()):
            raise UnclearError
        try:
            bound = signature.bind(self, *call.args, **named)
        except TypeError:
            raise UnclearError from None
        (first, *_) = signature.parameters
        found = {name: value for name, value in bound.arguments.items() if name != first}
        order = [*call.args, *named.values()]
        found = dict(sorted(found.items(), key=lambda item: order.index(item[1])))
        for name, parameter in signature.parameters.items():
            if name != first and name not in found:
                found[name] = self._constant(name, parameter.default)
        return found

    def _constant(self, name: str, value: Any) -> ast.expr:
        if value is None or type(value) in (bool, int, float, str):
            return ast.Constant(value)
        new = self._naming.fresh(name)
        self._naming.outside[new] = value
        return ast.Name(new, ast.Load())

    def _assigned(self, name: str, value: ast.expr) -> ast.stmt:
        made = ast.Assign([ast.Name(name, ast.Store())], value)
        return ast.fix_missing_locations(ast.copy_location(made, self._node))

    # -- dataclasses ----------------------------------------------------------------------------

    def _of_dataclass(self, owner: type, function: FunctionType, call: ast.Call) -> list[ast.stmt]:
        given = self._given(function, call)
        asked = {*self._asked(function, call)}
        made: list[ast.stmt] = []
        values: dict[str, ast.expr] = {}
        for name, value in given.items():
            if name in asked:
                new = self._naming.fresh(name)
                made.append(self._assigned(new, value))
                values[name] = ast.Name(new, ast.Load())
        fields = dataclasses.fields(owner)
        if asked - {field.name for field in fields}:
            raise UnclearError
        for field in fields:
            if field.name in values:
                value = values[field.name]
            elif field.default is not dataclasses.MISSING:
                value = self._constant(field.name, field.default)
            elif field.default_factory is not dataclasses.MISSING:
                value = self._fresh(field.default_factory)
            else:
                raise UnclearError
            target = ast.Attribute(ast.Name(self._name, ast.Load()), field.name, ast.Store())
            one = ast.Assign([target], value)
            made.append(ast.fix_missing_locations(ast.copy_location(one, self._node)))
        after = inspect.getattr_static(owner, "__post_init__", None)
        if after is not None:
            if not isinstance(after, FunctionType):
                raise UnclearError
            again = ast.parse(f"{self._name}.__post_init__()").body
            made += [ast.copy_location(one, self._node) for one in again]
        return made

    def _asked(self, function: FunctionType, call: ast.Call) -> Sequence[str]:
        names = list(inspect.signature(function).parameters)[1:]
        return [*names[: len(call.args)], *(k.arg for k in call.keywords if k.arg)]

    def _fresh(self, factory: Any) -> ast.expr:
        if factory is list:
            return ast.List([], ast.Load())
        if factory is dict:
            return ast.Dict([], [])
        return ast.Call(self._constant("make", factory), [], [])


def _rename(node: ast.AST, names: Mapping[str, str]) -> None:
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            one.id = names.get(one.id, one.id)
