"""What dicts have: their items, keys and values.

Before::

    s = p.get("scale", 1.0)             for name, weight in weights.items():
                                            y = y + weight * fields[name]

After: as ``s = p["scale"]``, and the loop written out for each key.
"""

from __future__ import annotations

from loopbook.frontend.expressions import wrapped
from loopbook.frontend.records import Fields, named
from loopbook.frontend.registry import lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Thing, Tup, Value


@lowers(dict)
def dict_(t: Translator, given: Value | None = None, **values: Value) -> Value:
    found = ({} if given is None else named(t, given)) | values
    return Fields(tuple(map(t.fixed, found.values())), False, tuple(found))


@lowers(method="get")
def get(t: Translator, owner: Value, key: Value, default: Value | None = None) -> Value:
    items = named(t, owner)
    return items.get(t.python(key), Thing(None) if default is None else default)


@lowers(method="items")
def items(t: Translator, owner: Value) -> Value:
    return Tup(tuple(Tup((wrapped(name), item)) for name, item in named(t, owner).items()))


@lowers(method="keys")
def keys(t: Translator, owner: Value) -> Value:
    return Tup(tuple(map(wrapped, named(t, owner))))


@lowers(method="values")
def values(t: Translator, owner: Value) -> Value:
    return Tup(tuple(named(t, owner).values()))


__all__ = ["dict_", "get", "items", "keys", "values"]
