"""Answers that are given again to the same question, for as long as the book stays as it is."""

from __future__ import annotations

import hashlib
from collections import OrderedDict


class Answers:
    """The latest answers, by a hash of the question.

    Args:
        most: bytes of all answers together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[bytes, bytes] = OrderedDict()
        self._stamp = ""
        self._bytes = 0

    @staticmethod
    def key(job: str, body: bytes) -> bytes:
        """What names a question."""
        return hashlib.blake2b(job.encode() + b"\0" + body, digest_size=24).digest()

    def get(self, key: bytes) -> bytes | None:
        """The answer to a question, if it was given since the book last changed."""
        found = self._held.get(key)
        if found is not None:
            self._held.move_to_end(key)
        return found

    def put(self, key: bytes, answer: bytes, stamp: str) -> None:
        """Remember an answer.

        Args:
            stamp: of the book when the question came; an answer from before its last change is
                not kept.
        """
        if stamp != self._stamp or len(answer) > self._most // 4:
            return
        self._bytes += len(answer) - len(self._held.pop(key, b""))
        self._held[key] = answer
        while self._bytes > self._most:
            self._bytes -= len(self._held.popitem(last=False)[1])

    @property
    def stamp(self) -> str:
        """Of the book that the answers are about."""
        return self._stamp

    def renew(self, stamp: str) -> bool:
        """Forget all if the book is another one now; whether it is."""
        if stamp == self._stamp:
            return False
        self._stamp, self._bytes = stamp, 0
        self._held.clear()
        return True
