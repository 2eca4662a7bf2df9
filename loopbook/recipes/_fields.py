"""Reading fields of untrusted JSON objects: every mistake becomes an InputError that names it."""

from __future__ import annotations

import math
import re
from typing import Any

from loopbook.errors import InputError

MAX_WORDS = 4096
MAX_INTEGER = 2**63 - 1

_HALVES = re.compile("[\ud800-\udfff]")
"""Of surrogate pairs. ASCII has none, which is seen a hundred times faster than looked for."""


def mapping(obj: object, what: str) -> dict[str, Any]:
    """The object, if it is a JSON object."""
    if not isinstance(obj, dict):
        raise InputError(f"{what} is a JSON object, not {type(obj).__name__}")
    return obj


def text(
    obj: dict[str, Any], key: str, what: str, *, limit: int = MAX_WORDS, empty: bool = True
) -> str:
    """A string of at most ``limit`` characters that a database can hold."""
    value = _present(obj, key, what)
    check_text(value, f"{what}: {key}", limit=limit, empty=empty)
    return value


def check_text(value: object, name: str, *, limit: int = MAX_WORDS, empty: bool = True) -> None:
    """Refuse what databases refuse: NUL, half a surrogate pair, or too much."""
    if not isinstance(value, str):
        raise InputError(f"{name} is a string, not {type(value).__name__}")
    if len(value) > limit:
        raise InputError(f"{name} has more than {limit} characters")
    if not value and not empty:
        raise InputError(f"{name} is empty")
    if "\0" in value or not (value.isascii() or _HALVES.search(value) is None):
        raise InputError(f"{name} holds a character that is no text")


def integer(obj: dict[str, Any], key: str, what: str) -> int:
    """A whole number from 0 to 2^63 - 1."""
    value = _present(obj, key, what)
    check_integer(value, f"{what}: {key}")
    return value


def check_integer(value: object, name: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_INTEGER:
        raise InputError(f"{name} is a whole number from 0 up to 2^63 - 1")


def number(obj: dict[str, Any], key: str, what: str) -> float:
    """A finite number, 0 or more."""
    value = _present(obj, key, what)
    check_number(value, f"{what}: {key}")
    return float(value)


def check_number(value: object, name: str) -> None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    # A JSON integer may be too large for a double.
    if not good or not 0 <= value <= MAX_INTEGER or not math.isfinite(value):  # type: ignore[operator]
        raise InputError(f"{name} is a finite number, 0 or more")


def items(obj: dict[str, Any], key: str, what: str, *, limit: int) -> list[Any]:
    """A list of at most ``limit`` things."""
    value = _present(obj, key, what)
    if not isinstance(value, list) or len(value) > limit:
        raise InputError(f"{what}: {key} is a list of at most {limit} things")
    return value


def _present(obj: dict[str, Any], key: str, what: str) -> Any:
    if key not in obj:
        raise InputError(f"{what} has no {key}")
    return obj[key]
