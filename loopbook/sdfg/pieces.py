"""Large programs, shown to docc in pieces.

docc compares every access of a loop with every other one before it says whether the loop is
parallel: quadratic in what the loop holds, for each loop around as well. A factorisation of complex
matrices within another loop takes it ten seconds, each time that it is asked. Of a large program it
is shown one nest after the other; a loop that is large by itself stays as it is, and what it holds
is shown in its place.

A piece is a loop, or some neighbours that hand scalars to each other. What it writes and others
read are arrays that the program was given, so docc keeps all of it; what it only reads is given to
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from loopbook.sdfg.names import identifiers, rename, written

Json = dict[str, Any]

LARGE = 700
"""Pairs of accesses in a program from which on it is cut. Those of PolyBench have 600 at most."""

LARGE_LOOP = 300
"""Pairs of accesses in a loop from which on docc is not shown the loop as a whole."""

TOGETHER = 100
"""Pairs of accesses in neighbouring loops up to which docc is shown them together: it may fuse
them."""


@dataclass
class _Content:
    """What an element holds.

    Attributes:
        mentions: how often each name occurs.
        written: names that are given values.
        accesses: how often each container is read or written.
        stores: how often each is written.
        pairs: of accesses to one container of which one writes, for each loop around them.
    """

    mentions: Counter[str] = field(default_factory=Counter)
    written: set[str] = field(default_factory=set)
    accesses: Counter[str] = field(default_factory=Counter)
    stores: Counter[str] = field(default_factory=Counter)
    pairs: int = 0
    loops: int = 0

    def add(self, other: _Content) -> None:
        self.mentions += other.mentions
        self.written |= other.written
        self.accesses += other.accesses
        self.stores += other.stores
        self.pairs += other.pairs
        self.loops += other.loops


def pairs(document: Json) -> int:
    """How many pairs of accesses docc compares to tell which loops are parallel."""
    return _Reading().of(document["root"]).pairs


class Cut:
    """A large program in pieces.

    Args:
        document: the program's, expanded. It is left as it is.
        work: what becomes of a piece, given as a document of its own; None to leave it.

    Attributes:
        document: the program with what has become of its pieces.
        frames: element ids of the outermost loops that were not shown as a whole, or left.
    """

    def __init__(self, document: Json, work: Callable[[Json], Json | None]) -> None:
        self._work = work
        self._reading = _Reading()
        self._given = {
            n for n in document["arguments"] if document["containers"][n]["type"] == "pointer"
        }
        self.document = {**document, "containers": dict(document["containers"])}
        self.frames: list[int] = []
        self._total = self._reading.of(document["root"]).mentions
        self.document["root"] = self._body(document["root"], False)
        self._drop_unused()

    def _sequence(self, children: list[Json], inside: bool) -> list[Json]:
        made: list[Json] = []
        for group in self._groups(children):
            content = self._content(group)
            if not content.loops:
                made += group
            elif content.pairs <= LARGE_LOOP and self._apart(content):
                made += self._piece(group, content, inside)
            else:
                made += [self._inside(element, inside) for element in group]
        return made

    def _inside(self, element: Json, inside: bool) -> Json:
        """An element with what has become of the pieces that it holds."""
        if _is_loop(element) and not inside:
            self.frames.append(int(element["element_id"]))
            inside = True
        if "branches" in element:
            cases = [{**c, "root": self._body(c["root"], inside)} for c in element["branches"]]
            return {**element, "branches": cases}
        return (
            {**element, "root": self._body(element["root"], inside)}
            if "root" in element
            else element
        )

    def _body(self, root: Json, inside: bool) -> Json:
        return {**root, "children": self._sequence(root["children"], inside)}

    def _piece(self, group: list[Json], content: _Content, inside: bool) -> list[Json]:
        """What has become of some neighbours."""
        known = self.document["containers"]
        own = {name: known[name] for name in known if content.mentions[name]}
        given = [name for name in self.document["arguments"] if name in own]
        given += sorted(own.keys() - content.written - set(given))
        made = self._work(
            {
                **self.document,
                "root": {**self.document["root"], "children": group},
                "containers": dict(own),
                "arguments": given,
            }
        )
        if made is None:
            self.frames += [int(e["element_id"]) for e in group if _is_loop(e) and not inside]
            return group
        counter = max(int(self.document["element_counter"]), int(made["element_counter"]))
        self.document["element_counter"] = counter
        names = {name: self._fresh(name) for name in made["containers"].keys() - own.keys()}
        known.update({names[name]: made["containers"][name] for name in names})
        rename(made["root"]["children"], {old: new for old, new in names.items() if old != new})
        return made["root"]["children"]

    def _fresh(self, name: str) -> str:
        """The name for a container that docc has called so in a piece."""
        found, number = name, 1
        while found in self.document["containers"]:
            found, number = f"{name}_{number}", number + 1
        return found

    def _groups(self, children: list[Json]) -> Iterator[list[Json]]:
        """Neighbours that docc is shown together, or left as they are."""
        waiting: list[Json] = []
        for group in self._bound(children):
            content = self._content(group)
            joins = content.loops > 0 and self._apart(content)
            if waiting and not (joins and self._content([*waiting, *group]).pairs <= TOGETHER):
                yield waiting
                waiting = []
            if joins:
                waiting = [*waiting, *group]
            else:
                yield group
        if waiting:
            yield waiting

    def _bound(self, children: list[Json]) -> Iterator[list[Json]]:
        """Neighbours, with those that write a scalar and those that it is handed to together."""
        start = 0
        while start < len(children):
            end = start + 1
            while end < (reach := self._reach(children, start, end)):
                end = reach
            if self._content(children[start:end]).pairs > LARGE_LOOP:
                end = start + 1
            yield children[start:end]
            start = end

    def _reach(self, children: list[Json], start: int, end: int) -> int:
        """Where the last one ends that mentions what loops before `end` write for themselves."""
        inside = self._content(children[start:end])
        if not inside.loops and not self._feeds(children, start, end):
            return end
        own = inside.written - self._given
        if all(inside.mentions[name] == self._total[name] for name in own):
            return end
        last = end
        for place in range(end, len(children)):
            if not own.isdisjoint(self._reading.of(children[place]).mentions):
                last = place + 1
        return last

    def _feeds(self, children: list[Json], start: int, end: int) -> bool:
        """Whether a loop behind gives what is set here another value: a sum and where it begins."""
        own = self._content(children[start:end]).written - self._given
        for child in children[end:]:
            content = self._reading.of(child)
            if content.loops and not own.isdisjoint(content.written):
                return True
        return False

    def _apart(self, content: _Content) -> bool:
        own = content.written - self._given
        return all(content.mentions[name] == self._total[name] for name in own)

    def _content(self, group: Iterable[Json]) -> _Content:
        found = _Content()
        for element in group:
            found.add(self._reading.of(element))
        return found

    def _drop_unused(self) -> None:
        used = _Reading().of(self.document["root"]).mentions.keys() | set(
            self.document["arguments"]
        )
        containers = self.document["containers"]
        self.document["containers"] = {n: c for n, c in containers.items() if n in used}


class _Reading:
    """What elements hold, each read once."""

    def __init__(self) -> None:
        self._known: dict[int, _Content] = {}

    def of(self, element: Json) -> _Content:
        if id(element) not in self._known:
            self._known[id(element)] = self._read(element)
        return self._known[id(element)]

    def _read(self, element: Json) -> _Content:
        found = _Content()
        for body in _sequences(element):
            for child in body:
                found.add(self.of(child))
        own = {k: v for k, v in element.items() if k not in ("root", "branches", "children")}
        own["conditions"] = [case.get("condition", "") for case in element.get("branches", ())]
        found.mentions.update(identifiers(own))
        found.written.update(written(element))
        flow = element.get("dataflow")
        if flow:
            data = {node["element_id"]: node.get("data") for node in flow["nodes"]}
            for edge in flow["edges"]:
                found.accesses.update(data[e] for e in (edge["src"], edge["dst"]) if data[e])
                found.stores.update([data[edge["dst"]]] if data[edge["dst"]] else [])
        if "indvar" in element:
            found.written.add(element["indvar"])
        if _is_loop(element):
            found.pairs += sum(n * found.accesses[name] for name, n in found.stores.items())
            found.loops += 1
        return found


def _is_loop(element: Json) -> bool:
    return "indvar" in element or element.get("type") == "while"


def _sequences(element: Json) -> list[list[Json]]:
    if "branches" in element:
        return [case["root"]["children"] for case in element["branches"]]
    if "children" in element:
        return [element["children"]]
    return [element["root"]["children"]] if "root" in element else []
