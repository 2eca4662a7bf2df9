"""The pages over HTTP, for a program on this machine and for a server alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse, StreamingResponse

from loopbook.errors import LoopbookError
from loopbook.explorer import answers, assets
from loopbook.explorer.answers import Answer
from loopbook.explorer.documents import Document, Live
from loopbook.explorer.pages import ALL, Pages, changed
from loopbook.printable import one_line

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'self'; object-src 'none'; frame-ancestors 'none';"
        " form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

MOST_STREAMS = 64
"""Live pages that are kept up to date at once."""

LOOK_S = 2.0
STILL_HERE_S = 10.0

Jobs = Callable[[Request, str, bytes], Awaitable[Answer]]
"""Has one of `loopbook.explorer.answers` done for a request."""


def router(
    pages: Callable[[Request], Pages],
    ask: Jobs,
    *,
    allowed: Sequence[Any] = (),
) -> APIRouter:
    """The routes.

    Args:
        pages: what is shown to a request.
        ask: does jobs.
        allowed: dependencies of routes that give data away; pages and assets are open.
    """
    made = APIRouter(tags=["explorer"])
    data = {"dependencies": list(allowed), "response_class": Response}
    streams = 0

    async def told(function: Callable[..., Document | bytes], *args: Any) -> Response:
        try:
            found = await asyncio.to_thread(function, *args)
        except LoopbookError as error:
            return _detail(503, str(error))
        return _json(200, found if isinstance(found, bytes) else found.json())

    async def done(request: Request, job: str, given: dict[str, Any]) -> Response:
        return _json(*await ask(request, job, msgspec.json.encode(given)))

    @made.get("/about.json", **data)
    async def about(request: Request) -> Response:
        """What is looked at."""
        return await told(pages(request).about)

    @made.get("/map.json", **data)
    async def map_(request: Request) -> Response:
        """All records by nearness, in columns."""
        return await told(pages(request).map)

    @made.get("/record/{name}.json", **data)
    async def record(request: Request, name: str) -> Response:
        """All about one record."""
        return await done(request, answers.RECORD, {"id": name})

    @made.get("/record/{name}/cpp.json", **data)
    async def code(request: Request, name: str) -> Response:
        """The states of a record's nest with their C++; takes seconds for long recipes."""
        return await done(request, answers.CODE, {"id": name})

    @made.post("/locate.json", **data)
    async def locate(request: Request) -> Response:
        """Where pasted code lies, and what would be done with it. None of it is run."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "application/json":  # else any page could have a browser send it
            return _detail(415, "send JSON, as Content-Type: application/json")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > answers.MOST_BODY:
                return _detail(413, f"that is more than {answers.MOST_BODY >> 20} MiB")
        answer = await ask(request, answers.LOCATE, bytes(body))
        try:
            return _json(*await asyncio.to_thread(pages(request).placed, answer))
        except LoopbookError as error:
            return _detail(503, str(error))

    @made.get("/live.json", **data)
    async def live(request: Request) -> Response:
        """Queue, workers, misses, searches, what happened last."""
        return await told(pages(request).live)

    @made.get("/live/events", **data)
    async def events(request: Request) -> Response:
        """The parts of the live page as they change, as server-sent events."""
        nonlocal streams
        if streams >= MOST_STREAMS:
            return _detail(503, "too many live pages are open; close one, or look again later")

        async def counted() -> AsyncIterator[bytes]:
            nonlocal streams
            streams += 1
            try:
                async for part in _events(pages(request), lambda: _is_over(request)):
                    yield part
            finally:
                streams -= 1

        return StreamingResponse(counted(), headers=HEADERS, media_type="text/event-stream")

    @made.get("/evaluation.json", **data)
    async def evaluation(request: Request) -> Response:
        """What was evaluated."""
        return await told(pages(request).evaluation)

    async def page(request: Request) -> Response:
        """The web application."""
        base = request.scope.get("root_path", "").rstrip("/") + "/"
        try:
            return Response(assets.page(base), headers=HEADERS, media_type="text/html")
        except LoopbookError as error:
            return Response(f"{error}\n", 503, HEADERS, "text/plain; charset=utf-8")

    for path in ("/", *(f"/{name}" for name in ALL if name != "record"), "/record/{name}"):
        made.add_api_route(path, page, include_in_schema=False, response_class=Response)

    @made.get("/assets/{name}", include_in_schema=False, response_class=Response)
    async def asset(name: str) -> Response:
        """A file of the web application."""
        found = assets.asset(name)
        if found is None:
            return _detail(404, "there is no such file")
        content, kind = found
        return Response(content, headers={**HEADERS, "Cache-Control": "no-cache"}, media_type=kind)

    return made


def _is_over(request: Request) -> bool:
    """Whether streams have to end: the server has been told to stop, and waits for them."""
    return getattr(request.app.state, "ending", False)


async def _events(pages: Pages, over: Callable[[], bool]) -> AsyncIterator[bytes]:
    before: Live | None = None
    quiet = 0.0
    while not over():
        try:
            now = await asyncio.to_thread(pages.live)
        except LoopbookError:
            now = before  # the book cannot be read just now
        if now is not None:
            parts = changed(before, now)
            for part, value in parts.items():
                yield b"event: " + part.encode() + b"\ndata: " + value + b"\n\n"
            quiet = 0.0 if parts else quiet + LOOK_S
            before = now
        if quiet >= STILL_HERE_S:
            quiet = 0.0
            yield b": still here\n\n"
        await asyncio.sleep(LOOK_S)


def _json(status: int, body: bytes) -> Response:
    return Response(body, status, HEADERS, "application/json")


def _detail(status: int, words: str) -> Response:
    return JSONResponse({"detail": one_line(words)}, status, HEADERS)
