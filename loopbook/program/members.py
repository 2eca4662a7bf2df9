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
    return _of_type(owner, key, str)


def number(owner: Mapping[str, Any], key: str) -> int:
    """A member that is a whole number."""
    return _of_type(owner, key, int)


def truth(owner: Mapping[str, Any], key: str) -> bool:
    """A member that is true or false."""
    return _of_type(owner, key, bool)


def many(owner: Mapping[str, Any], key: str) -> list[Any]:
    """A member that is a list."""
    return _of_type(owner, key, list)


def object_(owner: Mapping[str, Any], key: str) -> Json:
    """A member that is a JSON object."""
    return _of_type(owner, key, dict)


def texts(owner: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A member that is a list of strings."""
    found = many(owner, key)
    if any(type(one) is not str for one in found):
        raise _damaged(owner, key)
    return tuple(found)


def expression(owner: Mapping[str, Any], key: str) -> Expr:
    """A member that is an expression."""
    return Expr(_of_type(owner, key, str))


def expressions(owner: Mapping[str, Any], key: str) -> tuple[Expr, ...]:
    """A member that is a list of expressions."""
    return tuple(map(Expr, texts(owner, key)))


class UnknownMemberError(SdfgError):
    """An object has a member that is not known here, so it is not understood."""


def only(owner: Json, known: frozenset[str]) -> None:
    """Refuse members other than the known ones.

    Raises:
        UnknownMemberError: if there are others.
    """
    if not owner.keys() <= known:
        name = min(owner.keys() - known)
        raise UnknownMemberError(f"the SDFG has an unknown member {name[:40]!r}")


def _of_type(owner: Mapping[str, Any], key: str, kind: type) -> Any:
    value = owner.get(key)
    if type(value) is not kind:
        raise _damaged(owner, key)
    return value


def _damaged(owner: Mapping[str, Any], key: str) -> SdfgError:
    what = owner.get("type")
    name = what if isinstance(what, str) and len(what) < 40 else "an object"
    return SdfgError(f"the SDFG is damaged: {name} has no usable {key}")
