"""HTTP/1.1 heads that can be read in one way only.

h11 is lenient where the standard lets it be: it takes a bare line feed for the end of a line, joins
folded lines, drops copies of a header, and where both ``Content-Length`` and ``Transfer-Encoding``
are there it goes by the second. A proxy in front that reads such a head in another way takes the
rest of it for another request than we do: request smuggling. Whoever writes heads like that is
refused with 400, and the connection closed.
"""

from __future__ import annotations

import re

import h11
from h11._receivebuffer import ReceiveBuffer

ONCE = frozenset(
    {b"authorization", b"content-length", b"content-type", b"expect", b"host", b"transfer-encoding"}
)
"""Headers that a request has once at most."""

MOST_HEADERS = 100

CHUNKS = 256
"""Chunks that a body may have however small they are; of more, each has to bring `LEAST` bytes on
average, because each is work."""

LEAST = 64

_LOOSE = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\n[ \t]|[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""The end of a line that is none, a folded line, or what is no text."""

_END = b"\r\n\r\n"


class _StrictBuffer(ReceiveBuffer):
    """h11's buffer of what has arrived, which looks at a head before its lines are parsed."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        data = self._data
        if data[:2] == b"\r\n":  # the end of a chunked body without trailers
            return super().maybe_extract_lines()
        begin = max(0, self._multiple_lines_search - len(_END))
        end = data.find(_END, begin)
        stop = len(data) if end < 0 else end + len(_END)
        if _LOOSE.search(data, begin, stop):
            raise h11.LocalProtocolError("a line of the head is not as it should be")
        # Nothing is searched twice, however small the pieces are that a head comes in.
        self._multiple_lines_search = stop if end < 0 else begin
        if end < 0:
            return None
        lines = super().maybe_extract_lines()
        _check_headers(lines or [])
        return lines


def _check_headers(lines: list[bytearray]) -> None:
    """Refuse heads whose headers contradict each other, or may.

    Raises:
        LocalProtocolError: which.
    """
    if len(lines) > MOST_HEADERS + 1:
        raise h11.LocalProtocolError("there are too many headers")
    named = [line.partition(b":") for line in lines[1:]]
    names = [bytes(name).lower() for name, _, _ in named]
    if any(names.count(name) > 1 for name in ONCE):
        raise h11.LocalProtocolError("a header comes twice")
    headers = {name: bytes(value) for name, (_, _, value) in zip(names, named, strict=True)}
    if not headers.get(b"content-length", b"0").strip(b" \t").isdigit():
        raise h11.LocalProtocolError("Content-Length is a number")
    if b"transfer-encoding" in headers:
        if b"content-length" in headers:
            raise h11.LocalProtocolError("Content-Length and Transfer-Encoding exclude each other")
        if not lines[0].endswith(b"HTTP/1.1"):
            raise h11.LocalProtocolError("Transfer-Encoding is of HTTP/1.1")


class StrictConnection(h11.Connection):
    """The server's end of a connection, for which an ambiguous request is no request.

    Args:
        most: bytes of a head.
    """

    def __init__(self, most: int) -> None:
        super().__init__(h11.SERVER, most)
        self._receive_buffer = _StrictBuffer()
        self._chunks = self._bytes = 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """As h11's.

        Raises:
            RemoteProtocolError: what has come is no request, or a body in crumbs.
        """
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._chunks = self._bytes = 0
        elif isinstance(event, h11.Data):
            self._chunks += event.chunk_start
            self._bytes += len(event.data)
            if self._chunks > CHUNKS + self._bytes // LEAST:
                raise h11.RemoteProtocolError("the body comes in crumbs")
        return event
