"""Takes back what docc's normalisation has got wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loopbook.sdfg.validation import Part, compared

Json = dict[str, Any]


@dataclass(frozen=True)
class Mended:
    """A document made of parts of two.

    Attributes:
        undone: element ids of the outermost loops that are as they were before.
    """

    document: Json
    undone: frozenset[int]


def mended(before: Json, after: Json) -> Mended | None:
    """The normalised program with every part as it was before where it computed something else.

    Returns:
        Nothing if `after` is right as it is.
    """
    parts = compared(before, after)
    if not any(part.fault for part in parts):
        return None
    children = [e for part in parts for e in (part.before if part.fault else part.after)]
    document = {
        **after,
        "containers": before["containers"] | after["containers"],
        "root": {**after["root"], "children": children},
    }
    return Mended(document, frozenset(_loops(parts)))


def _loops(parts: list[Part]) -> list[int]:
    faulty = [element for part in parts if part.fault for element in part.before]
    return [int(element["element_id"]) for element in faulty if "indvar" in element]
