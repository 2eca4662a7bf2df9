"""How a server is asked until it answers, without a word of how that travels: a client, whether it
waits or is awaited, sends what is asked for here, tells what came of it, and sleeps when told."""

from __future__ import annotations

import json
import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from loopbook.client.remote.calls import AGAIN, Call, check_status, export_call, parsed
from loopbook.errors import InputError, OfflineError, RemoteError
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.exchange import HEADER
from loopbook.recipes.record import Record

MAX_LINE = 128 << 20
"""Bytes of one record of an export that are read."""

Item = tuple[Record, list[Embedding]]

Came = httpx.Response | httpx.TransportError | None
"""What came of a step: an answer, none, or nothing after a pause."""


@dataclass(frozen=True)
class Policy:
    """How patient to be.

    Attributes:
        timeout: seconds for connecting, and between two pieces of an answer.
        attempts: how often to ask in all.
        first_wait, longest_wait: seconds between attempts; doubled each time.
    """

    timeout: float = 10.0
    attempts: int = 4
    first_wait: float = 0.25
    longest_wait: float = 8.0


class Attempts:
    """Counts attempts at one call, and says how long to wait before the next."""

    def __init__(self, policy: Policy, url: str) -> None:
        self._policy = policy
        self._url = url
        self._done = 0

    def failed(self, error: httpx.TransportError) -> float:
        """Seconds to wait after an attempt that got no answer.

        Raises:
            OfflineError: that was the last.
        """
        self._done += 1
        if self._done >= self._policy.attempts:
            late = isinstance(error, httpx.TimeoutException)
            what = "does not answer in time" if late else "cannot be reached"
            cause = "" if late else f": {error}"
            raise OfflineError(f"the server {self._url} {what}{cause}") from None
        return self._wait(None)

    def answered(self, response: httpx.Response) -> float | None:
        """Seconds to wait before asking again; None if the answer stands."""
        self._done += 1
        if response.status_code not in AGAIN or self._done >= self._policy.attempts:
            return None
        return self._wait(response.headers.get("retry-after"))

    def _wait(self, told: str | None) -> float:
        policy = self._policy
        wait = min(policy.longest_wait, policy.first_wait * 2 ** (self._done - 1))
        if told is not None and told.isdigit():
            wait = max(wait, min(float(told), policy.longest_wait))
        # Clients that failed together must not come back together.
        return wait * random.uniform(0.5, 1.5)


def asking(call: Call, policy: Policy, url: str) -> Generator[Call | float, Came, dict[str, Any]]:
    """The steps of one question: calls to send, and seconds to wait between them.

    Returns:
        The JSON object that the server answers with.

    Raises:
        RemoteError: it does not.
    """
    attempts = Attempts(policy, url)
    while True:
        came = yield call
        if isinstance(came, httpx.TransportError):
            yield attempts.failed(came)
            continue
        assert came is not None, "a call brings an answer or an error"
        wait = attempts.answered(came)
        if wait is None:
            check_status(came, url)
            return parsed(came, url)
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
        self._lines = Lines(url)

    @property
    def call(self) -> Call:
        """What to send next."""
        return export_call(self._after, self._target)

    def begun(self, response: httpx.Response) -> float | None:
        """Seconds to wait before asking again; None if the answer is the export.

        Args:
            response: its body need be there only if it is a refusal.

        Raises:
            RemoteError: it is a refusal that stands.
        """
        wait = self._attempts.answered(response)
        if wait is None:
            check_status(response, self._url)
            self._lines = Lines(self._url)
        return wait

    def feed(self, piece: bytes) -> Iterator[Item]:
        """The records that are complete with this piece of the answer."""
        for item in self._lines.feed(piece):
            yield item
            self._after = item[0].id
            self._attempts = Attempts(self._policy, self._url)

    def end(self) -> None:
        """The answer has ended; see `Lines.end`."""
        self._lines.end()

    def failed(self, error: httpx.TransportError) -> float:
        """Seconds to wait after the connection broke; see `Attempts.failed`."""
        return self._attempts.failed(error)


class Lines:
    """Cuts the pieces of an export into records.

    A stream that ends within a line has been cut off: what was whole before it counts.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._rest = b""
        self._begun = False

    def feed(self, piece: bytes) -> Iterator[Item]:
        """The records that are complete with this piece.

        Raises:
            RemoteError: it is no export, or a record in it is damaged.
        """
        *whole, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > MAX_LINE:
            raise RemoteError(f"the server {self._url} sends a line without an end")
        for line in whole:
            try:
                told = json.loads(line)
                if not self._begun:
                    if told != HEADER:
                        raise InputError("it does not begin as one")
                    self._begun = True
                    continue
                record = Record.from_json(told["record"])
                vectors = [Embedding.from_json(one) for one in told["embeddings"]]
            except (InputError, ValueError, KeyError, TypeError, RecursionError) as error:
                raise RemoteError(f"the export of {self._url} is damaged: {error}") from None
            yield record, vectors

    def end(self) -> None:
        """Check that nothing is missing.

        Raises:
            RemoteError: the stream ended before its first line or within one.
        """
        if self._rest or not self._begun:
            raise RemoteError(f"the export of {self._url} is cut short")
