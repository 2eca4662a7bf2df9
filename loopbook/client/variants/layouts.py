"""What there is in arguments that are tuples, lists, dicts, objects and functions.

The layout of ``(x, {"rate": 0.5})`` is ``(None, Record(dict, ("rate",), (None,)))``: None for what
compiled code can be given as it is.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from loopbook.client.variants.case import ALL_SCALARS, THINGS
from loopbook.client.variants.methods import Held, spelled_out
from loopbook.client.variants.stored import (
    Owner,
    field_of,
    is_given_back,
    read_fields,
    replaced_at_times,
    replaced_fields,
    stored_fields,
)
from loopbook.errors import LoweringError

MOST_ITEMS = 16
"""Longer lists are no arguments of their own each."""

LIBRARIES = frozenset(
    ("builtins", "numpy", "scipy", "pandas", "torch", "jax", "cupy", "collections")
)
"""Objects of their classes are more than what they hold."""


@dataclass(frozen=True)
class Record:
    """The layout of what has named items: kind and names, and the layouts of the items.

    Attributes:
        whole: whether what belongs to its class is used as well.
        stored: what the function stores into.
        arrays: which items are arrays, if it stores into any.
        all: whether those are all of its items.
        flagged: which of what is stored some calls leave as it is.
        returned: whether the function may return it.
    """

    kind: type
    names: tuple[Any, ...]
    items: tuple[Layout, ...]
    whole: bool = False
    stored: tuple[Any, ...] = ()
    arrays: frozenset[Any] | None = None
    all: bool = True
    flagged: tuple[Any, ...] = ()
    returned: bool = False


def is_owner(form: Layout) -> bool:
    """Whether the object itself is needed after a call."""
    return isinstance(form, Record) and bool(form.stored or form.returned)


class Called:
    """A function that is passed: it is not an argument of compiled code, but part of it. Equal to
    another one of the same code that closes over the same numbers."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self._key = _key_of(function)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Called) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)


Layout = tuple["Layout", ...] | Record | Called | int | None
"""Of a tuple: that of its items, where whole numbers below nought stand for themselves: they say
which axis, or that a size follows from the others. None for what is an argument of its own."""


def _key_of(function: Any) -> Any:
    if not isinstance(function, FunctionType):
        return id(function)
    try:
        held = tuple(cell.cell_contents for cell in function.__closure__ or ())
    except ValueError:
        return id(function)
    held += function.__defaults__ or ()
    if not all(isinstance(value, int | float | str | None) for value in held):
        return id(function)
    kinds = tuple(map(type, held))
    return function.__code__, id(function.__globals__), repr(held), kinds


class Wanted:
    """Which items of its arguments a function asks for, and which arguments are tuples or dicts of
    all that was passed besides.

    Attributes:
        count: of its parameters, unless some take any number of arguments; 0 then.
    """

    def __init__(self, func: Callable[..., Any], signature: inspect.Signature) -> None:
        self._func, self._signature = func, signature
        kinds = [p.kind for p in signature.parameters.values()]
        self._any = any(kind in (kind.VAR_POSITIONAL, kind.VAR_KEYWORD) for kind in kinds)
        self.count = 0 if self._any else len(kinds)
        self._found: dict[Any, list[_Uses]] = {}

    def packed(self, args: Sequence[Any]) -> tuple[Layout, ...] | None:
        """The layouts of arguments among which there are some that compiled code cannot take as
        they are; None if there are none."""
        if not self._any and not any(_is_packed(value) for value in args):
            return None
        found = self._fields(args)
        if any(uses.stored for uses in found) and len({*map(id, args)}) < len(args):
            own = [id(value) for value in args if _is_packed(value)]
            if len({*own}) < len(own):
                raise LoweringError("storing into what was passed twice")
        return tuple(
            layout(value, uses) if _is_packed(value) else None
            for value, uses in zip(args, found, strict=True)
        )

    def _fields(self, args: Sequence[Any]) -> list[_Uses]:
        names = list(self._signature.parameters)
        kinds = {
            name: Held(type(value), frozenset(items), _arrays_in(items))
            for name, value in zip(names, args, strict=True)
            if _is_packed(value) and not isinstance(value, tuple | list)
            if not _is_function(value)
            for items in [_items_of(value)]
        }
        key = tuple(kinds.items())
        if key not in self._found:
            try:
                node, _ = spelled_out(self._func, kinds)
            except LoweringError:
                self._found[key] = [_Uses() for _ in names]
            else:
                self._found[key] = [_uses_of(node, name) for name in names]
        return self._found[key]


