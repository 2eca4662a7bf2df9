"""The explorer's pages, for who may look up: the same that ``loopbook ui`` shows."""

from __future__ import annotations

from fastapi import Depends, Request

from loopbook.errors import LoopbookError
from loopbook.explorer.answers import Answer, refusal
from loopbook.explorer.routes import router as pages_router
from loopbook.server.access import Caller, caller, service_of


async def _ask(request: Request, job: str, body: bytes) -> Answer:
    asking: Caller = request.state.caller
    try:
        return await service_of(request).page(job, body, asking.name)
    except LoopbookError as error:
        return refusal(error)


router = pages_router(
    lambda request: service_of(request).pages,
    _ask,
    allowed=[Depends(caller("lookup"))],
)
