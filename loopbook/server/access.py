"""Who is asking, and whether they may.

Tokens come as ``Authorization: Token …`` or ``Job …``, which are docc's schemes, or ``Bearer …``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from fastapi import Request
from starlette.exceptions import HTTPException

from loopbook.server.service import Service
from loopbook.server.tokens import Token

SCHEMES = ("token", "job", "bearer")
LONGEST = 512


class Caller(NamedTuple):
    """Who is asking.

    Attributes:
        id: of the token; empty without one.
    """

    id: str


def service_of(request: Request) -> Service:
    """The service that a request has come to."""
    return request.app.state.service


def caller(scope: str) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency that lets in who may do what `scope` names, as often as they may.

    It answers 401 to no token or a wrong one, 403 to one for other things, and 429 to too many
    requests.
    """

    async def check(request: Request) -> Caller:
        service = service_of(request)
        given = request.headers.get("authorization")
        address = request.client.host if request.client else ""
        if given is None and service.settings.anonymous and scope == "lookup":
            _slow_down(service, f"address {address}")
            return Caller("")
        found = None if given is None else await _token(service, given)
        if found is None or not found.good:
            _slow_down(service, f"address {address}")
            service.metrics.refused.labels("token").inc()
            words = "a token is needed" if given is None else "the token is not good"
            raise HTTPException(401, words, {"WWW-Authenticate": "Token"})
        if not found.allows(scope):
            service.metrics.refused.labels("scope").inc()
            raise HTTPException(403, f"the token is not good for {scope}")
        _slow_down(service, f"token {found.id}")
        return Caller(found.id)

    return check


async def _token(service: Service, given: str) -> Token | None:
    scheme, _, token = given.partition(" ")
    token = token.strip()
    if scheme.lower() not in SCHEMES or not token or len(token) > LONGEST:
        return None
    fresh, found = service.tokens.recalled(token)
    return found if fresh else await service.ask(service.tokens.find, token)


def _slow_down(service: Service, name: str) -> None:
    wait = service.rates.wait(name)
    if wait:
        service.metrics.refused.labels("rate").inc()
        raise HTTPException(429, "too many requests", {"Retry-After": str(int(wait) + 1)})
