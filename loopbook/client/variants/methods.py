"""Functions that call others which store into objects and dicts among their arguments, as ones that
store themselves: methods, and functions that are given them.

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

where those that are called are functions of what they read, which return what they store besides.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, TypeGuard

from loopbook.client.variants.called import (
    Called,
    Held,
    Spelled,
    Statements,
    UnclearError,
)
from loopbook.client.variants.definite_fields import read_unset
from loopbook.client.variants.remade import remade
from loopbook.client.variants.stored import (
    Field,
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
from loopbook.frontend.inline import names_of, parsed
from loopbook.syntax import bound


def spelled_out(
    func: Callable[..., Any], objects: Mapping[str, Held]
) -> tuple[ast.FunctionDef, dict[str, Any]]:
    """A function's tree, and what it calls besides; the tree as it is where nothing that is called
    with these arguments stores into them, or it is unclear what does.

    Raises:
        LoweringError: if the function's source is not at hand.
    """
    node = parsed(func)
    if not objects or not isinstance(func, FunctionType):
        return node, {}
    speller = Speller()
    try:
        made = speller.function(copy.deepcopy(node), objects, names_of(func))
    except (UnclearError, LoweringError):
        return node, {}
    return (made, speller.outside) if speller.stores else (node, {})


class Speller:
    """Writes functions out.

    Args:
        own: whether the objects are the function's own, and gone when it raises.

    Attributes:
        outside: what others have become, by name.
        stores: whether one of them stores anything.
    """

    def __init__(self, own: bool = False) -> None:
        self._own = own
        self.outside: dict[str, Any] = {}
        self.stores = False
        self._made: dict[Any, Spelled | None] = {}
        self._kinds: dict[type, str] = {}
        self._count = 0

    def function(
        self, node: ast.FunctionDef, objects: Mapping[str, Held], names: Mapping[str, Any]
    ) -> ast.FunctionDef:
        """Calls with objects as those of functions, in place.

        Args:
            names: of what the function knows of outside.
        """
        own = bound([node.args, *node.body])
        if objects.keys() & {n.id for n in ast.walk(node) if _is_bound(n)}:
            raise UnclearError
        known = {name: value for name, value in names.items() if name not in own}
        node.body = Statements(self, objects, known).block(node.body)
        return ast.fix_missing_locations(node)

    def spelled(self, called: Called, objects: Mapping[str, Held]) -> Spelled:
        """What a function has become."""
        held = {name: objects[owner] for name, owner in called.owners.items()}
        if len({*called.owners.values()}) < len(called.owners):  # one object by two names
            raise UnclearError
        function: FunctionType = called.function
        key = (function, tuple(held.items()))
        if key not in self._made:
            self._made[key] = None
            self._made[key] = self._written(function, held)
        if (found := self._made[key]) is None:  # it calls itself
            raise UnclearError
        return found

    def named(self, kind: type) -> str:
        """What a class is called."""
        if kind not in self._kinds:
            self._kinds[kind] = self.fresh(kind.__name__)
            self.outside[self._kinds[kind]] = kind
        return self._kinds[kind]

    def fresh(self, hint: object) -> str:
        """A name that nobody has."""
        self._count += 1
        return re.sub(r"\W", "_", f"{hint}_{self._count}__")

    def _written(self, function: FunctionType, held: Mapping[str, Held]) -> Spelled:
        node = copy.deepcopy(parsed(function))
        given = node.args
        decorated = [d for d in node.decorator_list if ast.unparse(d) != "property"]
        if given.posonlyargs or given.vararg or given.kwarg or decorated:
            raise UnclearError
        self.function(node, held, names_of(function))
        fields = [field for inner in ast.walk(node) if (field := field_of(inner)) is not None]
        uses = sum(isinstance(n, ast.Name) and n.id in held for n in ast.walk(node))
        if uses != sum(name in held for name, _ in fields):
            raise UnclearError
        stored: list[Field] = []
        flagged: list[Field] = []
        read: list[Field] = []
        for owner, one in held.items():
            kept = one.arrays - replaced_fields(node, owner)  # changed in place
            at_times = one.arrays & replaced_at_times(node, owner)
            back = [n for n in stored_fields(node, owner) if n not in kept]
            stored += [(owner, n) for n in back]
            flagged += [(owner, n) for n in sorted(at_times, key=str)]
            needed = {*read_fields(node, owner), *at_times}
            if self._own:
                needed = {*read_unset(node.body, owner, given_back=back)}
            read += [(owner, n) for n in sorted(needed, key=str)]
        own = {field: self.fresh(f"{field[0]}_{field[1]}") for field in (*stored, *read)}
        gives = any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(node))
        if stored:
            self.stores = True
            check_stores(node, held, raises=not self._own)
            flags = {field: self.fresh(f"has_{field[1]}") for field in flagged}
            returning(node, own, [own[field] for field in stored], flags)
        else:
            as_variables(node, own)
        defaults = _without(given, held, function)
        given.args = [*(ast.arg(own[field]) for field in read), *given.args]
        node.decorator_list, node.returns = [], None
        made = remade(function, node, self.outside)
        made.__defaults__, made.__kwdefaults__ = defaults, function.__kwdefaults__
        name = self.fresh(function.__name__)
        self.outside[name] = made
        return Spelled(name, tuple(read), tuple(stored), tuple(flagged), gives)


def _without(
    given: ast.arguments, held: Mapping[str, Held], function: FunctionType
) -> tuple[Any, ...] | None:
    """The defaults of the parameters that are left without those that are objects, in place."""
    if any(arg.arg in held for arg in given.kwonlyargs):
        raise UnclearError
    defaults = function.__defaults__ or ()
    with_default = given.args[len(given.args) - len(defaults) :]
    if any(arg.arg in held for arg in with_default):
        raise UnclearError
    given.args = [arg for arg in given.args if arg.arg not in held]
    return function.__defaults__


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_bound(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and not _is_load(node)


__all__ = ["Held", "Speller", "spelled_out"]
