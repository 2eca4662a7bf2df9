"""A nest taken out of its program, so that docc looks at the nest alone.

Each of docc's transformations asks for dependences of the whole program, anew after each change:
a quarter of a second in a network of fifteen nests, a few milliseconds for one of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from docc.sdfg import StructuredSDFG

from loopbook.sdfg.names import mentioned, written
from loopbook.sdfg.program import parse

Json = dict[str, Any]


class Isolated:
    """A program of which docc is shown one nest.

    Args:
        sdfg: the program. It is changed itself until the nest is taken out.

    Attributes:
        sdfg: what docc is to work on.
    """

    def __init__(self, sdfg: StructuredSDFG) -> None:
        self.sdfg = sdfg
        self._around: Surroundings | None = None

    def isolate(self, own: Set[int]) -> bool:
        """Take out the nest with these element ids in the program's outermost sequence.

        Returns:
            Whether there is another SDFG now: not if it cannot be told apart from the rest.
        """
        document = json.loads(self.sdfg.to_json())
        ids = {int(child["element_id"]) for child in document["root"]["children"]}
        taken = taken_out(document, ids - own)
        if taken is not None:
            self._around, alone = taken
            self.sdfg = parse(json.dumps(alone))
        return taken is not None

    def adopt(self, document: Json) -> None:
        """Go on with a new document of the whole program."""
        taken = taken_out(document, self._around.ids) if self._around else None
        self._around, alone = taken or (None, document)
        self.sdfg = parse(json.dumps(alone))

    def document(self) -> Json:
        """The whole program's."""
        document = json.loads(self.sdfg.to_json())
        return self._around.joined(document) if self._around else document

    def whole(self) -> StructuredSDFG:
        """The whole program: what was given, as long as the nest has not been taken out."""
        return parse(json.dumps(self.document())) if self._around else self.sdfg


@dataclass(frozen=True)
class Surroundings:
    """What is before and behind a nest in its program's outermost sequence."""

    before: tuple[Json, ...]
    after: tuple[Json, ...]

    @property
    def ids(self) -> frozenset[int]:
        """Element ids of what they consist of."""
        return frozenset(int(e["element_id"]) for e in (*self.before, *self.after))

    def joined(self, document: Json) -> Json:
        """The program again, with the nest as it is in a document of its own."""
        return _with_children(document, [*self.before, *document["root"]["children"], *self.after])


def taken_out(document: Json, others: Set[int]) -> tuple[Surroundings, Json] | None:
    """A nest without the rest of its program; element ids and containers stay as they are.

    Args:
        others: element ids of what does not belong to it in the program's outermost sequence.

    Returns:
        Nothing if there is no rest, or if it and the nest share more than arrays that the program
        was given: only of those docc knows that others read them, too.
    """
    children = document["root"]["children"]
    own = [n for n, child in enumerate(children) if int(child["element_id"]) not in others]
    if not own or len(own) == len(children) or own[-1] - own[0] + 1 != len(own):
        return None
    inside = children[own[0] : own[-1] + 1]
    around = Surroundings(tuple(children[: own[0]]), tuple(children[own[-1] + 1 :]))
    changed = {name for element in _elements(inside) for name in written(element)}
    local = changed - {n for n in document["arguments"] if _is_array(document, n)}
    if mentioned([*around.before, *around.after], local):
        return None
    return around, _with_children(document, inside)


def _with_children(document: Json, children: list[Json]) -> Json:
    return {**document, "root": {**document["root"], "children": children}}


def _is_array(document: Json, name: str) -> bool:
    return document["containers"][name]["type"] == "pointer"


def _elements(siblings: list[Json]) -> Iterator[Json]:
    for element in siblings:
        yield element
        for case in element.get("branches", ()):
            yield from _elements(case["root"]["children"])
        if "root" in element:
            yield from _elements(element["root"]["children"])
