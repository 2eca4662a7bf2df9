"""How a server is asked until it answers, without a word of how that travels: a client, whether it
waits or is awaited, sends what is asked for here, tells what came of it, and sleeps when told."""

from __future__ import annotations

import random
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from loopbook.client.remote.answer import Answer, Unpacker, json_of, object_of
from loopbook.client.remote.calls import AGAIN, Call, check_status, export_call, reading
from loopbook.errors import InputError, OfflineError, RemoteError
from loopbook.printable import one_line
from loopbook.recipes import _fields
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.exchange import HEADER
from loopbook.recipes.record import Record

MAX_LINE = 40 << 20
"""Bytes of one record of an export that are read."""

MAX_EXPORT = 16 << 30
"""Bytes of an export that are read, unpacked."""

MAX_EMBEDDINGS = 64
"""Vectors of one record, by different encoders."""

Item = tuple[Record, list[Embedding]]

Came = Answer | Exception | None
"""What came of a step: an answer, an error of `TROUBLE`, or nothing after a pause."""

TROUBLE = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)
"""What httpx raises when a connection or an answer fails."""


@dataclass(frozen=True)
class Policy:
    """How patient to be.

    Attributes:
        timeout: seconds for connecting, and between two pieces of an answer.
        attempts: how often to ask in all.
        first_wait, longest_wait: seconds between attempts; doubled each time.
        deadline: seconds for the whole of a call: all attempts, and the pauses between them. For an
            export, from one record to the next.
        whole: seconds for an export.
    """

    timeout: float = 10.0
    attempts: int = 4
    first_wait: float = 0.25
    longest_wait: float = 8.0
    deadline: float = 60.0
    whole: float = 6 * 3600.0


class Attempts:
    """Counts attempts at one call, and says how long to wait before the next.

    Attributes:
        until: when all of it has to be over, by `time.monotonic`.
    """

    def __init__(self, policy: Policy, url: str) -> None:
        self.until = time.monotonic() + policy.deadline
        self._policy = policy
        self._url = url
        self._done = 0

    def failed(self, error: Exception) -> float:
        """Seconds to wait after an attempt that got no answer.

        Raises:
            OfflineError: that was the last, or there is no time for another.
        """
        self._done += 1
        late = isinstance(error, (httpx.TimeoutException, TimeoutError))
        what = "does not answer in time" if late else "cannot be reached"
        cause = "" if late else f": {one_line(error)}"
        gone = OfflineError(f"the server {self._url} {what}{cause}")
        if self._done >= self._policy.attempts:
            raise gone from None
        wait = self._wait(None)
        if time.monotonic() + wait >= self.until:
            raise gone from None
        return wait

    def answered(self, answer: Answer) -> float | None:
        """Seconds to wait before asking again; None if the answer stands."""
        self._done += 1
        if answer.status not in AGAIN or self._done >= self._policy.attempts:
            return None
        wait = self._wait(answer.headers.get("retry-after"))
        return wait if time.monotonic() + wait < self.until else None

    def _wait(self, told: str | None) -> float:
        policy = self._policy
        wait = min(policy.longest_wait, policy.first_wait * 2 ** (self._done - 1))
        if told is not None and told.isascii() and told.isdigit():
            wait = max(wait, min(float(told), policy.longest_wait))
        # Clients that failed together must not come back together.
        return wait * random.uniform(0.5, 1.5)


Step = tuple[Call, float] | float
"""A call, and when it has to be over, or seconds to wait."""


def asking(call: Call, policy: Policy, url: str) -> Generator[Step, Came, dict[str, Any]]:
    """The steps of one question: calls to send, and seconds to wait between them.

    Returns:
        The JSON object that the server answers with.

    Raises:
        RemoteError: it does not.
    """
    attempts = Attempts(policy, url)
    while True:
        came = yield call, attempts.until
        if isinstance(came, Exception):
            yield attempts.failed(came)
            continue
        assert came is not None, "a call brings an answer or an error"
        wait = attempts.answered(came)
        if wait is None:
            check_status(came, url)
            return object_of(came, url)
        yield wait


class Export:
    """One export, taken up again behind the last record that arrived when the connection breaks.

    Args:
        after: an id; only records behind it.
    """

    def __init__(self, after: str, target: str | None, policy: Policy, url: str) -> None:
        self._after = after
        self._target = target
        self._policy = policy
        self._url = url
        self._attempts = Attempts(policy, url)
        self._over = time.monotonic() + policy.whole
        self._lines = Lines(url)
        self._unpacker: Unpacker | None = None

    @property
    def call(self) -> Call:
        """What to send next."""
        return export_call(self._after, self._target)

    @property
    def until(self) -> float:
        """When the next record has to be there."""
        return min(self._attempts.until, self._over)

    def begun(self, answer: Answer) -> float | None:
        """Seconds to wait before asking again; None if the answer is the export.

        Args:
            answer: its body need be there only if it is a refusal.

        Raises:
            RemoteError: it is a refusal that stands.
        """
        wait = self._attempts.answered(answer)
        if wait is None:
            check_status(answer, self._url)
            self._lines = Lines(self._url)
            self._unpacker = Unpacker(answer.headers, MAX_EXPORT, self._url)
        return wait

    def feed(self, piece: bytes) -> Iterator[Item]:
        """The records that are complete with this piece of the answer.

        Raises:
            RemoteError: see `Lines.feed`.
            httpx.ReadTimeout: it is late.
        """
        assert self._unpacker is not None, "an export begins before it goes on"
        for part in self._unpacker.feed(piece):
            for item in self._lines.feed(part):
                yield item
                self._after = item[0].id
                self._attempts = Attempts(self._policy, self._url)
        if time.monotonic() >= self.until:
            raise httpx.ReadTimeout("the export takes too long")

    def end(self) -> None:
        """The answer has ended; see `Lines.end`."""
        assert self._unpacker is not None, "an export begins before it ends"
        self._unpacker.end()
        self._lines.end()

    def failed(self, error: Exception) -> float:
        """Seconds to wait after the connection broke; see `Attempts.failed`."""
        return self._attempts.failed(error)


class Lines:
    """Cuts the pieces of an export into records.

    A stream that ends within a line has been cut off: what was whole before it counts.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._rest: list[bytes] = []
        self._held = 0
        self._begun = False

    def feed(self, piece: bytes) -> Iterator[Item]:
        """The records that are complete with this piece.

        Raises:
            RemoteError: it is no export, or a record in it is damaged.
        """
        *whole, rest = piece.split(b"\n")
        for line in whole:
            text = b"".join([*self._rest, line])
            self._rest, self._held = [], 0
            yield from self._read(text)
        self._rest.append(rest)
        self._held += len(rest)
        if self._held > MAX_LINE:
            raise RemoteError(f"the server {self._url} sends a line without an end")

    def _read(self, line: bytes) -> Iterator[Item]:
        with reading(self._url):
            told = json_of(line)
            if not self._begun:
                if told != HEADER:
                    raise InputError("it does not begin as an export")
                self._begun = True
                return
            told = _fields.mapping(told, "a line of an export")
            record = Record.from_json(told.get("record"))
            rows = _fields.items(told, "embeddings", "a line of an export", limit=MAX_EMBEDDINGS)
            item = record, [Embedding.from_json(one) for one in rows]
        yield item

    def end(self) -> None:
        """Check that nothing is missing.

        Raises:
            RemoteError: the stream ended before its first line or within one.
        """
        if self._held or not self._begun:
            raise RemoteError(f"the export of {self._url} is cut short")
