"""What is asked of a server and what its answers mean, without a word of how they travel."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx

from loopbook.client.incoming import check_record
from loopbook.client.places import SERVER_VARIABLE
from loopbook.client.remote.answer import ACCEPTED, Answer, words_of
from loopbook.errors import AccessError, InputError, OfflineError, RemoteError
from loopbook.printable import one_line
from loopbook.recipes import _fields
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.layer import Neighbour
from loopbook.recipes.record import Record
from loopbook.recipes.reports import Report

TOKENS = (("LOOPBOOK_TOKEN", SERVER_VARIABLE), ("DOCC_ACCESS_TOKEN", "RPC_SERVER"))
"""Variables that hold a token, and those that name the server that it is for."""

MAX_NEAREST = 100
MAX_EXACT = 4096
"""Records in one answer."""

AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same may be asked again."""


class Call(NamedTuple):
    """One request."""

    method: str
    path: str
    body: Any = None
    query: dict[str, str] | None = None


def server_address(url: str | None) -> str:
    """A server's base address: the one given, else ``$LOOPBOOK_SERVER``.

    Raises:
        InputError: there is none, or it is no address.
    """
    found = (url or os.environ.get(SERVER_VARIABLE, "")).rstrip("/").removesuffix("/docc")
    if not found:
        raise InputError(f"no server is named: give its address, or set {SERVER_VARIABLE}")
    if _origin(found) is None:
        raise InputError(f"{found[:120]!a} is no address of a server: it begins with http(s)://")
    return found


def _origin(address: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an address; None if it is none."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, TypeError, ValueError):
        return None
    if url.scheme not in ("http", "https") or not url.host:
        return None
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}[url.scheme]


def headers_for(url: str, token: str | None) -> dict[str, str]:
    """What every request to a server carries: its token, the one given or that of the environment.

    A token of the environment goes to its own server only: ``LOOPBOOK_TOKEN`` to the one that
    ``LOOPBOOK_SERVER`` names, or where that is not set to the one that the call names, and
    ``DOCC_ACCESS_TOKEN`` to the one that ``RPC_SERVER`` names.

    Raises:
        InputError: the token is none.
    """
    found = token or next((one for one in map(os.environ.get, _variables(url)) if one), "")
    headers = {"Accept-Encoding": ACCEPTED}
    if not found:
        return headers
    if not found.isascii() or not found.isprintable():
        raise InputError("the token holds characters that no token has")
    return headers | {"Authorization": f"Token {found}"}


def _variables(url: str) -> Iterator[str]:
    """The variables whose tokens are for a server."""
    for number, (variable, server) in enumerate(TOKENS):
        named = os.environ.get(server, "")
        if _origin(named) == _origin(url) if named else number == 0:
            yield variable


def check_status(answer: Answer, url: str) -> None:
    """Raise what an answer's status means.

    Raises:
        AccessError: 401 or 403.
        OfflineError: the server is there, but cannot answer now.
        RemoteError: any other refusal, in the server's words.
    """
    status = answer.status
    if 200 <= status < 300:
        return
    words = words_of(answer)
    if status in (401, 403):
        raise AccessError(f"the server {url} refuses: {words}")
    if status in AGAIN:
        raise OfflineError(f"the server {url} cannot answer now ({status}): {words}")
    raise RemoteError(f"the server {url} answers {status}: {words}")


@contextmanager
def reading(url: str) -> Iterator[None]:
    """What cannot be read in the block is a server's damage, not bad input.

    Raises:
        RemoteError: in place of what reading raises.
    """
    try:
        yield
    except (InputError, ValueError, KeyError, TypeError) as error:
        words = one_line(error)
        raise RemoteError(f"the server {url} answers with damaged records: {words}") from None


LONGEST_POLL_S = 8.0
"""Seconds that one request may wait for news: less than for a connection to be taken for dead."""


