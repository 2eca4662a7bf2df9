"""Functions that make objects for themselves, as ones of what these hold.

Before::

    def run(target, dt):
        level, control = 0.0, Control(2.0, gain=0.5)
        for n in range(len(target)):
            level += dt * control.step(target[n] - level)
        return level, control.total

After::

    def run(target, dt):
        level = 0.0
        limit, gain = 2.0, 0.5
        control_limit, control_gain, control_total = limit, gain, 0.0
        for n in range(len(target)):
            given, control_total = step(control_limit, control_total, target[n] - level)
            level += dt * given
        return level, control_total

Only objects that nothing else has: a function that returns one, or puts it into a list, stays.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import FunctionType, MemberDescriptorType
from typing import Any

from loopbook.client.variants.begun import DEEPEST, Beginning, beginning, is_plain
from loopbook.client.variants.called import Held, UnclearError
from loopbook.client.variants.definite_fields import read_unset
from loopbook.client.variants.methods import Speller
from loopbook.client.variants.parted import for_each, one_by_one
from loopbook.client.variants.remade import remade
from loopbook.client.variants.stored import Field, as_variables, field_of
from loopbook.errors import LoweringError
from loopbook.frontend.inline import names_of, parsed
from loopbook.frontend.records import is_record
from loopbook.syntax import bound, mentioned


class OwnObjects:
    """A function without the objects that it makes.

    Attributes:
        function: what computes the same.
    """

    def __init__(self, function: FunctionType, original: FunctionType, kinds: set[type]) -> None:
        self.function = function
        self._original = original
        self._names = {
            name: value for name, value in names_of(original).items() if _is_kind(value, kinds)
        }
        self._parts = [(kind, dict(vars(kind))) for one in kinds for kind in one.__mro__[:-1]]

    def holds(self) -> bool:
        """Whether the classes are still what they were."""
        now = names_of(self._original)
        return all(now.get(name) is value for name, value in self._names.items()) and all(
            vars(kind) == was for kind, was in self._parts
        )


def _is_kind(value: Any, kinds: set[type]) -> bool:
    return isinstance(value, type) and value in kinds


def without_objects(func: Callable[..., Any]) -> OwnObjects | None:
    """A function without the objects that it makes for itself; None where it makes none, or
    something may be done with them that nobody follows."""
    if not isinstance(func, FunctionType):
        return None
    function, kinds = func, set[type]()
    for _ in range(DEEPEST):  # objects may hold others
        found = _without(function)
        if found is None:
            break
        function, more = found
        kinds |= more
    return OwnObjects(function, func, kinds) if kinds else None


def _without(func: FunctionType) -> tuple[FunctionType, set[type]] | None:
    """The same without those that hold no others, and their classes."""
    try:
        node = copy.deepcopy(parsed(func))
        names = names_of(func)
        made = dict(_made(one_by_one(node, names), names))
        if not made or not _is_needed(node, made):
            return None
        for_each(node, made)
        speller = Speller(own=True)
        _spelled_out(node, made, names, speller)
        node.decorator_list, node.returns = [], None
        function = remade(func, node, speller.outside)
    except (UnclearError, LoweringError, SyntaxError):
        return None
    function.__defaults__, function.__kwdefaults__ = func.__defaults__, func.__kwdefaults__
    return function, {*made.values()}


def _made(node: ast.FunctionDef, names: Mapping[str, Any]) -> Iterator[tuple[str, type]]:
    """The names of objects that a function makes, and their classes."""
    own = bound([node.args, *node.body])
    for one in ast.walk(node):
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=kind))):
                found = names.get(kind)
                if kind not in own and isinstance(found, type) and is_plain(found):
                    yield name, found


def _is_needed(node: ast.FunctionDef, made: Mapping[str, type]) -> bool:
    """Whether there is more to its objects than to records, which are known by themselves."""
    if any(owner in made for owner, _ in _stores(node)):
        return True
    return any(not is_record(kind) or _methods_store(kind) for kind in made.values())


def _methods_store(kind: type) -> bool:
    """Whether methods of a class store into attributes, or change what these hold."""
    return any(
        isinstance(one, ast.Attribute | ast.Subscript) and not isinstance(one.ctx, ast.Load)
        for function in _functions(kind)
        for one in ast.walk(function)
    )


def _functions(kind: type) -> Iterator[ast.FunctionDef]:
    """The functions of a class that are written down, properties among them."""
    for base in kind.__mro__[:-1]:
        for value in vars(base).values():
            function = value.fget if isinstance(value, property) else value
            if isinstance(function, FunctionType):
                with suppress(LoweringError):
                    yield parsed(function)


def _is_bound(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)


def _spelled_out(
    node: ast.FunctionDef, made: Mapping[str, type], names: Mapping[str, Any], speller: Speller
) -> None:
    """Put what objects hold in their place.

    Raises:
        UnclearError: nobody follows what is done with them.
    """
    _check_uses(node, made, names)
    taken = bound([node.args, *node.body])
    begun: list[Beginning] = []

    class Begins(ast.NodeTransformer):
        def visit_Assign(self, one: ast.Assign) -> ast.AST:
            match one.targets:
                case [ast.Name(id=name)] if name in made:
                    assert isinstance(one.value, ast.Call)
                    begun.append(beginning(made[name], name, one, speller, names, taken))
                    return begun[-1].block
            return one

    Begins().visit(node)
    fields = {name: _fields(kind, name, node) for name, kind in made.items()}
    held = {name: Held(kind, fields[name], frozenset()) for name, kind in made.items()}
    speller.function(node, held, names)
    for name in made:
        blocks = [id(one.block) for one in begun if one.name == name]
        if read_unset(node.body, name, blocks):
            raise UnclearError
    _flattened(node, {id(one.block) for one in begun})
    own = {field: speller.fresh(f"{field[0]}_{field[1]}") for field in _used(node)}
    own = {field: name for field, name in own.items() if field[0] in made}
    as_variables(node, own)
    if mentioned(node) & made.keys():
        raise UnclearError


def _check_uses(node: ast.FunctionDef, made: Mapping[str, type], names: Mapping[str, Any]) -> None:
    """Raises where objects outlive what raises, functions within know them, or their names stand
    for something else at times."""
    for one in ast.walk(node):
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in made:
                match value:
                    case ast.Call(func=ast.Name(id=kind)) if names.get(kind) is made[name]:
                        continue
                raise UnclearError
            case ast.Try() | ast.Lambda() | ast.ClassDef() | ast.FunctionDef() if one is not node:
                if mentioned(one) & made.keys():
                    raise UnclearError
            case ast.Global() | ast.Nonlocal() | ast.arg():
                if {*getattr(one, "names", ()), getattr(one, "arg", "")} & made.keys():
                    raise UnclearError
    stored = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _is_bound(n)]
    makes = [
        one.targets[0].id
        for one in ast.walk(node)
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
    ]
    if any(stored.count(name) != makes.count(name) for name in made):
        raise UnclearError


def _fields(kind: type, name: str, node: ast.FunctionDef) -> frozenset[Any]:
    """What objects of a class may hold: whatever is stored into one."""
    found = {key for owner, key in _stores(node) if owner == name}
    if dataclasses.is_dataclass(kind):
        found |= {field.name for field in dataclasses.fields(kind)}
    for written in _functions(kind):
        if written.args.args:
            own = written.args.args[0].arg
            found |= {key for owner, key in _stores(written) if owner == own}
    for key in found:
        has = inspect.getattr_static(kind, key, None) if isinstance(key, str) else None
        is_data = hasattr(type(has), "__set__") and not isinstance(has, MemberDescriptorType)
        if not isinstance(key, str) or is_data or key.startswith("__"):
            raise UnclearError
    return frozenset(found)


def _stores(node: ast.FunctionDef) -> Iterator[Field]:
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load):
            field = field_of(one)
            if field is not None:
                yield field


def _used(node: ast.FunctionDef) -> dict[Field, None]:
    """Attributes of names, in order."""
    fields = (field_of(one) for one in ast.walk(node) if isinstance(one, ast.Attribute))
    return dict.fromkeys(field for field in fields if field is not None)


def _flattened(node: ast.AST, blocks: set[int]) -> None:
    """Statements of blocks in their place."""
    for part in ("body", "orelse", "finalbody"):
        inner = getattr(node, part, None)
        if not isinstance(inner, list):
            continue
        made = []
        for one in inner:
            _flattened(one, blocks)
            made += one.body if id(one) in blocks else [one]
        setattr(node, part, made)
