"""Names of our own for everything that a program from outside names, and the way back.

Fresh names are a letter, a number and an ``x``: ``v07x``. They end in a letter because passes
append digits to names, and they sort as the names sorted that they stand for, so that whatever
breaks ties by name breaks them as before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from loopbook.errors import LoopbookError

CONTAINER, SYMBOL, STRUCTURE, PLACE = "v", "q", "u", "p"
"""What a fresh name stands for, by its first letter: a container, a symbol that no container is,
a structure, or the name of a file or function that a source position names."""

PROGRAM = "program"
"""What every program from outside is called."""

_FRESH = re.compile(r"(?<![A-Za-z0-9])[vqup][0-9]{2,}x")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def fresh_names(own: Collection[str]) -> dict[str, str]:
    """A container's own name to a fresh one, for all of them."""
    width = max(2, len(str(len(own))))
    return {name: f"{CONTAINER}{place:0{width}}x" for place, name in enumerate(sorted(own))}


@dataclass(frozen=True)
class Names:
    """What a program from outside calls things.

    Attributes:
        program: its own name.
        own: fresh name to the name that it stands for.
        metadata: what docc's client has noted about the program, which no pass sees.
    """

    program: str = PROGRAM
    own: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)

    def fresh(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Numbers by fresh names, of numbers by the program's own; others are left out."""
        new = {own: name for name, own in self.own.items() if name[0] == CONTAINER}
        return {new[name]: value for name, value in sizes.items() if name in new}

    def words(self, text: str) -> str:
        """A message of ours about the program, for who has sent it."""
        return _FRESH.sub(lambda found: self.own.get(found[0], found[0]), text)

    @contextmanager
    def in_errors(self) -> Iterator[None]:
        """Errors of ours that come out of the block speak in the program's own names."""
        try:
            yield
        except LoopbookError as error:
            error.args = tuple(self.words(a) if isinstance(a, str) else a for a in error.args)
            raise

    def restored(self, document: Any) -> Any:
        """A JSON value about the renamed program, for who has sent it: with its own names.

        Our passes and docc's derive names from others (``v07x_tile``): those are restored too.
        """
        return _Restoring(self, _containers(document)).value(document)

    def restored_program(self, sdfg: Mapping[str, Any]) -> dict[str, Any]:
        """An SDFG made of the renamed program, under the program's own name and names."""
        metadata = {**self.metadata, **sdfg.get("metadata", {})}
        return {**self.restored(sdfg), "name": self.program, "metadata": metadata}


def _containers(document: Any) -> Iterable[str]:
    found = document.get("containers") if isinstance(document, Mapping) else None
    return found if isinstance(found, Mapping) else ()


class _Restoring:
    """One way back.

    Args:
        containers: of the SDFG that comes back; each gets another name.
    """

    def __init__(self, names: Names, containers: Iterable[str]) -> None:
        self._names = names
        self._known: dict[str, str] = dict(names.own)
        self._texts: dict[str, str] = {}
        taken = set(names.own.values())
        for name in containers:
            if name in names.own:
                continue
            wanted = candidate = names.words(name)
            number = 0
            while candidate in taken:
                number += 1
                candidate = f"{wanted}_{number}"
            taken.add(candidate)
            self._known[name] = candidate

    def value(self, given: Any) -> Any:
        kind = type(given)
        if kind is str:
            done = self._texts.get(given)
            if done is None:
                done = self._texts[given] = _WORD.sub(self._word, given)
            return done
        if kind is dict:
            texts, value = self._texts, self.value
            return {
                texts.get(key) or value(key): inner if type(inner) is int else value(inner)
                for key, inner in given.items()
            }
        if kind is list:
            return [self.value(inner) for inner in given]
        return given

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = self._names.words(word)
        return known
