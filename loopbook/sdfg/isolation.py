"""A nest taken out of its program, so that docc looks at the nest alone.

Each of docc's transformations asks for dependences of the whole program, anew after each change:
a quarter of a second in a network of fifteen nests, a few milliseconds for one of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from docc.sdfg import StructuredSDFG

from loopbook.sdfg.names import identifiers, written
from loopbook.sdfg.program import parse
from loopbook.sdfg.rewrites.document import elements

Json = dict[str, Any]


class Mentions:
    """Which names elements mention, each read once; they must not be changed meanwhile."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Json, frozenset[str]]] = {}

    def of(self, element: Json) -> frozenset[str]:
        known = self._known.get(id(element))
        if known is None:  # the element is kept, so that no other one gets its id
            known = self._known[id(element)] = element, frozenset(identifiers(element))
        return known[1]


class Isolated:
    """A program of which docc is shown one nest.

    Args:
        document: the program's. It is left as it is.
        own: element ids of the nest's loops; it is taken out of the program's outermost sequence
            if it can be told apart from the rest.
        mentions: of the program's elements, if others ask for them, too.
    """

    def __init__(self, document: Json, own: Set[int], mentions: Mentions | None = None) -> None:
        self._mentions = mentions or Mentions()
        self._own = own
        self._rest = [e for e in document["root"]["children"] if int(e["element_id"]) not in own]
        others = {int(element["element_id"]) for element in self._rest}
        self._show(taken_out(document, others, self._mentions), document)

    @cached_property
    def foreign(self) -> frozenset[int]:
        """Element ids of what does not belong to the nest."""
        return _ids(self._rest) - self._own

    def adopt(self, document: Json) -> None:
        """Go on with a new document of the whole program."""
        others = self._around.ids if self._around else frozenset()
        self._show(taken_out(document, others, self._mentions), document)

    def _show(self, taken: tuple[Surroundings, Json] | None, document: Json) -> None:
        self._around, self._alone = taken or (None, document)
        self._sdfg: StructuredSDFG | None = None

    @property
    def sdfg(self) -> StructuredSDFG:
        """What docc is to work on, and to change."""
        if self._sdfg is None:
            self._sdfg = parse(json.dumps(self._alone))
        return self._sdfg

    def document(self) -> Json:
        """The whole program's, the caller's own."""
        text = json.dumps(self._alone) if self._sdfg is None else self._sdfg.to_json()
        document = json.loads(text)
        return self._around.joined(document) if self._around else document

    def whole(self) -> StructuredSDFG:
        """The whole program."""
        return parse(json.dumps(self.document()))


def _ids(siblings: Iterable[Json]) -> frozenset[int]:
    return frozenset(int(e["element_id"]) for one in siblings for e in elements(one))


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


def taken_out(
    document: Json, others: Set[int], mentions: Mentions
) -> tuple[Surroundings, Json] | None:
    """A nest without the rest of its program; element ids and containers stay as they are.

    Args:
        others: element ids of what does not belong to it in the program's outermost sequence.
        mentions: of the program's elements.

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
    changed = {name for one in inside for element in elements(one) for name in written(element)}
    local = changed - {n for n in document["arguments"] if _is_array(document, n)}
    if not all(local.isdisjoint(mentions.of(e)) for e in (*around.before, *around.after)):
        return None
    return around, _with_children(document, inside)


def _with_children(document: Json, children: list[Json]) -> Json:
    return {**document, "root": {**document["root"], "children": children}}


def _is_array(document: Json, name: str) -> bool:
    return document["containers"][name]["type"] == "pointer"