def _arrays_in(items: Mapping[Any, Any]) -> frozenset[Any]:
    return frozenset(name for name, item in items.items() if isinstance(item, np.ndarray))


def held(func: Callable[..., Any], layouts: Sequence[Layout]) -> dict[str, Held]:
    """What objects and dicts among arguments of these layouts hold."""
    pairs = zip(inspect.signature(func).parameters, layouts, strict=True)
    return {
        name: Held(form.kind, frozenset((*form.names, *form.stored)), form.arrays or frozenset())
        for name, form in pairs
        if isinstance(form, Record) and not issubclass(form.kind, tuple | list)
    }


@dataclass(frozen=True)
class _Uses:
    """What a function does with an argument.

    Attributes:
        read: the attributes and keys that it reads; None if that may be all.
        stored: those that it stores into.
        replaced: those of them that it does not only change in place.
        at_times: those of them that some calls leave as they are.
        returned: whether it is returned itself.
    """

    read: frozenset[Any] | None = None
    stored: tuple[Any, ...] = ()
    replaced: frozenset[Any] = frozenset()
    at_times: frozenset[Any] = frozenset()
    returned: bool = False


def _uses_of(node: ast.FunctionDef, name: str) -> _Uses:
    """What a function does with the argument of a name."""
    uses = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
    returned = len(is_given_back(node, name))
    fields = [field_of(inner) for inner in ast.walk(node)]
    stored = stored_fields(node, name)
    if uses - returned != sum(field is not None and field[0] == name for field in fields):
        return _Uses(None, stored, returned=returned > 0)
    return _Uses(
        read_fields(node, name), stored, replaced_fields(node, name), replaced_at_times(node, name),
        returned > 0,
    )  # fmt: skip


def _is_packed(value: Any) -> bool:
    kind = type(value)
    if kind is np.ndarray or kind in ALL_SCALARS or isinstance(value, THINGS):
        return False
    return kind in (tuple, list, dict) or _is_function(value) or _is_record(value)


def _is_function(value: Any) -> bool:
    return isinstance(value, FunctionType | np.ufunc)


def _is_record(value: Any) -> bool:
    """Whether it is a named tuple, or an object that is no more than what it holds."""
    kind = type(value)
    if isinstance(value, tuple):
        return hasattr(kind, "_fields")
    if isinstance(value, np.ndarray | np.generic) or not hasattr(value, "__dict__"):
        return False
    return _only_holds(kind) and (
        not callable(value) or isinstance(inspect.getattr_static(kind, "__call__"), FunctionType)
    )


@lru_cache(maxsize=256)
def _only_holds(kind: type) -> bool:
    """Whether objects of a class have what is in them, and nothing else."""
    if kind.__module__.partition(".")[0] in LIBRARIES:
        return False
    own = {name for base in kind.__mro__[:-1] for name in vars(base)}
    return not own & {"__getattr__", "__getattribute__", "__slots__"}


