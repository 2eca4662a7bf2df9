"""Stands before the application: who may come in, limits on bodies, figures about every request.

Nothing of a body is asked for before its head has been looked at and the token in it found good;
nor does a client that waits for ``100 Continue`` get that before. Then the body has to arrive
whole, within its time, its size and the memory that there is for bodies, before anything looks at
it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

from loopbook.errors import LoopbookError
from loopbook.server.budget import Budget
from loopbook.server.failures import UNEXPECTED, Refused, status_of, words_of
from loopbook.server.settings import Limits

if TYPE_CHECKING:
    from loopbook.server.access import Caller
    from loopbook.server.metrics import Metrics

log = logging.getLogger("loopbook.server")

LINGER_S = 5.0
LINGER_BYTES = 64 << 20
"""How long, and how much, a client may go on sending after it has been refused."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Sent:
    """A body that is sent to us.

    Attributes:
        whole: all of it has been read.
        held: bytes of it that are in memory.
    """

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        found = dict(headers)
        self.length = int(found.get(b"content-length", b"0")[:20] or 0)
        self.whole = not self.length and b"transfer-encoding" not in found
        self.held = 0


class Guard:
    """ASGI middleware.

    Args:
        limits: on bodies.
        metrics: what is told of each request; None if nothing is.
        admit: says from a request's head who is asking, and raises `Refused` or a `LoopbookError`
            if they may not; None lets everybody in.
    """

    def __init__(
        self,
        app: Any,
        limits: Limits,
        metrics: Callable[[], Metrics | None],
        admit: Callable[[Message], Awaitable[Caller]] | None = None,
    ) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._admit = admit
        each = max(limits.body_bytes, limits.bodies_bytes // 4)
        self._budget = Budget(limits.bodies_bytes, each)

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

        sent = Sent(scope["headers"])
        name = ""
        try:
            if self._admit is not None:
                scope.setdefault("state", {})["caller"] = caller = await self._admit(scope)
                name = caller.name
            body = await self._body(sent, name, receive)
            await self._app(scope, _given(body, receive), counted)
        except Refused as refusal:
            await _refuse(counted, receive, sent, refusal)
        except LoopbookError as error:  # the database with the tokens
            refusal = Refused(status_of(error), words_of(error))
            await _refuse(counted, receive, sent, refusal)
        except Exception:
            log.exception("%s %s", scope["method"], scope["path"][:200])
            if not status:
                await _refuse(counted, receive, sent, Refused(500, UNEXPECTED))
        finally:
            self._budget.give_back(name, sent.held)
            metrics = self._metrics()
            if metrics is not None:
                path = scope.get("path_template", "other")
                metrics.requests.labels(path, str(status)).inc()
                metrics.seconds.labels(path).observe(time.perf_counter() - begun)

    async def _body(self, sent: Sent, name: str, receive: Receive) -> bytes:
        """All of a body, for which memory is taken as it arrives."""
        if sent.whole:
            return b""
        most = self._limits.body_bytes
        too_large = Refused(413, f"the body has more than {most} bytes")
        if sent.length > most:
            raise too_large
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self._limits.body_s):
                while not sent.whole:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        sent.whole = True
                        raise Refused(400, "the body is cut short")
                    part = message.get("body", b"")
                    if sent.held + len(part) > most:
                        raise too_large
                    self._budget.take(name, len(part))
                    sent.held += len(part)
                    parts.append(part)
                    sent.whole = not message.get("more_body")
        except TimeoutError:
            words = f"the body did not arrive within {self._limits.body_s:g} s"
            raise Refused(408, words) from None
        return b"".join(parts)


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


async def _refuse(send: Send, receive: Receive, sent: Sent, refusal: Refused) -> None:
    """Answer a client that gets no farther.

    To close a connection on which more has come than was read resets it, and the client may lose
    the answer with it: so what it still sends is read for a while, and thrown away.
    """
    body = json.dumps({"error": str(refusal)}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    if not sent.whole or refusal.status == 500:
        headers["connection"] = "close"
    told = {name.lower(): value for name, value in refusal.headers.items()}
    lines = [(name.encode(), value.encode()) for name, value in (headers | told).items()]
    start = {"type": "http.response.start", "status": refusal.status, "headers": lines}
    await send(start)
    if not sent.whole and refusal.status != 408:  # it has had its time
        await send({"type": "http.response.body", "body": body, "more_body": True})
        body = b""
        await _drain(receive)
    await send({"type": "http.response.body", "body": body})


async def _drain(receive: Receive) -> None:
    """Read what a client sends that has been refused, and throw it away."""
    left = LINGER_BYTES
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while left > 0:
                message = await receive()
                if message["type"] == "http.disconnect" or not message.get("more_body"):
                    break
                left -= len(message.get("body", b""))
