"""Runs a server until it is told to stop, and then lets it finish what it holds."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import ssl
from pathlib import Path
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from loopbook.errors import InputError
from loopbook.server.logs import log_to_terminal
from loopbook.server.strict import StrictConnection

HEADER_SECONDS = 10.0
"""How long a client may take to send the head of a request."""

IDLE_SECONDS = 30
MOST_CONNECTIONS = 1000

MOST_HEAD = 16 << 10
"""Bytes of a request's head."""

READ_BYTES = 32 << 10
"""Bytes that are read from a connection at once. So much of each may lie in memory before anybody
has looked at its token."""


class PatientProtocol(H11Protocol):
    """uvicorn's protocol, with an end to its patience, and strict.

    It closes connections that begin a request and do not come to the end of its head; refuses heads
    that can be read in two ways; and reads no more of a body than the application asks for.
    """

    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.conn = StrictConnection(MOST_HEAD)
        if hasattr(transport, "max_size"):  # asyncio's own, of plain TCP
            transport.max_size = READ_BYTES
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        if self._head is None and (self.cycle is None or self.cycle.response_complete):
            self._wait_for_head()
        super().data_received(data)
        cycle = self.cycle
        if cycle is not None and cycle.more_body and not cycle.response_complete:
            # The application goes on with it when it has taken what is there.
            self.flow.pause_reading()

    def send_400_response(self, msg: str) -> None:
        body = json.dumps({"error": "the request is malformed"}).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        headers.append(("Connection", "close"))
        response = h11.Response(status_code=400, headers=headers, reason="Bad Request")
        try:
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:  # an answer had begun
            pass
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._head is not None:
            self._head.cancel()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        before = self.cycle

        def over() -> None:
            self._head = None
            if self.cycle is before and not self.transport.is_closing():
                self.transport.close()

        self._head = self.loop.call_later(HEADER_SECONDS, over)


class AnnouncingServer(uvicorn.Server):
    """uvicorn's server, which says where it is as soon as it answers, and tells its application
    that it is about to end (``state.ending``): answers that would go on for ever may stop."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        state = getattr(self.config.app, "state", None)
        if state is not None:
            state.ending = True
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            scheme = "https" if self.config.is_ssl else "http"
            name, port = sockets[0].getsockname()[:2]
            print(f"loopbook: serving {scheme}://{name}:{port}", flush=True)


def run(
    app: Any,
    *,
    host: str = "",
    port: int = 0,
    listener: socket.socket | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    drain_s: float = 30.0,
    proxied: bool = False,
) -> None:
    """Serve an ASGI application until SIGTERM or SIGINT.

    Args:
        port: 0 takes a free one, which is printed.
        listener: a socket of `listen`, in place of host and port.
        certificate, key: files in PEM; HTTPS if given.
        drain_s: seconds in which requests that are being answered may end.
        proxied: take the client's address from a proxy in front, which is on this machine.

    Raises:
        InputError: the address is taken or none, or the certificate cannot be used.
    """
    log_to_terminal()
    if certificate is not None:
        _check_certificate(certificate, key)
    listener = listener or listen(host, port)
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=proxied,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=int(drain_s),
        limit_concurrency=MOST_CONNECTIONS,
        lifespan="on",
    )
    server = AnnouncingServer(config)
    # uvicorn ends gracefully, then hands the signal on: to have been told to stop is no failure.
    signal.signal(signal.SIGTERM, lambda *_: None)
    server.run(sockets=[listener])
    if not server.started:
        raise InputError("the server did not start: see its log")


def listen(host: str, port: int) -> socket.socket:
    """A socket for `run`.

    Args:
        port: 0 takes a free one.

    Raises:
        InputError: the address is taken or none.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit it. Else an answer waits 40 ms between its head and its body.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot listen at {host}, port {port}: {error}") from None
    return listener


def _check_certificate(certificate: Path, key: Path | None) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"the certificate {certificate} cannot be used: {error}") from None
