"""A real browser: the system's Chromium.

Playwright is imported where a browser is started, not by whoever collects tests: see ``heavy`` in
the tests' `conftest.py`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

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

PATIENCE_MS = 300_000
"""No test fails for being slow."""

WINDOW: ViewportSize = {"width": 1400, "height": 860}


def chromium() -> str | None:
    """The browser's program, where there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def browsing(*flags: str) -> Iterator[Browser]:
    """A browser that has seen nothing yet."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as driver:
        made = driver.chromium.launch(
            executable_path=chromium(), args=[*FLAGS, *flags], timeout=PATIENCE_MS
        )
        try:
            yield made
        finally:
            made.close()


def expect(what: Any) -> Any:
    """What Playwright expects of a page or of what is on it."""
    from playwright.sync_api import expect as expected

    return expected(what)


class Visit:
    """A page in a window of its own, and all that went wrong on it."""

    def __init__(self, browser: Browser, address: str, **window: Any) -> None:
        settings = {"viewport": WINDOW, "reduced_motion": "reduce", "color_scheme": "light"}
        self.context: BrowserContext = browser.new_context(**{**settings, **window})
        self.context.set_default_timeout(PATIENCE_MS)
        self.page: Page = self.context.new_page()
        self.address = address
        self.problems: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", self._asked)

    def open(self, path: str) -> Page:
        self.page.goto(self.address + path)
        return self.page

    def forget(self) -> None:
        """Make it again as it was at first."""
        self.problems.clear()
        self.page.unroute_all()
        self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.set_viewport_size(WINDOW)
        self.page.emulate_media(color_scheme="light")

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


def address(page: Page) -> str:
    """Where the page is by its own word: ``page.url`` follows only when the browser has told it."""
    return page.evaluate("location.href")
