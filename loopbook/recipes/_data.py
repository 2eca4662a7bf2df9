"""What all plain data of records has in common: it is declared once, checked, and read with
defaults, whoever wrote it and when.

A kind of such data is a frozen dataclass whose fields have types with limits (`Text`, `Count`,
`Figure` and the like). To add a field, mark it `LATER`: whoever wrote without it means its default,
and ids of records that were written before stay what they are.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Self, TypedDict, get_type_hints

import msgspec

from loopbook.errors import InputError
from loopbook.printable import one_line
from loopbook.recipes import _fields

MAX_OTHERS = 4096
"""Characters of JSON that fields which we do not know may take together."""

# What databases refuse is left out: NUL, and half a surrogate pair.
_TEXT = r"\A[^\x00\ud800-\udfff]*\Z"
_LARGEST = float(_fields.MAX_INTEGER)

Name = Annotated[str, msgspec.Meta(max_length=128, pattern=_TEXT)]
Line = Annotated[str, msgspec.Meta(max_length=256, pattern=_TEXT)]
Kernel = Annotated[str, msgspec.Meta(min_length=1, max_length=256, pattern=_TEXT)]
Text = Annotated[str, msgspec.Meta(max_length=_fields.MAX_WORDS, pattern=_TEXT)]
Count = Annotated[int, msgspec.Meta(ge=0, le=_fields.MAX_INTEGER)]
Figure = Annotated[float, msgspec.Meta(ge=0, le=_LARGEST)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=_LARGEST)]
Counts = Annotated[dict[Name, Count], msgspec.Meta(max_length=256)]

LATER = "later"
"""Marks a field that records had not from the beginning, ``field: Annotated[Count, LATER] = 0``: at
its default it is left out of their JSON, of which their ids are hashes."""


@dataclass(frozen=True)
class Data:
    """Base of plain data.

    Attributes:
        others: fields that this version does not know, as they came.

    Raises:
        InputError: a field is not of its type, or over its limits.
    """

    what: ClassVar[str]
    """Names such data in messages."""

    others: dict[str, Any] = field(default_factory=dict, kw_only=True, hash=False, repr=False)

    def __post_init__(self) -> None:
        given = {one.name: getattr(self, one.name) for one in _own(type(self))}
        try:
            # Numbers of NumPy's become Python's.
            plain = msgspec.to_builtins(given, enc_hook=float)
            values = msgspec.convert(plain, _types(type(self)))
            others = json.dumps(self.others, allow_nan=False) if self.others else ""
        except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
            raise InputError(f"{self.what}: {one_line(error)}") from None
        if len(others) > MAX_OTHERS:
            raise InputError(f"{self.what}: what is unknown takes more than {MAX_OTHERS} letters")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def to_json(self) -> dict[str, Any]:
        """A JSON object with one entry for each attribute."""
        told = {one.name: getattr(self, one.name) for one in _own(type(self))}
        for one in _own(type(self)):
            if LATER in marks(type(self))[one.name] and told[one.name] == _default(one):
                del told[one.name]
        return told | self.others

    @classmethod
    def from_json(cls, obj: object) -> Self:
        """Read what :meth:`to_json` wrote, in this version or another.

        Raises:
            InputError: it is no such object.
        """
        given = _fields.mapping(obj, cls.what)
        known = {one.name: one for one in _own(cls)}
        for name, one in known.items():
            if name not in given and _default(one) is MISSING:
                raise InputError(f"{cls.what} has no {name}")
        values = {name: value for name, value in given.items() if name in known}
        return cls(**values, others={k: v for k, v in given.items() if k not in known})


@cache
def _own(kind: type[Data]) -> tuple[Field[Any], ...]:
    return tuple(one for one in fields(kind) if one.name != "others")


@cache
def marks(kind: type[Data]) -> dict[str, tuple[Any, ...]]:
    """What the type of each field is annotated with besides."""
    hints = get_type_hints(kind, include_extras=True)
    return {one.name: getattr(hints[one.name], "__metadata__", ()) for one in _own(kind)}


@cache
def _types(kind: type[Data]) -> Any:
    hints = get_type_hints(kind, include_extras=True)
    return TypedDict(kind.__name__, {one.name: hints[one.name] for one in _own(kind)})  # type: ignore[operator]


def _default(one: Field[Any]) -> Any:
    return one.default if one.default_factory is MISSING else one.default_factory()
