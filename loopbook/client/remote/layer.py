"""A server's book as a layer, behind all books that lie at hand."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any

from loopbook import targets
from loopbook.client.remote import calls
from loopbook.client.remote.cache import AnswerCache
from loopbook.client.remote.calls import Call
from loopbook.client.remote.client import Client
from loopbook.client.remote.flows import Policy
from loopbook.errors import RemoteError
from loopbook.printable import show
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.layer import Kernels, Neighbour
from loopbook.recipes.record import Record
from loopbook.recipes.tasks import Wanted

FRESH_S = 3600.0
"""Answers younger than this are used without asking again."""

SILENT_S = 60.0
"""A server that could not be reached is not asked for so long."""

QUICK = Policy(timeout=5.0, attempts=2, deadline=10.0)
"""Somebody waits for a compile."""

_told: set[str] = set()


class RemoteBook:
    """What a look-up needs of a book (`loopbook.recipes.layer.Layer`), asked of a server.

    Answers are cached on disk. A server that cannot be reached is complained about once in a
    process; from then on the cache answers, however old; what it does not have is not found.

    Args:
        client: default one for ``$LOOPBOOK_SERVER``.
    """

    readonly = True
    damage: tuple[str, ...] = ()

    def __init__(self, client: Client | None = None, cache: AnswerCache | None = None) -> None:
        self._client = client or Client(policy=QUICK)
        self._cache = cache or AnswerCache()
        self._silent_until = 0.0

    @property
    def name(self) -> str:
        """The server's address."""
        return self._client.url

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def nearest(
        self,
        query: Embedding,
        k: int = 5,
        *,
        target: str = targets.DEFAULT,
        hardware: HardwareProfile | None = None,
        exclude: Kernels = None,
        without: Collection[str] = (),
        steps: Collection[str] = (),
        per_nest: int = 2,
    ) -> list[Neighbour]:
        """As `loopbook.recipes.book.Book.nearest`; how many of one nest is the server's choice, and
        of the `k` that it sends those without any of `steps` are left out here."""
        names = () if exclude is None or callable(exclude) else exclude
        call = calls.nearest_call(query, k, target, names, hardware)
        found = self._asked(call, lambda told: calls.neighbours_of(told, query, target, self.name))
        if callable(exclude):
            found = [one for one in found if not exclude(one.record.kernel)]
        return [
            one
            for one in found
            if one.record.fingerprint not in without
            and (not steps or any(step.op in steps for step in one.record.recipe))
        ]

    def exact(self, fingerprint: str, target: str, hardware_key: str | None = None) -> list[Record]:
        """As `loopbook.recipes.book.Book.exact`."""
        call = calls.exact_call(fingerprint, target)
        found = self._asked(
            call, lambda told: calls.records_of(told, fingerprint, target, self.name)
        )
        return [one for one in found if hardware_key in (None, one.hardware.key)]

    def without_embedding(self, encoder: str) -> Iterator[tuple[str, str]]:
        """None: the server embeds its nests itself."""
        return iter(())

    def note_miss(
        self, fingerprint: str, target: str, hardware_key: str, *, wanted: Wanted | None = None
    ) -> None:
        """Nothing: the server counts itself."""

    def _asked(self, call: Call, read: Callable[[dict[str, Any]], list[Any]]) -> list[Any]:
        question = [self.name, *call]
        kept = self._cache.get(question)
        if kept is not None and kept.age < FRESH_S:
            return self._read(read, kept.value)
        if time.monotonic() >= self._silent_until:
            try:
                told = self._client.ask(call)
                found = read(told)
            except RemoteError as error:
                self._silent_until = time.monotonic() + SILENT_S
                self._say(error)
            else:
                self._cache.put(question, told)
                return found
        return [] if kept is None else self._read(read, kept.value)

    def _read(self, read: Callable[[dict[str, Any]], list[Any]], value: Any) -> list[Any]:
        try:
            return read(value)
        except RemoteError:  # somebody has been at the file
            return []

    def _say(self, error: RemoteError) -> None:
        if self.name not in _told:
            _told.add(self.name)
            words = f"loopbook: {error}; going on with what is at hand"
            show(words, file=sys.stderr, flush=True)
