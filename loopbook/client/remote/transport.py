"""How a client that waits reaches a server: every step ends when the whole call has to.

httpx limits each step of a call by itself, so that a server which sends a byte now and then is
listened to for ever. Here whoever makes a call says when it has to be over, and every connection,
name look-up, read and write made for it on this thread gets what is left.
"""

from __future__ import annotations

import queue
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpcore
import httpx

ADDRESSES = 4
"""Addresses of one name that are tried."""

_PIECE = 1 << 16

_thread = threading.local()


@contextmanager
def ending(until: float) -> Iterator[None]:
    """What this thread asks of servers in the block is over at `until`, by `time.monotonic`."""
    _thread.until = until
    try:
        yield
    finally:
        _thread.until = None


def _left(timeout: float | None, error: type[Exception]) -> float | None:
    """Seconds that a step may take: its own limit, or what is left of the call."""
    until = getattr(_thread, "until", None)
    if until is None:
        return timeout
    left = until - time.monotonic()
    if left <= 0:
        raise error("the call took too long")
    return left if timeout is None else min(left, timeout)


def trusted(url: str, verify: Any) -> Any:
    """`verify`, where there are certificates to check: to read those of the system takes longer
    than a call. No call is ever sent on to another address."""
    plain = url.lower().startswith("http:") and not urllib.request.getproxies()
    return False if plain else verify


class Transport(httpx.BaseTransport):
    """Connections to one server, kept open between calls; through a proxy, where the environment
    names one for it.

    Args:
        url: the server's base address.
        verify: how HTTPS certificates are checked, as httpx wants it.
    """

    def __init__(self, url: str, verify: Any) -> None:
        options: dict[str, Any] = {
            "ssl_context": httpx.create_ssl_context(verify=trusted(url, verify)),
            "max_connections": 16,
            "network_backend": _Backend(),
        }
        address = httpx.URL(url)
        proxy = urllib.request.getproxies().get(address.scheme)
        if proxy and not urllib.request.proxy_bypass(address.host):
            self._pool: httpcore.ConnectionPool = httpcore.HTTPProxy(proxy, **options)
        else:
            self._pool = httpcore.ConnectionPool(**options)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        target = httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        )
        asked = httpcore.Request(
            request.method,
            target,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _translated():
            answer = self._pool.handle_request(asked)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    """An answer's body, as it comes."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _translated():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        with suppress(httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException):
            self._answer.close()


@contextmanager
def _translated() -> Iterator[None]:
    """Errors of httpcore as those of httpx."""
    try:
        yield
    except httpcore.TimeoutException as error:
        raise httpx.ReadTimeout(str(error)) from error
    except httpcore.RemoteProtocolError as error:
        raise httpx.RemoteProtocolError(str(error)) from error
    except (
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.ProxyError,
        httpcore.UnsupportedProtocol,
        httpcore.ConnectionNotAvailable,
    ) as error:
        raise httpx.NetworkError(str(error)) from error


class _Backend(httpcore.NetworkBackend):
    """Sockets whose every step ends with the call."""

    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        addresses = _resolved(host, port, _left(timeout, httpcore.ConnectTimeout))
        for number, address in enumerate(addresses, 1):
            left = _left(timeout, httpcore.ConnectTimeout)
            try:
                stream = self._inner.connect_tcp(address, port, left, local_address, socket_options)
                return _Stream(stream)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise httpcore.ConnectError(f"{host} has no address")


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            piece = buffer[start : start + _PIECE]
            self._inner.write(piece, _left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _resolved(host: str, port: int, seconds: float | None) -> list[str]:
    """A host's addresses. The system's own look-up has no limit of time, so that it is left behind
    on a thread of its own where it takes too long."""
    found: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def look() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.put([str(row[4][0]) for row in rows[:ADDRESSES]])
        except (OSError, UnicodeError) as error:
            found.put(error)

    threading.Thread(target=look, name="loopbook look-up", daemon=True).start()
    try:
        told = found.get(timeout=seconds)
    except queue.Empty:
        raise httpcore.ConnectTimeout(f"the address of {host} is not known in time") from None
    if isinstance(told, Exception):
        raise httpcore.ConnectError(str(told)) from told
    return told
