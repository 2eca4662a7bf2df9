"""What ``--json`` prints: one document a command, whose type the command declares beside itself.

What is printed goes through that type, and its JSON schema is made from it, with what the class
says of its attributes: so neither can say what the other does not.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from loopbook.printable import show

if TYPE_CHECKING:
    from loopbook.recipes._data import Data

C = TypeVar("C", bound=Callable[..., Any])

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """An object that a command prints. What may be left out is `Left`, with `UNSET` as default."""


Left = UnsetType
"""Stands beside the type of what is left out where there is nothing to be said."""


def answers(*kinds: Any) -> Callable[[C], C]:
    """Says what a command prints with ``--json``.

    Args:
        kinds: the types that its document may have: one, or more where options decide. A function
            makes a type that takes much to import.
    """

    def decorate(command: C) -> C:
        command.answers = kinds  # type: ignore[attr-defined]
        return command

    return decorate


def write(kind: Any, told: Any) -> None:
    """Print `document` on stdout."""
    show(document(kind, told), flush=True)


def document(kind: Any, told: Any) -> str:
    """A JSON document on one line, in plain ASCII.

    Args:
        kind: the type that the command has declared.
        told: an instance, or what makes one: dictionaries, lists, objects with such attributes.

    Raises:
        msgspec.ValidationError: it is something else, which is a fault of ours.
    """
    made = msgspec.convert(told, kind, from_attributes=True)
    plain = msgspec.to_builtins(made, str_keys=True, enc_hook=str)
    return json.dumps(_finite(plain)).replace("\x7f", "\\u007f")


def _finite(value: Any) -> Any:
    """The same without what JSON has no word for: nan and infinities become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value


@contextmanager
def listed(kind: Any, wanted: bool, *, alone: bool = False) -> Iterator[list[Any]]:
    """Takes what a long command finds, one by one, and prints it as one document in the end: also
    where somebody stops it, since what was found until then is worth as much.

    Args:
        kind: the type of one of them.
        wanted: whether anything is printed.
        alone: what was asked for is one thing, which is no list then.
    """
    found: list[Any] = []
    whole = False
    try:
        yield found
        whole = True
    finally:
        if wanted and (found or (whole and not alone)):
            write(*((kind, found[0]) if alone else (list[kind], found)))


def told_as(name: str, doc: str, **attributes: Any) -> Any:
    """An `Answer` of these attributes, made late, where their types take much to import."""
    own: list[Any] = [
        (one, kind, UNSET) if Left in get_args(kind) else (one, kind)
        for one, kind in attributes.items()
    ]
    made = msgspec.defstruct(name, own, bases=(Answer,), kw_only=True)
    made.__doc__ = doc
    return made


@cache
def mirrored(data: type[Data], **more: Any) -> Any:
    """The type of what `data`'s ``to_json`` makes, in a document.

    Args:
        more: further attributes, and their types.
    """
    from loopbook.recipes._data import LATER, marks

    hints, marked = get_type_hints(data), marks(data)
    own = {
        one.name: hints[one.name] | Left if LATER in marked[one.name] else hints[one.name]
        for one in fields(data)
        if one.name != "others"
    }
    return told_as(data.__name__, data.__doc__ or "", **own, **more)


# -- schemas ---------------------------------------------------------------------------------------


def schema_of(command: Callable[..., Any], name: str) -> dict[str, Any]:
    """The JSON schema of what a command prints.

    Args:
        name: of the command, such as ``book list``.
    """
    declared: tuple[Any, ...] = command.answers  # type: ignore[attr-defined]
    kinds = [kind() if inspect.isfunction(kind) else kind for kind in declared]
    made, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for kind in _named(kinds):
        if kind.__name__ in parts:
            _describe(parts[kind.__name__], kind)
    whole = made[0] if len(made) == 1 else {"anyOf": list(made)}
    title = {"$schema": DIALECT, "title": f"loopbook {name} --json"}
    return {**title, **whole, **({"$defs": parts} if parts else {})}


def _named(kinds: Any) -> set[type]:
    """All classes with attributes that types are made of."""
    found: set[type] = set()
    todo = list(kinds)
    while todo:
        one = todo.pop()
        todo += get_args(one)
        structured = isinstance(one, type) and (
            issubclass(one, msgspec.Struct) or is_dataclass(one)
        )
        if structured and one not in found:
            found.add(one)
            todo += get_type_hints(one).values()
    return found


_ATTRIBUTES = re.compile(r"\n+Attributes:\n(.*)", re.DOTALL)
_ATTRIBUTE = re.compile(r"^    (\w[\w, `]*): (.*(?:\n {8}.*)*)", re.MULTILINE)


def _describe(schema: dict[str, Any], kind: type) -> None:
    """Write what a class's docstring says of it and of its attributes where schemas have that."""
    for one in reversed(kind.__mro__):
        text = inspect.cleandoc(vars(one).get("__doc__") or "")
        said = _ATTRIBUTES.search(text)
        about = text[: said.start()] if said else text
        schema["description"] = " ".join(about.partition("\n\nRaises:")[0].split())
        for names, words in _ATTRIBUTE.findall(said[1] if said else ""):
            for name in names.replace("`", "").split(", "):
                if name in schema["properties"]:
                    schema["properties"][name]["description"] = " ".join(words.split())
