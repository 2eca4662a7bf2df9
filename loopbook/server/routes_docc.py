"""docc's remote-tuning protocol.

Whatever goes wrong, the client gets an ``error`` and compiles with docc's own schedule. It has no
time-out of its own, so that every answer is given within the deadline.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from loopbook.errors import LoopbookError
from loopbook.server.access import Caller, caller, service_of
from loopbook.server.failures import cause_of, headers_of, status_of, words_of
from loopbook.server.protocol import error_answer, session_answer
from loopbook.server.questions import described
from loopbook.server.service import until
from loopbook.targets import DEFAULT, choice

log = logging.getLogger("loopbook.server")


class DoccRoute(APIRoute):
    """A route whose every failure, that of looking at the token included, is docc's ``error``."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def told(request: Request) -> Response:
            try:
                return await handler(request)
            except (HTTPException, RequestValidationError):
                raise  # a refusal, which has a status of its own
            except Exception as error:
                if not isinstance(error, LoopbookError):
                    log.exception("%s", request.url.path)
                service_of(request).metrics.refused.labels(cause_of(error)).inc()
                return _json(error_answer(words_of(error)), status_of(error, docc=True))

        return told


router = APIRouter(prefix="/docc", tags=["docc"], route_class=DoccRoute)

MayLookUp = Annotated[Caller, Depends(caller("lookup"))]


class Asked(BaseModel):
    """What docc sends; of other members nothing is read."""

    sdfg: dict[str, Any] = Field(description="a whole program, or one nest of it")
    target: str = Field(DEFAULT, description=choice())
    category: str = "server"
    sizes: dict[str, int] = Field(
        default_factory=dict, description="values of size symbols; docc sends none"
    )
    session_id: str | None = None


_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "a schedule, or `error`: docc's own is the best that is known"},
    400: {"description": "the body is cut short"},
    401: {"description": "no token, or none that is good"},
    403: {"description": "the token is not good for this"},
    408: {"description": "the body did not arrive in time"},
    413: {"description": "the body is too large"},
    422: {"description": "the body is no program that docc can read"},
    429: {"description": "too many requests of this caller"},
    503: {"description": "the server has too much to do"},
}


@router.post("/transfertune_sdfg", responses=_ANSWERS, openapi_extra=described(Asked))
async def transfertune_sdfg(request: Request, caller: MayLookUp) -> Response:
    """The finished schedule of a whole program (docc 0.8)."""
    return await _tuned(request, caller, "program")


@router.post("/transfertune", responses=_ANSWERS, openapi_extra=described(Asked))
async def transfertune(request: Request, caller: MayLookUp) -> Response:
    """The schedule of one nest (docc before 0.7)."""
    return await _tuned(request, caller, "nest")


@router.post("/transfertune_session", responses=_ANSWERS)
async def transfertune_session(_: MayLookUp) -> Response:
    """A name for the requests of one compile. Nothing is kept of it here."""
    return _json(session_answer(uuid.uuid4().hex))


async def _tuned(request: Request, caller: Caller, job: str) -> Response:
    service = service_of(request)
    body = await request.body()
    reply = await service.answer(job, body, until(service.settings), caller.name)
    return _json(reply.body, int(reply.told["status"]))


def _json(body: bytes, status: int = 200) -> Response:
    return Response(body, status, headers_of(status), media_type="application/json")
