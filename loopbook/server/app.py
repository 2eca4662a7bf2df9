"""The application: routes, errors and the life of the service behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from loopbook.errors import LoopbookError
from loopbook.printable import one_line
from loopbook.server import routes_docc, routes_misses, routes_pages, routes_v1
from loopbook.server.access import Access, service_of
from loopbook.server.failures import cause_of, headers_of, status_of
from loopbook.server.guard import Guard
from loopbook.server.metrics import Metrics
from loopbook.server.pauses import spare_pauses
from loopbook.server.service import Service
from loopbook.server.settings import Settings

DESCRIPTION = """Recipes for loop nests: docc's remote-tuning protocol under `/docc`, our own API
under `/v1`. Errors are `{"error": "one line"}`."""


def create_app(settings: Settings) -> FastAPI:
    """The ASGI application of one server; its service starts and ends with it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = Service(settings)
        app.state.service = service
        await service.start()
        spare_pauses()
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title="loopbook",
        version=version("loopbook"),
        description=DESCRIPTION,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )

    def metrics() -> Metrics | None:
        found = service()
        return None if found is None else found.metrics

    def service() -> Service | None:
        return getattr(app.state, "service", None)

    app.include_router(routes_docc.router)
    app.include_router(routes_v1.router)
    app.include_router(routes_misses.router)
    app.include_router(routes_pages.router, include_in_schema=False)
    app.add_exception_handler(HTTPException, _refusal)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(LoopbookError, _failure)

    @app.get("/healthz", tags=["operation"])
    async def healthz() -> dict[str, str]:
        """The process is alive."""
        return {"status": "ok"}

    @app.get("/readyz", tags=["operation"], responses={503: {"description": "not now"}})
    async def readyz(request: Request) -> Response:
        """A look-up has a chance now: there are workers, and the book answers."""
        ready = service_of(request).ready
        return JSONResponse({"status": "ok" if ready else "not ready"}, 200 if ready else 503)

    @app.get("/metrics", tags=["operation"])
    async def prometheus(request: Request) -> Response:
        """Figures for Prometheus."""
        service = service_of(request)
        service.gauge()
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")

    own = (routes_docc, routes_v1, routes_misses, routes_pages)
    routes = [*(route for one in own for route in one.router.routes), *app.router.routes]
    app.add_middleware(
        Guard, limits=settings.limits, metrics=metrics, admit=Access(routes, service)
    )
    return app


async def _refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _said(str(error.detail), error.status_code, error.headers)


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])[:80]
    return _said(f"{place}: {first['msg'][:200]}", 422)


async def _failure(request: Request, error: Exception) -> Response:
    service_of(request).metrics.refused.labels(cause_of(error)).inc()
    status = status_of(error)
    return _said(str(error), status, headers_of(status))


def _said(words: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": one_line(words)}, status, headers)