def layout(value: Any, uses: _Uses = _Uses()) -> Layout:
    """What is in an argument.

    Args:
        uses: what the function does with it.

    Raises:
        LoweringError: if it is a list with more items than can be arguments, or is stored into
            where that cannot be done afterwards.
    """
    if type(value) is tuple:
        return tuple(item if _stays(item) else layout(item) for item in value)
    if type(value) is list:
        if len(value) > MOST_ITEMS:
            raise LoweringError("a list of many items as an argument; pass an array")
        inner = tuple(map(layout, value))
        return Record(list, tuple(range(len(value))), inner, returned=uses.returned)
    if _is_function(value):
        return Called(value)
    if not _is_packed(value):
        return None
    items, wanted = _items_of(value), uses.read
    rest = frozenset() if wanted is None else wanted - items.keys()
    arrays = _arrays_in(items)
    stored = tuple(n for n in uses.stored if n in uses.replaced or n not in arrays)
    if stored and _may_be_stored(value, stored, rest, wanted is None):
        rest = frozenset()
    elif stored:
        stored = ()  # which is refused, unless it is an array that is changed in place
    whole = not isinstance(value, tuple | dict) and (wanted is None or bool(rest))
    if isinstance(value, dict) and wanted is not None and not rest:
        items = {name: item for name, item in items.items() if name in wanted}
    elif not isinstance(value, tuple | dict):
        items = {
            name: item
            for name, item in items.items()
            if (_can_be_passed(item) if whole or wanted is None else name in wanted)
        }
    inner = tuple(map(layout, items.values()))
    # A copy must not take the place of one that others may have, too.
    flagged = tuple(name for name in stored if name in arrays and name in uses.at_times)
    returned = uses.returned and not isinstance(value, tuple)
    return Record(
        type(value), tuple(items), inner, whole, stored, arrays if uses.stored else None,
        wanted is None, flagged, returned,
    )  # fmt: skip


def _may_be_stored(
    value: Any, stored: Sequence[Any], missing: frozenset[Any], unclear: bool
) -> bool:
    """Whether what a function stores into can be stored after it."""
    if unclear or missing or isinstance(value, tuple):
        return False
    if isinstance(value, dict):
        return True
    kind = type(value)
    if kind.__setattr__ is not object.__setattr__:
        return False
    return all(name in vars(value) or not hasattr(kind, name) for name in stored)


def _items_of(value: Any) -> dict[Any, Any]:
    if isinstance(value, dict):
        return value
    if isinstance(value, tuple):
        return dict(zip(type(value)._fields, value, strict=True))  # type: ignore[attr-defined]
    return vars(value)


def _can_be_passed(value: Any) -> bool:
    if type(value) in (tuple, list):
        return len(value) <= MOST_ITEMS and all(map(_can_be_passed, value))
    return isinstance(value, np.ndarray) or type(value) in ALL_SCALARS or isinstance(value, THINGS)


def _stays(item: Any) -> bool:
    return type(item) is int and item < 0


def items(values: Sequence[Any], layouts: Sequence[Layout]) -> list[Any]:
    """What is in arguments of these layouts, and those that have none, one by one."""
    return [x for value, form in zip(values, layouts, strict=True) for x in _inner(value, form)]


def fits(value: Any, form: Layout) -> bool:
    """Whether a layout is that of an argument, found cheaply; False where it is hard to say."""
    kind = type(value)
    if form is None:
        return kind is np.ndarray or kind in ALL_SCALARS
    if isinstance(form, Record):
        return kind is form.kind and not form.whole and _holds(value, form)
    if isinstance(form, tuple):
        return kind is tuple and len(value) == len(form) and all(map(fits, value, form))
    return form.function is value if isinstance(form, Called) else kind is int and value == form


def _holds(value: Any, form: Record) -> bool:
    if isinstance(value, tuple | list):
        return len(value) == len(form.items) and all(map(fits, value, form.items))
    known = value if form.kind is dict else vars(value)
    if form.all and len(known) != len(form.names):
        return False
    for name, inner in zip(form.names, form.items, strict=True):
        if name not in known or not fits(known[name], inner):
            return False
    if form.arrays is None:
        return True
    return form.arrays == {name for name, item in known.items() if type(item) is np.ndarray}


def _inner(value: Any, form: Layout) -> Sequence[Any]:
    if form is None:
        return (value,)
    if isinstance(form, int | Called):
        return ()
    if isinstance(form, tuple):
        return items(value, form)
    held = value if form.kind is list or isinstance(value, tuple) else None
    if held is None:
        known = _items_of(value)
        held = [known[name] for name in form.names]
    return items(held, form.items)


def stored_into(values: Sequence[Any], layouts: Sequence[Layout]) -> list[Owner]:
    """Arguments that a function stores into, or may return."""
    return [
        Owner(value, form.stored, form.flagged)
        for value, form in zip(values, layouts, strict=True)
        if isinstance(form, Record) and is_owner(form)
    ]
