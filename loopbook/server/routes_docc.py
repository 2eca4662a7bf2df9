"""docc's remote-tuning protocol.

Whatever goes wrong, the client gets an ``error`` and compiles with docc's own schedule. It has no
time-out of its own, so that every answer is given within the deadline.
"""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from loopbook.errors import BookError, DeadlineError, LoopbookError, OverloadError
from loopbook.server.access import Caller, caller, service_of
from loopbook.server.protocol import error_answer, session_answer
from loopbook.server.service import until

router = APIRouter(prefix="/docc", tags=["docc"])

MayLookUp = Annotated[Caller, Depends(caller("lookup"))]


class Asked(BaseModel):
    """What docc sends; of other members nothing is read."""

    sdfg: dict[str, Any] = Field(description="a whole program, or one nest of it")
    target: str = Field("sequential", description="sequential or openmp")
    category: str = "server"
    sizes: dict[str, int] = Field(
        default_factory=dict, description="values of size symbols; docc sends none"
    )
    session_id: str | None = None


_BODY = {
    "required": True,
    "content": {"application/json": {"schema": Asked.model_json_schema()}},
}
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


@router.post("/transfertune_sdfg", responses=_ANSWERS, openapi_extra={"requestBody": _BODY})
async def transfertune_sdfg(request: Request, _: MayLookUp) -> Response:
    """The finished schedule of a whole program (docc 0.8)."""
    return await _tuned(request, "program")


@router.post("/transfertune", responses=_ANSWERS, openapi_extra={"requestBody": _BODY})
async def transfertune(request: Request, _: MayLookUp) -> Response:
    """The schedule of one nest (docc up to 0.7)."""
    return await _tuned(request, "nest")


@router.post("/transfertune_session", responses=_ANSWERS)
async def transfertune_session(_: MayLookUp) -> Response:
    """A name for the requests of one compile. Nothing is kept of it here."""
    return _json(session_answer(uuid.uuid4().hex))


async def _tuned(request: Request, job: str) -> Response:
    service = service_of(request)
    limit = until(service.settings)
    try:
        reply = await service.answer(job, await request.body(), limit)
    except (OverloadError, BookError) as error:
        service.metrics.refused.labels("overload").inc()
        return _json(error_answer(str(error)), 503)
    except DeadlineError as error:
        service.metrics.refused.labels("deadline").inc()
        return _json(error_answer(str(error)))
    except LoopbookError as error:
        service.metrics.refused.labels("crash").inc()
        return _json(error_answer(str(error)))
    return _json(reply.body, int(reply.told["status"]))


def _json(body: bytes, status: int = 200) -> Response:
    headers = {"Retry-After": "1"} if status == 503 else None
    return Response(body, status, headers, media_type="application/json")
