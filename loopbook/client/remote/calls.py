"""What is asked of a server and what its answers mean, without a word of how they travel."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import httpx

from loopbook.client.shelf import SERVER_VARIABLE
from loopbook.errors import AccessError, InputError, OfflineError, RemoteError
from loopbook.recipes.book import Neighbour
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.exchange import HEADER
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Record

TOKEN_VARIABLES = ("LOOPBOOK_TOKEN", "DOCC_ACCESS_TOKEN")

MAX_ANSWER = 128 << 20
"""Bytes of an answer that are read."""

AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same may be asked again."""


class Call(NamedTuple):
    """One request."""

    method: str
    path: str
    body: Any = None
    query: dict[str, str] | None = None


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


def server_address(url: str | None) -> str:
    """A server's base address: the one given, else ``$LOOPBOOK_SERVER``.

    Raises:
        InputError: there is none, or it is no address.
    """
    found = (url or os.environ.get(SERVER_VARIABLE, "")).rstrip("/").removesuffix("/docc")
    if not found:
        raise InputError(f"no server is named: give its address, or set {SERVER_VARIABLE}")
    try:
        good = httpx.URL(found).scheme in ("http", "https") and bool(httpx.URL(found).host)
    except httpx.InvalidURL:
        good = False
    if not good:
        raise InputError(f"{found[:120]!a} is no address of a server: it begins with http(s)://")
    return found


def access_headers(token: str | None) -> dict[str, str]:
    """What shows a token: the one given, else that of the environment."""
    named = (os.environ.get(name) for name in TOKEN_VARIABLES)
    found = token or next(filter(None, named), "")
    if not found:
        return {}
    if not found.isascii() or not found.isprintable():
        raise InputError("the token holds characters that no token has")
    return {"Authorization": f"Token {found}"}


class Attempts:
    """Counts attempts at one call, and says how long to wait before the next."""

    def __init__(self, policy: Policy, url: str) -> None:
        self._policy = policy
        self._url = url
        self._done = 0

    def failed(self, error: Exception) -> float:
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


def check_status(response: httpx.Response, url: str) -> None:
    """Raise what an answer's status means.

    Raises:
        AccessError: 401 or 403.
        OfflineError: the server is there, but cannot answer now.
        RemoteError: any other refusal, in the server's words.
    """
    status = response.status_code
    if 200 <= status < 300:
        return
    words = _words(response)
    if status in (401, 403):
        raise AccessError(f"the server {url} refuses: {words}")
    if status in AGAIN:
        raise OfflineError(f"the server {url} cannot answer now ({status}): {words}")
    raise RemoteError(f"the server {url} answers {status}: {words}")


def _words(response: httpx.Response) -> str:
    try:
        told = response.json()["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "no reason is given"
    return " ".join(str(told).split())[:300]


def parsed(response: httpx.Response, url: str) -> dict[str, Any]:
    """The JSON object in an answer."""
    try:
        told = response.json()
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise RemoteError(f"the server {url} answers with what is no JSON object")
    return told


def nearest_call(
    embedding: Embedding,
    k: int,
    target: str,
    exclude: Collection[str],
    hardware: HardwareProfile | None,
) -> Call:
    """The records nearest to a nest."""
    body = {
        "vector": [float(number) for number in embedding.nest],
        "encoder": embedding.encoder,
        "k": max(1, min(k, 100)),
        "target": target,
        "exclude": sorted(exclude),
        "hardware": None if hardware is None else hardware.to_json(),
        "whole": True,
    }
    return Call("POST", "/v1/nearest", body)


def neighbours_of(told: dict[str, Any], url: str) -> list[Neighbour]:
    """The neighbours in an answer to `nearest_call`."""
    try:
        return [
            Neighbour(
                Record.from_json(one["content"]),
                Embedding.from_json(one["embedding"]),
                float(one["distance"]),
                float(one["hardware_distance"]),
            )
            for one in told["neighbours"]
        ]
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise RemoteError(f"the server {url} answers with damaged records: {error}") from None


def exact_call(fingerprint: str, target: str) -> Call:
    """The records of one very nest."""
    return Call("GET", "/v1/records", None, {"fingerprint": fingerprint, "target": target})


def records_of(told: dict[str, Any], url: str) -> list[Record]:
    """The records in an answer to `exact_call`."""
    try:
        return [Record.from_json(one) for one in told["records"]]
    except (InputError, KeyError, TypeError) as error:
        raise RemoteError(f"the server {url} answers with damaged records: {error}") from None


def export_call(after: str, target: str | None) -> Call:
    """The book behind a record's id."""
    query = {"after": after} | ({} if target is None else {"target": target})
    return Call("GET", "/v1/export", None, query)


class Lines:
    """Cuts the pieces of an export into records.

    A stream that ends within a line has been cut off: what was whole before it counts.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._rest = b""
        self._begun = False

    def feed(self, piece: bytes) -> Iterator[tuple[Record, list[Embedding]]]:
        """The records that are complete with this piece.

        Raises:
            RemoteError: it is no export, or a record in it is damaged.
        """
        *whole, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > MAX_ANSWER:
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