def missed_call(fingerprint: str, target: str, wait: float) -> Call:
    """What has become of a nest that was asked for in vain."""
    seconds = f"{min(max(wait, 0.0), LONGEST_POLL_S):.3f}"
    return Call("GET", f"/v1/misses/{fingerprint}", query={"target": target, "wait": seconds})


def is_over(told: dict[str, Any]) -> bool:
    """Whether nothing more will come of a nest that was asked for in vain."""
    return told.get("state") in ("done", "dead")


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
        "k": max(1, min(k, MAX_NEAREST)),
        "target": target,
        "exclude": sorted(exclude),
        "hardware": None if hardware is None else hardware.to_json(),
        "whole": True,
    }
    return Call("POST", "/v1/nearest", body)


def neighbours_of(told: dict[str, Any], asked: Embedding, target: str, url: str) -> list[Neighbour]:
    """The neighbours in an answer to `nearest_call`.

    Raises:
        RemoteError: they are none, or not of what was asked for.
    """
    found = []
    with reading(url):
        for one in _fields.items(told, "neighbours", "an answer", limit=MAX_NEAREST):
            near = _fields.mapping(one, "a neighbour")
            record = Record.from_json(near.get("content"))
            check_record(record)
            embedding = Embedding.from_json(near.get("embedding"))
            if (embedding.encoder, embedding.dimension) != (asked.encoder, asked.dimension):
                raise InputError("a neighbour's vector is of another encoder")
            if record.target != target:
                raise InputError("a neighbour is for another target")
            distance = _fields.number(near, "distance", "a neighbour")
            away = _fields.number(near, "hardware_distance", "a neighbour")
            found.append(Neighbour(record, embedding, distance, away))
    return found


def exact_call(fingerprint: str, target: str) -> Call:
    """The records of one very nest."""
    return Call("GET", "/v1/records", None, {"fingerprint": fingerprint, "target": target})


def records_of(told: dict[str, Any], fingerprint: str, target: str, url: str) -> list[Record]:
    """The records in an answer to `exact_call`.

    Raises:
        RemoteError: they are none, or not of what was asked for.
    """
    with reading(url):
        rows = _fields.items(told, "records", "an answer", limit=MAX_EXACT)
        records = [Record.from_json(one) for one in rows]
        if any((one.fingerprint, one.target) != (fingerprint, target) for one in records):
            raise InputError("a record is of another nest than was asked for")
        for one in records:
            check_record(one)
    return records


MOST_REPORTS = 32
"""In one request, as servers take them."""


def report_call(reports: Sequence[Report]) -> Call:
    """How recipes did where they ran."""
    return Call("POST", "/v1/reports", {"reports": [one.to_json() for one in reports]})


def parts(reports: Sequence[Report]) -> Iterator[Sequence[Report]]:
    """So many as go into a request."""
    for first in range(0, len(reports), MOST_REPORTS):
        yield reports[first : first + MOST_REPORTS]


def statuses_of(told: dict[str, Any], reports: Sequence[Report], url: str) -> list[str]:
    """What became of each report."""
    with reading(url):
        rows = _fields.items(told, "reports", "an answer", limit=MOST_REPORTS)
        if len(rows) != len(reports):
            raise InputError("it answers other reports than were sent")
        given = (_fields.mapping(one, "an answer") for one in rows)
        return [one_line(_fields.text(one, "status", "an answer", limit=64)) for one in given]


def status_of(told: dict[str, Any], url: str) -> str:
    """What became of a contributed record."""
    with reading(url):
        return one_line(_fields.text(told, "status", "an answer", limit=64))


def state_of(told: dict[str, Any], url: str) -> tuple[str, int]:
    """The stamp of a server's book, "" where it tells none, and how many records are its own."""
    with reading(url):
        told = {"stamp": "", "own": 0} | told
        stamp = _fields.text(told, "stamp", "an answer", limit=128)
        return stamp, _fields.integer(told, "own", "an answer")


def export_call(after: str, target: str | None) -> Call:
    """The book behind a record's id."""
    query = {"after": after} | ({} if target is None else {"target": target})
    return Call("GET", "/v1/export", None, query)
