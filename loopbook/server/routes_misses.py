"""What was asked for in vain, and what has become of it: ``/v1/misses``."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from loopbook.recipes.tasks import DEAD, DONE, TUNE, key_of
from loopbook.server.access import service_of
from loopbook.server.questions import Target
from loopbook.server.routes_v1 import STATUSES, MayContribute, MayLookUp
from loopbook.server.service import Service
from loopbook.targets import DEFAULT

router = APIRouter(prefix="/v1", tags=["loopbook"], responses=STATUSES)

Missed = Annotated[
    str, Path(pattern="^[0-9a-f]{32}$", description="fingerprint of the nest, as answers tell it")
]

MOST_WAIT_S = 8.0

LOOK_S = 5.0
"""Between two looks at a task while the book does not change: one that fails changes no book."""

UNKNOWN, MISSED = "unknown", "missed"
"""The nest was never asked for in vain here; it was, and there is no task to tune it."""


@router.get("/misses")
async def misses(
    request: Request, _: MayContribute, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> dict[str, Any]:
    """Nests that were asked for in vain, the most wanted first: what to tune next."""
    service = service_of(request)
    found = await service.ask(service.book.misses)
    return {"misses": [miss._asdict() for miss in found[:limit]]}


@router.get("/misses/{fingerprint}")
async def missed(
    request: Request,
    _: MayLookUp,
    fingerprint: Missed,
    target: Target = DEFAULT,
    wait: Annotated[
        float, Query(ge=0, le=MOST_WAIT_S, description="seconds to wait for its end")
    ] = 0.0,
) -> dict[str, Any]:
    """What has become of a nest that was asked for in vain. With `wait`, the answer comes when it
    is tuned or given up, or when the time is up."""
    service = service_of(request)
    until = time.monotonic() + wait
    while True:
        news = service.news  # taken before looking: what changes meanwhile is not missed
        told = await service.ask(_told, service, fingerprint, target)
        left = until - time.monotonic()
        if told["state"] in (DONE, DEAD) or left <= 0 or service.draining:
            return told
        try:
            async with asyncio.timeout(min(left, LOOK_S)):
                await news.wait()
        except TimeoutError:
            pass


def _told(service: Service, fingerprint: str, target: str) -> dict[str, Any]:
    key = service.hardware_key(target)
    task = service.book.queue.find(key_of(TUNE, fingerprint, target, key, ""))
    if task is None:
        there = any(one.fingerprint == fingerprint for one in service.book.misses())
        state, asked, records = MISSED if there else UNKNOWN, 0, []
    else:
        state, asked, records = task.state, task.asked, task.records
    return {
        "fingerprint": fingerprint,
        "target": target,
        "hardware": key,
        "state": state,
        "asked": asked,
        "records": records,
    }
