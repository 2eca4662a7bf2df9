"""The explorer as people meet it: its program in a process of its own, and Chromium beside it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

SECONDS = 120.0
"""After which a browser gives up waiting. A test that passes never waits so long."""

FLAGS = (
    "--no-sandbox",  # tests may run as root; nothing but our own pages is opened
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

GRAVE = ("serious", "critical")


def chromium() -> str | None:
    """Where the system's Chromium is; ``make setup`` installs it."""
    return shutil.which("chromium")


@contextmanager
def serving(book: Path, *options: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The address of ``loopbook ui`` with this book.

    Args:
        options: further ones of the command.
        environment: variables of its own.
    """
    command = [sys.executable, "-m", "loopbook", "ui", "--book", str(book), "--no-open", *options]
    with subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert "http://" in line, f"loopbook ui said {line!r}"
            yield line.split()[-1]
        finally:
            process.send_signal(signal.SIGINT)


@contextmanager
def browsing() -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    expect.set_options(timeout=SECONDS * 1e3)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=[*FLAGS])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A page of the explorer that is open in a browser.

    Args:
        page: the browser's own.
        address: of the explorer; ends without a slash.
    """

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    """Errors of the console, and those that no script caught."""

    hosts: set[str] = field(default_factory=set)
    """Whom the page has asked for something."""

    def __post_init__(self) -> None:
        self.page.set_default_timeout(SECONDS * 1e3)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))

    def go(self, path: str) -> Page:
        """Opens an address of the explorer, and waits until the page has read its document."""
        self.page.goto(f"{self.address}/{path}")
        expect(self.page.get_by_role("heading", level=1).first).to_be_attached()
        return self.page

    def choices(self) -> str:
        """What the address says after the page: the state that can be shared."""
        return urlsplit(self.page.url).query

    def grave_findings(self) -> list[str]:
        """What axe finds that shuts people out, as the page is shown now: rule and places."""
        found = Axe().run(self.page, options={"resultTypes": ["violations"]})
        return [
            f"{one['id']} ({one['impact']}): {node['target']} {node['html'][:200]}"
            for one in found.response["violations"]
            if one["impact"] in GRAVE
            for node in one["nodes"]
        ]

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} ({message.location.get('url')})")


@contextmanager
def visiting(browser: Browser, address: str, *, theme: str | None = None) -> Iterator[Visit]:
    """A visitor who was never here before: nothing is kept from earlier ones.

    Args:
        theme: what the visitor's system prefers, ``light`` or ``dark``.
    """
    scheme = "dark" if theme == "dark" else "light"
    context = browser.new_context(
        color_scheme=scheme,
        viewport={"width": 1280, "height": 800},
        permissions=["clipboard-read", "clipboard-write"],
        reduced_motion="reduce",
    )
    try:
        yield Visit(context.new_page(), address)
    finally:
        context.close()
