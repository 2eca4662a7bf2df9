"""Members of JSON objects, taken out with their types checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopbook.errors import SdfgError
from loopbook.program.expr import Expr

Json = dict[str, Any]


def mapping(value: Any, what: str) -> Json:
    """A JSON object.

    Raises:
        SdfgError: if `value` is none, as all functions here.
    """
    if type(value) is not dict:
        raise SdfgError(f"the SDFG is damaged: {what} is no JSON object")
    return value


def text(owner: Mapping[str, Any], key: str) -> str:
    """A member that is a string."""
    value = owner.get(key)
    if type(value) is not str:
        raise _damaged(owner, key)
    return value


def number(owner: Mapping[str, Any], key: str) -> int:
    """A member that is a whole number."""
    value = owner.get(key)
    if type(value) is not int:
        raise _damaged(owner, key)
    return value


def truth(owner: Mapping[str, Any], key: str) -> bool:
    """A member that is true or false."""
    value = owner.get(key)
    if type(value) is not bool:
        raise _damaged(owner, key)
    return value


def many(owner: Mapping[str, Any], key: str) -> list[Any]:
    """A member that is a list."""
    value = owner.get(key)
    if type(value) is not list:
        raise _damaged(owner, key)
    return value


def texts(owner: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A member that is a list of strings."""
    found = many(owner, key)
    for one in found:
        if type(one) is not str:
            raise _damaged(owner, key)
    return tuple(found)


def expression(owner: Mapping[str, Any], key: str) -> Expr:
    """A member that is an expression."""
    return Expr(text(owner, key))


def expressions(owner: Mapping[str, Any], key: str) -> tuple[Expr, ...]:
    """A member that is a list of expressions."""
    return tuple(map(Expr, texts(owner, key)))


class UnknownMemberError(SdfgError):
    """An object has a member that is not known here, so it is not understood. Readers catch it."""


def only(owner: Json, known: frozenset[str]) -> None:
    """Refuse members other than the known ones.

    Raises:
        UnknownMemberError: if there are others.
    """
    if not owner.keys() <= known:
        name = min(owner.keys() - known)
        raise UnknownMemberError(f"the SDFG has an unknown member {name[:40]!r}")


def _damaged(owner: Mapping[str, Any], key: str) -> SdfgError:
    what = owner.get("type")
    name = what if isinstance(what, str) and len(what) < 40 else "an object"
    return SdfgError(f"the SDFG is damaged: {name} has no usable {key}")
