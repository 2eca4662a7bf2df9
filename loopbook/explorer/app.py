"""The explorer as a program on this machine, for who sits at it and for nobody else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse

from loopbook.client.opening import open_book
from loopbook.errors import LoopbookError
from loopbook.explorer.answers import Answer
from loopbook.explorer.child import Child
from loopbook.explorer.pages import Pages
from loopbook.explorer.routes import HEADERS, router

HERE = ["127.0.0.1", "localhost", "testserver"]
"""Names that a request may know us by: another one is a page elsewhere that has its name lead
here."""


def create_app(
    book: str | Path | None = None,
    evaluations: Sequence[Path] = (),
    *,
    patient: bool = False,
) -> FastAPI:
    """The ASGI application.

    Args:
        book, evaluations, patient: see `open_book` and `Pages`.

    Raises:
        BookError: the book cannot be opened.
    """
    layered = open_book(book)
    child = Child(book)
    pages = Pages(
        layered.books,
        layered.encoder.version,
        name=layered.name,
        ask=child.ask,
        evaluations=evaluations,
        read_only=True,
        patient=patient,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # Whoever opens the page finds the map drawn, or nearly so.
        drawing = asyncio.create_task(asyncio.to_thread(_drawn, pages))
        await asyncio.to_thread(child.start)
        try:
            yield
        finally:
            await drawing
            pages.close()
            child.close()
            layered.close()

    async def ask(_: Request, job: str, body: bytes) -> Answer:
        return await asyncio.to_thread(child.ask, job, body)

    app = FastAPI(
        title="loopbook explorer",
        version=version("loopbook"),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.include_router(router(lambda _: pages, ask))
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=HERE)
    app.add_exception_handler(HTTPException, _refusal)
    return app


def _drawn(pages: Pages) -> None:
    with contextlib.suppress(LoopbookError):  # told to who asks for the map
        pages.map()


async def _refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"detail": str(error.detail)}, error.status_code, HEADERS)
