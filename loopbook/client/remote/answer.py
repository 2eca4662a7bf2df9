"""What a server sends, taken in with limits: so many bytes, unpacked or not, and so many values."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx

from loopbook.errors import RemoteError
from loopbook.printable import one_line

MAX_ANSWER = 32 << 20
"""Bytes of an answer that is read as one, unpacked."""

MAX_VALUES = 2_000_000
"""Commas and brackets of a JSON text: each value takes some sixty bytes of memory, however short
its text."""

ACCEPTED = "gzip"
"""The one packing that is undone here; there is no limit to what others make of a few bytes."""

_PIECE = 1 << 20


class Answer(NamedTuple):
    """A whole answer."""

    status: int
    headers: httpx.Headers
    body: bytes


class Unpacker:
    """Undoes an answer's packing piece by piece.

    Args:
        limit: bytes in all, unpacked.

    Raises:
        RemoteError: the packing is none that was asked for.
    """

    def __init__(self, headers: httpx.Headers, limit: int, url: str) -> None:
        packing = headers.get("content-encoding", "").strip().lower()
        if packing not in ("", "identity", ACCEPTED):
            raise RemoteError(f"the server {url} packs its answer in a way not asked for")
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 16) if packing == ACCEPTED else None
        self._left = limit
        self._url = url

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """What a piece of the answer unpacks to, in pieces of at most a megabyte.

        Raises:
            RemoteError: it is too much, or damaged.
        """
        if self._inflate is None:
            yield self._counted(piece)
            return
        while piece:
            try:
                unpacked = self._inflate.decompress(piece, _PIECE)
            except zlib.error:
                raise RemoteError(f"the server {self._url} sends a damaged answer") from None
            yield self._counted(unpacked)
            if self._inflate.unused_data:
                raise RemoteError(f"the server {self._url} sends more than an answer")
            piece = self._inflate.unconsumed_tail

    def end(self) -> None:
        """The answer has ended.

        Raises:
            RemoteError: its packing has not.
        """
        if self._inflate is not None and not self._inflate.eof:
            raise RemoteError(f"the answer of the server {self._url} is cut short")

    def _counted(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise RemoteError(f"the server {self._url} sends more than is read of an answer")
        return piece


def json_of(text: bytes) -> Any:
    """The JSON value in a text.

    Raises:
        ValueError: it is none, or one of too many values.
    """
    if sum(map(text.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise ValueError("it holds too many values")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def object_of(answer: Answer, url: str) -> dict[str, Any]:
    """The JSON object in an answer.

    Raises:
        RemoteError: there is none.
    """
    try:
        told = json_of(answer.body)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise RemoteError(f"the server {url} answers with what is no JSON object")
    return told


def words_of(answer: Answer) -> str:
    """What a server says to explain a refusal, fit to be printed."""
    try:
        told = json_of(answer.body)["error"]
    except (ValueError, KeyError, TypeError):
        return "no reason is given"
    return one_line(told)
