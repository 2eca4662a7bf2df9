"""Our own API: what `loopbook.Client` speaks."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from loopbook.errors import OverloadError
from loopbook.printable import one_line
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.exchange import HEADER, line
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Measurement, Record
from loopbook.recipes.reports import Report, Voice
from loopbook.recipes.tasks import CONFIRM, Ask
from loopbook.server.access import Caller, caller, service_of
from loopbook.server.document import read_json
from loopbook.server.failures import headers_of
from loopbook.server.field import ANONYMOUS
from loopbook.server.quarantine import KNOWN, WAITING
from loopbook.server.questions import (
    Contribution,
    FieldReports,
    Measured,
    Nearest,
    Target,
    described,
    read,
)
from loopbook.server.service import until
from loopbook.server.trust import KEEP, PROMOTE, REJECT, RETURN, Judgement
from loopbook.targets import DEFAULT

STATUSES: dict[int | str, dict[str, Any]] = {
    400: {"description": "the request is malformed"},
    401: {"description": "no token, or none that is good"},
    403: {"description": "the token is not good for this"},
    404: {"description": "there is no such thing"},
    408: {"description": "the body did not arrive in time"},
    413: {"description": "the body is too large"},
    422: {"description": "what was given cannot be used"},
    429: {"description": "too many requests of this caller"},
    503: {"description": "the server has too much to do"},
}
router = APIRouter(prefix="/v1", tags=["loopbook"], responses=STATUSES)

MayLookUp = Annotated[Caller, Depends(caller("lookup"))]
MayContribute = Annotated[Caller, Depends(caller("contribute"))]
MayMeasure = Annotated[Caller, Depends(caller("measure"))]
MayRule = Annotated[Caller, Depends(caller("admin"))]

Id = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="of a record")]
Fingerprint = Annotated[str, Query(min_length=1, max_length=128, pattern=r"^[!-~]+$")]

PAGE = 100

MOST_JUDGED = 64 << 10
"""Bytes of a judgement, or of reports."""

STATUS_OF = {PROMOTE: "promoted", REJECT: "rejected", RETURN: "quarantine", KEEP: "kept"}


class Received(BaseModel):
    """What became of a contributed record."""

    id: str
    status: str


@router.get("/info")
async def info(request: Request, _: MayLookUp) -> dict[str, Any]:
    """What is served."""
    service = service_of(request)
    count = await service.ask(lambda: [layer.count() for layer in service.layers()])
    return {
        "records": sum(count),
        "own": count[0],
        "stamp": service.answers.stamp,
        "anonymous": service.settings.anonymous,
        "limits": {
            "body_bytes": service.settings.limits.body_bytes,
            "deadline_s": service.settings.deadline_s,
        },
    }


@router.post("/nearest", openapi_extra=described(Nearest))
async def nearest(request: Request, caller: MayLookUp) -> Response:
    """The records nearest to a vector, or to each nest of a program."""
    return await _worked(request, caller, "nearest", await request.body())


@router.get("/records")
async def exact(
    request: Request, caller: MayLookUp, fingerprint: Fingerprint, target: Target = DEFAULT
) -> Response:
    """The records of one very nest."""
    question = json.dumps({"fingerprint": fingerprint, "target": target}).encode()
    return await _worked(request, caller, "exact", question)


@router.get("/records/{record_id}")
async def record(request: Request, _: MayLookUp, record_id: Id) -> dict[str, Any]:
    """One record."""
    service = service_of(request)

    def find() -> Record | None:
        found = (layer.record(record_id) for layer in service.layers())
        return next((one for one in found if one is not None), None)

    return _there(await service.ask(find)).to_json()


@router.post(
    "/records", status_code=201, response_model=Received, openapi_extra=described(Contribution)
)
async def contribute(request: Request, response: Response, caller: MayContribute) -> Received:
    """Give a record. It is checked, and kept apart until a machine of the server's owner has
    measured it, or an administrator promotes it; it is not lost once this answers."""
    service = service_of(request)
    checked = await _worked(request, caller, "check", await request.body())
    if checked.status_code != 200:
        headers = headers_of(checked.status_code)
        words = json.loads(bytes(checked.body))["error"]
        raise HTTPException(checked.status_code, words, headers)

    def receive() -> tuple[Record, str]:
        told = json.loads(bytes(checked.body))
        one, embedding = Record.from_json(told["record"]), Embedding.from_json(told["embedding"])
        outcome = service.quarantine.receive(one, embedding, caller.id, trusted=caller.trusted)
        if outcome == WAITING:  # a farm may measure it; 'quarantine measure' does in any case
            with suppress(OverloadError):
                service.book.queue.ask(
                    Ask(CONFIRM, one.fingerprint, one.target, one.hardware.key, one.id)
                )
        return one, outcome

    one, outcome = await service.ask(receive)
    service.metrics.contributed.labels(outcome).inc()
    response.status_code = 200 if outcome == KNOWN else 201
    return Received(id=one.id, status=outcome)


@router.delete("/records/{record_id}")
async def delete(request: Request, _: MayRule, record_id: Id) -> dict[str, Any]:
    """Take a record out of the book."""
    service = service_of(request)
    if not await service.ask(service.book.delete, record_id):
        raise HTTPException(404, "there is no such record")
    return {"id": record_id, "status": "deleted"}


@router.post("/records/{record_id}/judgement", openapi_extra=described(Measured))
async def judge(request: Request, caller: MayMeasure, record_id: Id) -> Received:
    """Say what a trusted machine has measured of a record that waits or is served. One that waits
    and gains is promoted with that measurement; one that is broken, or gains nothing on the kind of
    machine that it is about, is rejected, or taken out of the book into quarantine again."""
    service = service_of(request)
    told = read(Measured, await _small(request))
    judgement = Judgement(
        told.status,
        HardwareProfile.from_json(told.hardware),
        None if told.measurement is None else Measurement.from_json(told.measurement),
        one_line(told.message),
        caller.id,
    )
    judged = await service.ask(service.quarantine.judge, record_id, judgement)
    if judged is None:
        raise HTTPException(404, "there is no such record")
    return Received(id=judged.id, status=STATUS_OF[judged.decision])


@router.post("/reports", openapi_extra=described(FieldReports))
async def report(request: Request, caller: MayLookUp) -> dict[str, Any]:
    """Say how recipes did where they ran: seconds of docc's own schedule, and of the program with
    the recipe, for the very nest that the record is about. What became of each: "counted"; "full",
    if the caller has said enough about that record; "unknown", if it is not served (any more)."""
    service = service_of(request)
    asked = read(FieldReports, await _small(request))
    reports = [Report(**one.model_dump()) for one in asked.reports]
    voice = Voice(caller.id or ANONYMOUS, caller.trusted)
    begun = time.monotonic()
    try:
        found = await service.ask(service.field.take_all, reports, voice)
    finally:  # the database writes for one at a time: that counts as a worker's time does
        service.effort.spend(caller.name, time.monotonic() - begun)
    for status in found:
        service.metrics.reported.labels(status).inc()
    told = zip(reports, found, strict=True)
    return {"reports": [{"record": one.record, "status": status} for one, status in told]}


@router.get("/quarantine")
async def quarantine(request: Request, _: MayMeasure) -> dict[str, Any]:
    """The records that wait, in the order in which to measure them."""
    service = service_of(request)
    waiting = await service.ask(service.quarantine.all)
    return {"records": [one._asdict() for one in waiting]}


@router.get("/quarantine/{record_id}")
async def waiting(request: Request, _: MayMeasure, record_id: Id) -> dict[str, Any]:
    """A record that waits."""
    service = service_of(request)
    return _there(await service.ask(service.quarantine.record, record_id)).to_json()


@router.post("/quarantine/{record_id}/promote")
async def promote(request: Request, caller: MayRule, record_id: Id) -> Received:
    """Move a record that waits into the book, unmeasured."""
    service = service_of(request)
    if not await service.ask(service.quarantine.promote, record_id, caller.id):
        raise HTTPException(404, "there is no such record in quarantine")
    return Received(id=record_id, status="promoted")


@router.delete("/quarantine/{record_id}")
async def reject(request: Request, caller: MayRule, record_id: Id) -> Received:
    """Throw a record that waits away."""
    service = service_of(request)
    if not await service.ask(service.quarantine.reject, record_id, caller.id):
        raise HTTPException(404, "there is no such record in quarantine")
    return Received(id=record_id, status="rejected")


@router.get("/export", response_class=StreamingResponse)
async def export(
    request: Request,
    _: MayLookUp,
    after: Annotated[str, Query(pattern="^[0-9a-f]{0,32}$")] = "",
    target: Target | None = None,
) -> StreamingResponse:
    """The book as JSON lines, in order of record id, in the form that `loopbook book import` reads.
    A stream that broke off is taken up again behind the last id that arrived."""
    service = service_of(request)
    first = await service.ask(lambda: service.book.page(after, PAGE, target=target))

    def lines() -> Iterator[bytes]:
        yield line(HEADER)
        page = first
        while page:
            for record, vectors in page:
                told = [one.to_json() for one in vectors]
                yield line({"record": record.to_json(), "embeddings": told})
            page = service.book.page(page[-1][0].id, PAGE, target=target)

    return StreamingResponse(lines(), media_type="application/x-ndjson")


@router.get("/hardware")
async def hardware(request: Request, _: MayLookUp) -> dict[str, Any]:
    """The machines that records are about."""
    service = service_of(request)

    def find() -> list[dict[str, Any]]:
        found = {p.key: p for layer in service.layers() for p in layer.hardware()}
        return [{"key": key} | profile.to_json() for key, profile in sorted(found.items())]

    return {"hardware": await service.ask(find)}


async def _small(request: Request) -> dict[str, Any]:
    """A body that is read here."""
    body = await request.body()
    if len(body) > MOST_JUDGED:
        raise HTTPException(413, f"the body has more than {MOST_JUDGED} bytes")
    return read_json(body, service_of(request).settings.limits)


def _there(found: Record | None) -> Record:
    if found is None:
        raise HTTPException(404, "there is no such record")
    return found


async def _worked(request: Request, caller: Caller, job: str, body: bytes) -> Response:
    """A worker's answer."""
    service = service_of(request)
    reply = await service.answer(job, body, until(service.settings), caller.name)
    status = int(reply.told["status"])
    return Response(reply.body, status, headers_of(status), media_type="application/json")
