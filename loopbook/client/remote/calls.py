"""What is asked of a server and what its answers mean, without a word of how they travel."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, NamedTuple

import httpx

from loopbook.client.shelf import SERVER_VARIABLE
from loopbook.errors import AccessError, InputError, OfflineError, RemoteError
from loopbook.recipes.book import Neighbour
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Record

TOKEN_VARIABLES = ("LOOPBOOK_TOKEN", "DOCC_ACCESS_TOKEN")

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
