"""Types of containers as docc's JSON, there and back."""

from __future__ import annotations

from typing import Any

from loopbook.errors import SdfgError
from loopbook.program import members
from loopbook.program.expr import Expr
from loopbook.program.kept import Kept
from loopbook.program.members import Json
from loopbook.program.types import (
    DTYPES,
    STACK,
    Array,
    Pointer,
    Scalar,
    Storage,
    Structure,
    Tensor,
    Type,
    UnknownType,
)

_NUMBERS = {name: number for number, name in enumerate(DTYPES)}
_ON_STACK = {"allocation": 0, "deallocation": 0, "value": "CPU_Stack"}
_STORAGE = frozenset({"allocation", "deallocation", "value", "allocation_size"})
_COMMON = frozenset({"type", "alignment", "initializer", "storage_type"})
_MEMBERS = {
    "scalar": _COMMON | {"primitive_type"},
    "pointer": _COMMON | {"pointee_type"},
    "array": _COMMON | {"element_type", "num_elements"},
    "tensor": _COMMON | {"element_type", "shape", "strides", "offset"},
    "structure": _COMMON | {"name"},
}


def read_type(raw: Any) -> Type:
    """A type.

    Raises:
        SdfgError: if it is damaged.
    """
    raw = members.mapping(raw, "a type")
    kind = members.text(raw, "type")
    inner = raw.get("pointee_type")
    number = (inner if type(inner) is dict else raw).get("primitive_type")
    for plain, found in _PLAIN.get(number, ()) if type(number) is int else ():
        if raw == plain:
            return found
    try:
        if kind in _MEMBERS:
            members.only(raw, _MEMBERS[kind])
            return _read(kind, raw)
    except members.UnknownMemberError:
        pass
    return UnknownType(Kept.of(raw))


def _read(kind: str, raw: Json) -> Type:
    storage = _read_storage(members.mapping(raw.get("storage_type"), "a storage type"))
    named: Json = {
        "storage": storage,
        "alignment": members.number(raw, "alignment"),
        "initializer": members.text(raw, "initializer"),
    }
    match kind:
        case "scalar":
            return Scalar(read_dtype(raw), **named)
        case "pointer":
            return Pointer(
                read_type(raw["pointee_type"]) if "pointee_type" in raw else None, **named
            )
        case "array":
            count = members.expression(raw, "num_elements")
            return Array(read_type(raw.get("element_type")), count, **named)
        case "tensor":
            return Tensor(
                read_type(raw.get("element_type")),
                members.expressions(raw, "shape"),
                members.expressions(raw, "strides"),
                members.expression(raw, "offset"),
                **named,
            )
    return Structure(members.text(raw, "name"), **named)


def _read_storage(raw: Json) -> Storage:
    if raw == _ON_STACK:
        return STACK
    members.only(raw, _STORAGE)
    return Storage(
        members.text(raw, "value"),
        members.number(raw, "allocation"),
        members.number(raw, "deallocation"),
        members.expression(raw, "allocation_size") if "allocation_size" in raw else None,
    )


def read_dtype(owner: Json) -> str:
    """The primitive type whose number `owner` has.

    Raises:
        SdfgError: if docc knows no such type.
    """
    number = members.number(owner, "primitive_type")
    if not 0 <= number < len(DTYPES):
        raise SdfgError(f"the SDFG is damaged: there is no type number {number}")
    return DTYPES[number]


def write_type(given: Type) -> Json:
    """A type's JSON."""
    if isinstance(given, UnknownType):
        return given.kept.value
    raw: Json = {
        "alignment": given.alignment,
        "initializer": given.initializer,
        "storage_type": _write_storage(given.storage),
    }
    match given:
        case Scalar(dtype=dtype):
            return raw | {"type": "scalar", "primitive_type": write_dtype(dtype)}
        case Pointer(to=to):
            inner = {} if to is None else {"pointee_type": write_type(to)}
            return raw | {"type": "pointer"} | inner
        case Array(of=of, count=count):
            inner = write_type(of)
            return raw | {"type": "array", "element_type": inner, "num_elements": count.text}
        case Tensor():
            return raw | {
                "type": "tensor",
                "element_type": write_type(given.of),
                "shape": _texts(given.shape),
                "strides": _texts(given.strides),
                "offset": given.offset.text,
            }
        case Structure(name=name):
            return raw | {"type": "structure", "name": name}
    raise TypeError(f"no type: {given}")


def _write_storage(storage: Storage) -> Json:
    if storage is STACK:
        return dict(_ON_STACK)
    raw: Json = {
        "value": storage.place,
        "allocation": storage.allocation,
        "deallocation": storage.deallocation,
    }
    return raw if storage.size is None else raw | {"allocation_size": storage.size.text}


def write_dtype(name: str) -> int:
    """docc's number of a primitive type."""
    return _NUMBERS[name]


def _texts(expressions: tuple[Expr, ...]) -> list[str]:
    return [one.text for one in expressions]


_PLAIN = {
    number: [(write_type(plain), plain) for plain in (scalar, Pointer(to=scalar))]
    for number, scalar in enumerate(map(Scalar, DTYPES))
}
"""Most types are numbers or point at them: they are told by comparing, which is faster than by
reading."""
