"""Answers that are given again to the same question, for as long as the book stays as it is."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from loopbook.errors import InputError
from loopbook.server.document import read_json
from loopbook.server.latest import Latest, digest, packed, unpacked
from loopbook.server.settings import Limits

READ = ("sdfg", "target", "sizes")
"""Members of docc's requests that an answer depends on: two that differ in others, in the name of
their session, say, are the same question."""

ALIASES = 10_000
"""Bodies whose question is remembered."""


class Question(NamedTuple):
    """What is asked, without what does not matter.

    Attributes:
        key: names it.
        body: asks it.
    """

    key: bytes
    body: bytes


def question(job: str, body: bytes, limits: Limits) -> Question:
    """The question that a request of docc's client asks. A body that cannot be read is one of its
    own, which is answered elsewhere."""
    try:
        document = read_json(body, limits)
    except InputError:
        return Question(digest(job.encode(), body), body)
    read = json.dumps({name: document[name] for name in READ if name in document}).encode()
    return Question(digest(job.encode(), read), read)


@dataclass(frozen=True)
class Kept:
    """An answer that may be given again.

    Attributes:
        body: of the response.
        tiers, missed: see `loopbook.server.work.Answer`.
    """

    body: bytes
    tiers: dict[str, int] = field(default_factory=dict)
    missed: dict[str, list[str]] = field(default_factory=dict)


class Answers:
    """The latest answers. They are kept compressed: a program's text shrinks to a tenth.

    Args:
        most: bytes of all answers together.
    """

    def __init__(self, most: int) -> None:
        self._held: Latest[Kept] = Latest(most)
        self._aliases: Latest[bytes] = Latest(ALIASES)
        self._stamp = ""

    def get(self, key: bytes) -> Kept | None:
        """The answer to a question, if it was given since the book last changed."""
        kept = self._held.get(key)
        return None if kept is None else replace(kept, body=unpacked(kept.body))

    def put(self, key: bytes, answer: Kept, stamp: str) -> None:
        """Remember an answer.

        Args:
            stamp: of the book when the question came; an answer from before its last change is
                not kept.
        """
        if stamp == self._stamp:
            body = packed(answer.body)
            self._held.put(key, replace(answer, body=body), len(body))

    def known_as(self, raw: bytes) -> bytes | None:
        """The question that a body of this digest asked before."""
        return self._aliases.get(raw)

    def remember(self, raw: bytes, key: bytes) -> None:
        """A body of this digest asks that question."""
        self._aliases.put(raw, key, 1)

    @property
    def stamp(self) -> str:
        """Of the book that the answers are about."""
        return self._stamp

    def renew(self, stamp: str) -> bool:
        """Forget all if the book is another one now; whether it is."""
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        self._held.clear()
        return True
