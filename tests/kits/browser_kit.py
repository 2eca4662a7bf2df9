"""The explorer in a real browser: the system's Chromium, and a server on a port of its own."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from starlette.applications import Starlette
from starlette.routing import Mount

from loopbook.server.run import listen

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

PREFIX = "/under/a/prefix"
"""Where `serving` has the explorer once more."""


def chromium() -> str | None:
    """The browser's program, where there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def browsing(*flags: str) -> Iterator[Browser]:
    """A browser that has seen nothing yet."""
    with sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=chromium(), args=[*FLAGS, *flags])
        try:
            yield made
        finally:
            made.close()


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The explorer over HTTP, at the address given and under a prefix of it."""

    @asynccontextmanager
    async def lifespan(_: Starlette):
        async with app.router.lifespan_context(app):
            yield

    both = Starlette(routes=[Mount(PREFIX, app), Mount("/", app)], lifespan=lifespan)
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(both, log_level="warning", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        app.state.ending = True  # live pages hold their connections otherwise
        server.should_exit = True
        thread.join()
        listener.close()


class Visit:
    """A page in a window of its own, and all that went wrong on it."""

    def __init__(self, browser: Browser, address: str, **window: Any) -> None:
        settings = {"viewport": {"width": 1400, "height": 860}, "reduced_motion": "reduce"}
        self.context: BrowserContext = browser.new_context(**{**settings, **window})
        self.page: Page = self.context.new_page()
        self.address = address
        self.problems: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", self._asked)

    def open(self, path: str) -> Page:
        self.page.goto(self.address + path)
        return self.page

    def close(self) -> None:
        self.context.close()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def _asked(self, request: Any) -> None:
        here = urlsplit(self.address)
        there = urlsplit(request.url)
        if (there.scheme, there.netloc) != (here.scheme, here.netloc):
            self.problems.append(f"asked elsewhere: {request.url}")
