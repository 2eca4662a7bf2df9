"""Records: dicts, named tuples and objects, as tuples whose items have names.

Before::

    def step(u, p):                     class Wave:
        return u + p["dt"] * p["c"]         def step(self, u):
                                                return u + self.dt * self.speed()

After: as if each item had been passed by itself, and methods were functions::

    u + p_dt * p_c

Records are never changed: what stores into one is refused.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from loopbook.frontend.values import Thing, Tup, Value

if TYPE_CHECKING:
    from loopbook.frontend.translate import Translator


class Making:
    """Makes a record of its items, for Python and for loops alike.

    Args:
        kind: what it is: `dict`, `list`, a class of named tuples or of objects. Objects are made
            without their ``__init__``.
        names: of the items.
        whole: whether what belongs to the class, such as methods, may be used too.
    """

    def __init__(self, kind: type, names: tuple[Any, ...], *, whole: bool = False) -> None:
        self.kind, self.names, self.whole = kind, names, whole

    def __call__(self, *values: Any) -> Any:
        if self.kind is list:
            return list(values)
        if self.kind is dict:
            return dict(zip(self.names, values, strict=True))
        if issubclass(self.kind, tuple):
            return self.kind(*values)
        made = object.__new__(self.kind)
        for name, value in zip(self.names, values, strict=True):
            object.__setattr__(made, name, value)
        return made

    @property
    def inherited(self) -> list[tuple[str, Any]]:
        """What the class and those that it is made of have, by name, if it may be used."""
        found = {
            name: value.fget if isinstance(value, property) else value
            for base in reversed(self.kind.__mro__[:-1])
            for name, value in vars(base).items()
            if self.whole and not name.startswith("__")
        }
        return sorted(found.items())


@dataclass(frozen=True)
class Fields(Tup):
    """A tuple whose items have names; a list that the caller has, where the names are places.

    Attributes:
        given: whether it is the caller's own.
    """

    names: tuple[Any, ...] = ()
    kind: type = dict
    given: bool = False

    def of(self, items: Iterable[Any]) -> Fields:
        return replace(self, items=tuple(items))

    @property
    def labels(self) -> tuple[Any, ...]:
        return self.kind, self.names

    def each(self) -> tuple[Any, ...]:
        if self.kind is dict:
            from loopbook.frontend.expressions import wrapped

            return tuple(map(wrapped, self.names))
        return self.items

    def with_item(self, name: Any, item: Any) -> Fields:
        """The same with another item of a name, which is the last one if it is new."""
        items = dict(zip(self.names, self.items, strict=True)) | {name: item}
        return replace(self, items=tuple(items.values()), names=tuple(items))

    def item(self, name: Any) -> Any:
        """The item of a name; None if there is none."""
        return self.items[self.names.index(name)] if name in self.names else None


@dataclass(frozen=True)
class Method:
    """A function of a class, with the object that it is called of."""

    function: FunctionType
    owner: Fields


@dataclass(frozen=True)
class Replacing:
    """``_replace`` of a named tuple."""

    owner: Fields

    def __call__(self, t: Translator, *args: Value, **items: Value) -> Fields:
        """The same with other items."""
        if args:
            raise t.code.fail("_replace() of what has no name")
        if new := items.keys() - {*self.owner.names}:
            raise t.code.fail(f"a {self.owner.kind.__name__} has no {min(new)}")
        fixed = {name: t.fixed(item) for name, item in items.items()}
        kept = zip(self.owner.names, self.owner.items, strict=True)
        return replace(self.owner, items=tuple(fixed.get(n, item) for n, item in kept), given=False)


_OTHERWISE = (
    "__bool__", "__contains__", "__getattr__", "__getattribute__", "__getitem__", "__iter__",
    "__len__", "__setattr__",
)  # fmt: skip
"""What makes a class's items, length or truth other ones than its fields give."""


def _check(t: Translator, kind: type) -> None:
    """Raise for objects that do not behave as their fields do."""
    for name in _OTHERWISE:
        found = inspect.getattr_static(kind, name, None)
        if isinstance(found, FunctionType) and found.__code__.co_filename != "<string>":
            raise t.code.fail(f"a {kind.__name__}, whose {name} is its own")


def made(t: Translator, making: Making, items: Iterable[Value]) -> Fields:
    """The record that `making` would make."""
    _check(t, making.kind)
    return Fields(tuple(items), making.kind is list, making.names, making.kind, True)


def is_record(kind: Any) -> bool:
    """Whether calls of a class make a record of their arguments, and do nothing else."""
    if not isinstance(kind, type):
        return False
    if issubclass(kind, tuple):
        return hasattr(kind, "_fields") and kind.__new__ is not tuple.__new__
    if not dataclasses.is_dataclass(kind) or "__post_init__" in dir(kind):
        return False
    begin = vars(kind).get("__init__")
    return isinstance(begin, FunctionType) and begin.__code__.co_filename == "<string>"


def of_call(t: Translator, kind: type, args: list[Value], kwargs: dict[str, Value]) -> Fields:
    """``kind(*args, **kwargs)``, for a kind that `is_record`."""
    from loopbook.frontend.expressions import wrapped

    _check(t, kind)
    try:
        bound = inspect.signature(kind).bind(*args, **kwargs)
    except TypeError as error:
        raise t.code.fail(f"{kind.__name__}(): {error}") from None
    given = dict(bound.arguments)
    for name, parameter in bound.signature.parameters.items():
        if name not in given:
            given[name] = wrapped(parameter.default)
    return Fields(tuple(map(t.fixed, given.values())), False, tuple(given), kind)


def displayed(t: Translator, node: ast.Dict) -> Fields:
    """``{"a": x, **others}``, of keys that are known."""
    found: dict[Any, Value] = {}
    for key, part in zip(node.keys, node.values, strict=True):
        value = t.fixed(t.expr(part))
        if key is not None:
            found[t.python(t.expr(key))] = value
        else:
            found |= named(t, value)
    return Fields(tuple(found.values()), False, tuple(found))


def named(t: Translator, value: Value) -> dict[Any, Value]:
    """The items of a dict, as ``**`` takes them."""
    if not isinstance(value, Fields) or value.kind is not dict:
        raise t.code.fail("** of what is no dict that is known")
    return dict(zip(value.names, value.items, strict=True))


def attribute(t: Translator, owner: Fields, name: str) -> Value:
    """``owner.name``: an item, or what its class has."""
    from loopbook.frontend.expressions import wrapped
    from loopbook.frontend.inline import inline

    if name in owner.names:
        return owner.item(name)
    if issubclass(owner.kind, tuple) and name in ("_replace", "_fields"):
        return Thing(Replacing(owner)) if name == "_replace" else wrapped(owner.names)
    found = inspect.getattr_static(owner.kind, name, None)
    if isinstance(found, FunctionType):
        return Thing(Method(found, owner))
    if isinstance(found, property) and isinstance(found.fget, FunctionType):
        return inline(t, found.fget, [owner], {})
    if isinstance(found, staticmethod):
        return Thing(found.__func__)
    if isinstance(found, bool | int | float | complex | str | tuple):
        return wrapped(found)
    raise t.code.fail(f"the attribute {name} of {_article(owner.kind)}; pass what is needed of it")


def _article(kind: type) -> str:
    return f"a {kind.__name__}"


__all__ = [
    "Fields", "Making", "Method", "Replacing", "attribute", "displayed", "is_record", "made",
    "named", "of_call",
]  # fmt: skip
