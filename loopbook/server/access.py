"""Who is asking, and whether they may: told from a request's head alone, before its body is read.

Tokens come as ``Authorization: Token …`` or ``Job …``, which are docc's schemes, or ``Bearer …``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route

from loopbook.server.failures import Refused
from loopbook.server.service import Service
from loopbook.server.tokens import Token

SCHEMES = ("token", "job", "bearer")
LONGEST = 512

Scope = MutableMapping[str, Any]


class Caller(NamedTuple):
    """Who is asking.

    Attributes:
        id: of the token; empty without one.
        name: of the token, or of the address where there is none: what limits go by.
        rights: what they may do.
        trusted: the server's owner has given the token to a machine that measures for him.
    """

    id: str
    name: str
    rights: frozenset[str] = frozenset()
    trusted: bool = False


def service_of(request: Request) -> Service:
    """The service that a request has come to."""
    return request.app.state.service


def caller(right: str) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency that lets in who may do what `right` names. `Access` has looked at the token
    when it is asked."""

    async def check(request: Request) -> Caller:
        found: Caller = request.state.caller
        if right not in found.rights:
            raise HTTPException(403, f"the token is not good for {right}")
        return found

    check.right = right  # type: ignore[attr-defined] - read by `_right_of`
    return check


class Access:
    """Lets requests in, or refuses them, by their heads.

    Args:
        routes: of the application. Those that depend on no `caller` are open to all.
        service: None before the server has started.
    """

    def __init__(self, routes: Iterable[BaseRoute], service: Callable[[], Service | None]) -> None:
        self._routes = [(one, _right_of(one)) for one in routes if isinstance(one, Route)]
        self._service = service

    async def __call__(self, scope: Scope) -> Caller:
        """Who is asking.

        Raises:
            Refused: 404 or 405 for what there is not, 401 for no token or a wrong one, 403 for one
                for other things, 429 for too many requests.
            LoopbookError: the database with the tokens does not answer.
        """
        route, right = self._find(scope)
        scope["path_template"] = route.path
        address = f"address {(scope.get('client') or ('',))[0]}"
        service = self._service()
        if right is None or service is None:
            return Caller("", address)
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if not given and service.settings.anonymous and right == "lookup":
            _slow_down(service, address)
            return Caller("", address, frozenset({right}))
        found = await _token(service, given[0].decode("latin-1")) if given else None
        if found is None or not found.good:
            _slow_down(service, address)
            service.metrics.refused.labels("token").inc()
            words = "the token is not good" if given else "a token is needed"
            raise Refused(401, words, {"WWW-Authenticate": "Token"})
        name = f"token {found.id}"
        _slow_down(service, name)
        if not found.allows(right):
            service.metrics.refused.labels("scope").inc()
            raise Refused(403, f"the token is not good for {right}")
        return Caller(found.id, name, frozenset({right}), "measure" in found.scopes)

    def _find(self, scope: Scope) -> tuple[Route, str | None]:
        allowed: set[str] = set()
        for route, right in self._routes:
            match, _ = route.matches(scope)
            if match == Match.FULL:
                return route, right
            if match == Match.PARTIAL:
                allowed |= route.methods or set()
        if allowed:
            raise Refused(405, "Method Not Allowed", {"Allow": ", ".join(sorted(allowed))})
        raise Refused(404, "Not Found")


def _right_of(route: Route) -> str | None:
    """What one has to be allowed to do for a route; None if nothing."""
    if not isinstance(route, APIRoute):
        return None
    rights = (getattr(one.call, "right", None) for one in route.dependant.dependencies)
    return next((right for right in rights if right is not None), None)


async def _token(service: Service, given: str) -> Token | None:
    scheme, _, token = given.partition(" ")
    token = token.strip()
    if scheme.lower() not in SCHEMES or not token or len(token) > LONGEST:
        return None
    fresh, found = service.tokens.recalled(token)
    return found if fresh else await service.ask(service.tokens.find, token)


def _slow_down(service: Service, name: str) -> None:
    wait = max(service.rates.wait(name), service.effort.wait(name, 0.0))
    if wait:
        service.metrics.refused.labels("rate").inc()
        raise Refused(429, "too many requests", {"Retry-After": str(int(wait) + 1)})
