"""What a function reads of modules, classes and objects outside: ``config.RATE``, ``SETTINGS.dt``.

The object may stay the same while its attribute gets another value, so each is looked at by itself.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

LIBRARIES = frozenset(("numpy", "math", "cmath", "scipy"))
"""Modules whose attributes stay what they are."""

Path = tuple[str, tuple[str, ...]]
"""A name, and the attributes behind it."""


@lru_cache(maxsize=256)
def attribute_paths(code: CodeType) -> tuple[Path, ...]:
    """Attributes of what comes from outside that code reads, functions in it included."""
    return tuple(dict.fromkeys(_paths(code)))


def _paths(code: CodeType) -> Iterator[Path]:
    name, attributes = "", list[str]()
    for instruction in dis.get_instructions(code):
        if name and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.append(instruction.argval)
            continue
        if name and attributes:
            yield name, tuple(attributes)
        outside = instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
        name, attributes = (instruction.argval if outside else ""), []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _paths(constant)


def attributes_read(code: CodeType, outside: Callable[[str], Any]) -> list[tuple[Path, Any]]:
    """The attributes that code reads, with what they are now.

    Args:
        outside: gives the value of a name.
    """
    found = []
    for name, attributes in attribute_paths(code):
        root = outside(name)
        if _holds(root):
            found.append(((name, attributes), followed(root, attributes)))
    return found


def followed(value: Any, attributes: tuple[str, ...]) -> Any:
    """What stands behind attributes, as far as objects are there for what they hold."""
    for attribute in attributes:
        if not _holds(value):
            return value
        try:
            value = getattr(value, attribute)
        except Exception:
            return None
    return value.__func__ if isinstance(value, MethodType) else value


def _holds(value: Any) -> bool:
    """Whether its attributes are values that may be replaced."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] not in LIBRARIES
    if isinstance(value, type):
        return value.__module__.partition(".")[0] not in (*LIBRARIES, "builtins")
    return hasattr(value, "__dict__") and not isinstance(value, FunctionType | MethodType)
