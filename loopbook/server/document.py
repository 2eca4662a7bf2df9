"""Reads what a client sends, within limits, before docc sees any of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NoReturn

import msgspec

from loopbook.errors import InputError, SdfgError
from loopbook.sdfg.untrusted import Admitted, admit
from loopbook.server.settings import Limits

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A string, or the beginning of one that does not end: to look for the end of each quotation mark
in such a body would take time by the square of its length."""

_STEP = {**dict.fromkeys(b"[{", 1), **dict.fromkeys(b"]}", -1)}
_NO_BRACKETS = bytes(set(range(256)) - _STEP.keys())


def read_json(body: bytes, limits: Limits) -> dict[str, Any]:
    """The JSON object in a request's body.

    Raises:
        InputError: it is none, is nested too deeply, or holds NaN or half a surrogate pair.
    """
    check_nesting(body, limits)
    try:
        document = _loaded(body)
        if b"\\u" in body:  # nothing else makes half a surrogate pair
            json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise InputError("the body is no text in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is no JSON: {str(error)[:120]}") from None
    if not isinstance(document, dict):
        raise InputError("the body is no JSON object")
    return document


def _loaded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except ValueError:  # `json` says better what is wrong, and takes numbers that no double holds
        return json.loads(body.decode("utf-8"), parse_constant=_refuse)


OBJECT_BYTES, LIST_BYTES, VALUE_BYTES = 232, 88, 56
"""Of memory, for an object, a list and each value that Python makes of JSON; strings aside."""


def check_nesting(body: bytes, limits: Limits) -> None:
    """Refuse JSON with too many brackets inside one another, of which parsers that call themselves
    for each run out of stack, and with so many values that they take far more memory than the
    text.

    Raises:
        InputError: it is such JSON.
    """
    bare = _STRING.sub(b"", body)
    brackets = bare.translate(None, _NO_BRACKETS)
    most = limits.nesting
    if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > most:
        raise InputError(f"the body has more than {most} brackets inside one another")
    values = bare.count(b",") * VALUE_BYTES
    if values + bare.count(b"{") * OBJECT_BYTES + bare.count(b"[") * LIST_BYTES > limits.parsed:
        raise InputError("the body has too many values")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def program_of(document: dict[str, Any], limits: Limits) -> Admitted:
    """The program in a request, in names of our own.

    Raises:
        SdfgError: there is none, it has too many loops, or too many inside one another, or it is
            not let in (see `loopbook.sdfg.untrusted`).
    """
    sdfg = document.get("sdfg")
    if not isinstance(sdfg, dict) or not isinstance(sdfg.get("root"), dict):
        raise SdfgError("the request has no SDFG")
    for count, depth in enumerate(_loops(sdfg["root"]), 1):
        if depth > limits.depth:
            raise SdfgError(f"the program has more than {limits.depth} loops inside one another")
        if count > limits.loops:
            raise SdfgError(f"the program has more than {limits.loops} loops")
    return admit(sdfg)


def _loops(root: dict[str, Any]) -> Iterator[int]:
    """The depth of each loop."""
    waiting: list[tuple[Any, int]] = [(root, 0)]
    while waiting:
        element, depth = waiting.pop()
        if isinstance(element, list):
            waiting += [(one, depth) for one in element]
        elif isinstance(element, dict):
            if "indvar" in element or element.get("type") == "while":
                depth += 1
                yield depth
            waiting += [
                (element[k], depth) for k in ("root", "children", "branches") if k in element
            ]


def sizes_of(document: dict[str, Any], assumed: int) -> dict[str, int]:
    """Values of the program's size symbols, in its own names: those that the client tells,
    `assumed` for the rest.

    Raises:
        InputError: `sizes` in the request is no object of whole numbers.
    """
    told = document.get("sizes", {})
    good = isinstance(told, dict) and all(
        isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 2**63 for v in told.values()
    )
    if not good:
        raise InputError("sizes is an object of whole numbers")
    if not assumed:
        return told
    program = document["sdfg"]
    containers = program.get("containers")
    containers = containers if isinstance(containers, dict) else {}
    names = program.get("arguments")
    scalars = [
        name
        for name in (names if isinstance(names, list) else ())
        if isinstance(name, str) and _is_scalar(containers.get(name))
    ]
    return dict.fromkeys(scalars, assumed) | told


def _is_scalar(container: Any) -> bool:
    return isinstance(container, dict) and container.get("type") == "scalar"
