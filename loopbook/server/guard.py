"""Stands before the application: limits on bodies, and figures about every request.

A body has to arrive whole, within its time and its size, before anything looks at it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from loopbook.server.settings import Limits

if TYPE_CHECKING:
    from loopbook.server.metrics import Metrics

log = logging.getLogger("loopbook.server")

LINGER_S = 5.0
LINGER_BYTES = 64 << 20
"""How long, and how much, a client may go on sending after it has been refused."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Refused(Exception):
    """A request that gets no farther.

    Args:
        status: of the response.
    """

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class TooLarge(Refused):
    """The body has more bytes than it may have.

    Args:
        most: how many it may.
    """

    def __init__(self, most: int) -> None:
        super().__init__(413, f"the body has more than {most} bytes")


class Guard:
    """ASGI middleware.

    Args:
        metrics: what is told of each request; None if nothing is.
    """

    def __init__(self, app: Any, limits: Limits, metrics: Callable[[], Metrics | None]) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        status = 0

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            body = await self._body(scope, receive)
            await self._app(scope, _given(body, receive), counted)
        except TooLarge as refusal:
            await _say_to_sender(counted, receive, refusal.status, str(refusal))
        except Refused as refusal:
            await _say(counted, refusal.status, str(refusal))
        except Exception:
            log.exception("%s %s", scope["method"], scope["path"][:200])
            if not status:
                await _say(counted, 500, "something went wrong here")
        finally:
            metrics = self._metrics()
            if metrics is not None:
                path = getattr(scope.get("route"), "path", "other")
                metrics.requests.labels(path, str(status)).inc()
                metrics.seconds.labels(path).observe(time.perf_counter() - begun)

    async def _body(self, scope: Message, receive: Receive) -> bytes:
        most = self._limits.body_bytes
        for name, value in scope["headers"]:
            if name == b"content-length" and (not value.isdigit() or int(value[:20]) > most):
                raise TooLarge(most)
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.body_s):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "the body is cut short")
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        raise TooLarge(most)
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            words = f"the body did not arrive within {self._limits.body_s:g} s"
            raise Refused(408, words) from None


def _given(body: bytes, receive: Receive) -> Receive:
    """What the application receives: the body in one piece, then what else comes."""
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _say(send: Send, status: int, words: str) -> None:
    await send(_head(status, body := json.dumps({"error": words}).encode()))
    await send({"type": "http.response.body", "body": body})


async def _say_to_sender(send: Send, receive: Receive, status: int, words: str) -> None:
    """Answer a client that is still sending. To close a connection on which more has come than was
    read resets it, and the client may lose the answer with it: so what it sends is read for a
    while, and thrown away."""
    await send(_head(status, body := json.dumps({"error": words}).encode()))
    await send({"type": "http.response.body", "body": body, "more_body": True})
    left = LINGER_BYTES
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while left > 0:
                message = await receive()
                if message["type"] == "http.disconnect" or not message.get("more_body"):
                    break
                left -= len(message.get("body", b""))
    await send({"type": "http.response.body"})


def _head(status: int, body: bytes) -> Message:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    headers.append((b"content-length", str(len(body)).encode()))
    return {"type": "http.response.start", "status": status, "headers": headers}
