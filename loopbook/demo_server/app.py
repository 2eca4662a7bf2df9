"""docc's three endpoints with canned answers, and the ways in which a server can fail.

An answer is found by the program that is asked about, or picked by name in the header
``X-Loopbook-Answer``. How to answer is said by the header ``X-Loopbook-Mode``, by the address
(``/mode/late/docc`` in place of ``/docc``), or when the server is started.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import httpx
from fastapi import FastAPI, Request, Response
from starlette.types import Receive, Scope, Send

from loopbook.demo_server.answers import Answers, digest, in_place_of
from loopbook.errors import InputError
from loopbook.server.guard import Guard
from loopbook.server.settings import Limits

MODES = ("ok", "late", "wrong", "garbage", "401", "500", "cut")
"""Answer as one should; late; with a program that is none; with what is no JSON; with a refusal;
with a failure; with half of the answer."""

ANSWER_HEADER = "x-loopbook-answer"
MODE_HEADER = "x-loopbook-mode"
NO_MATCH = {"error": "No match found"}
UPSTREAM_SECONDS = 60.0


def create_app(
    answers: Answers, *, mode: str = "ok", late_s: float = 5.0, upstream: str = ""
) -> FastAPI:
    """The demo server.

    Args:
        mode: one of `MODES`, where a request does not say another.
        late_s: how late "late" is, seconds.
        upstream: address of a real server; programs that nothing is known about are asked there,
            and what it answers is kept.
    """
    app = FastAPI(title="loopbook demo server", docs_url=None, redoc_url=None)
    app.add_middleware(Guard, limits=Limits(), metrics=lambda: None)

    async def tuned(request: Request, given: str) -> Response:
        try:
            asked = given or request.headers.get(MODE_HEADER, mode)
            if asked not in MODES:
                raise InputError(f"there is no mode of that name, only {', '.join(MODES)}")
            answer = await _answer(answers, request, upstream)
        except InputError as error:
            return _json({"error": str(error)}, 404)
        return await _in_mode(asked, answer, late_s)

    @app.get("/")
    async def greet() -> dict[str, Any]:
        """What there is."""
        return {"loopbook": "demo server", "answers": answers.names(), "modes": list(MODES)}

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """The process is alive."""
        return {"status": "ok"}

    @app.post("/docc/transfertune_sdfg")
    @app.post("/docc/transfertune")
    async def in_usual_mode(request: Request) -> Response:
        """A canned answer."""
        return await tuned(request, "")

    @app.post("/mode/{mode}/docc/transfertune_sdfg")
    @app.post("/mode/{mode}/docc/transfertune")
    async def in_named_mode(request: Request, mode: str) -> Response:
        """A canned answer, given in some way."""
        return await tuned(request, mode)

    @app.post("/docc/transfertune_session")
    @app.post("/mode/{mode}/docc/transfertune_session")
    async def session() -> dict[str, str]:
        """Always the same session."""
        return {"session_id": "demo"}

    return app


async def _answer(answers: Answers, request: Request, upstream: str) -> dict[str, Any]:
    name = request.headers.get(ANSWER_HEADER)
    named = None if name is None else answers.named(name)
    body = await request.body()
    try:
        sdfg = json.loads(body)["sdfg"]
        if not isinstance(sdfg, dict):
            raise TypeError
        found = named or answers.about(sdfg)
    except (ValueError, KeyError, TypeError, RecursionError):
        return named or {"error": "this is no request of docc"}
    if found is None and upstream:
        found = await _recorded(answers, sdfg, body, request, upstream)
    return NO_MATCH if found is None else in_place_of(sdfg, found)


async def _recorded(
    answers: Answers, sdfg: dict[str, Any], body: bytes, request: Request, upstream: str
) -> dict[str, Any]:
    """What a real server answers; kept, if it has something to say."""
    headers = {"Authorization": request.headers.get("authorization", "")}
    path = "/docc/" + request.url.path.rpartition("/")[2]
    try:
        async with httpx.AsyncClient(timeout=UPSTREAM_SECONDS) as client:
            response = await client.post(upstream.rstrip("/") + path, content=body, headers=headers)
        answer = response.json()
    except (httpx.HTTPError, ValueError, RecursionError):
        return {"error": "the real server does not answer"}
    if not isinstance(answer, dict) or "error" in answer:
        return answer if isinstance(answer, dict) else NO_MATCH
    word = re.sub(r"[^A-Za-z0-9_-]", "", str(sdfg.get("name", ""))).removesuffix("_sdfg")[:40]
    name = f"{word.lstrip('_-') or 'program'}-{digest(sdfg)[:8]}"
    answers.keep(name, sdfg, answer, f"recorded from {upstream}")
    return answer


async def _in_mode(mode: str, answer: dict[str, Any], late_s: float) -> Response:
    if mode == "late":
        await asyncio.sleep(late_s)
    elif mode == "wrong":
        return _json({"sdfg_result": {"sdfg": {"name": "nonsense", "root": 3}}})
    elif mode == "garbage":
        return Response(b'{"sdfg_result": {', media_type="application/json")
    elif mode == "401":
        return _json({"error": "the token is not good"}, 401)
    elif mode == "500":
        return _json({"error": "something went wrong here"}, 500)
    elif mode == "cut":
        return CutResponse(json.dumps(answer), media_type="application/json")
    return _json(answer)


def _json(answer: dict[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(answer), status, media_type="application/json")


class CutResponse(Response):
    """Announces all of its body, sends half of it, and hangs up."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        half = bytes(self.body)[: len(self.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
        # The server under us closes the connection of a response that is never finished.
