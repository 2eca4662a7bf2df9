"""The web application as its build has left it: ``loopbook/explorer/static``."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from loopbook.errors import InputError

STATIC = Path(__file__).parent / "static"

HOW = "run 'make explorer' in loopbook's source"
BUILD = f"the explorer's pages are not built: {HOW}"

TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".map": "application/json",
}
"""Of the files that are served; no others are."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")

DATA = "<!--loopbook-data-->"
BASE = '<base href="/">'


def are_built(static: Path = STATIC) -> bool:
    """Whether there are pages."""
    return (static / "index.html").is_file()


@lru_cache(maxsize=256)
def _content(path: Path, changed: int) -> bytes:
    del changed  # another one is another file
    return path.read_bytes()


def _file(path: Path) -> bytes:
    """
    Raises:
        InputError: it is not there.
    """
    try:
        return _content(path, path.stat().st_mtime_ns)
    except OSError:
        raise InputError(BUILD) from None


def asset(name: str, static: Path = STATIC) -> tuple[bytes, str] | None:
    """A file of the application and its type; None where there is none of that name."""
    kind = TYPES.get(Path(name).suffix)
    path = static / "assets" / name
    if kind is None or not _NAME.match(name) or not path.is_file():
        return None
    return _file(path), kind


def page(base: str, static: Path = STATIC) -> bytes:
    """The page that is the application.

    Args:
        base: address that it is mounted at; begins and ends with a slash.

    Raises:
        InputError: it is not built.
    """
    text = _file(static / "index.html").decode()
    return text.replace(BASE, f'<base href="{base}">', 1).encode()


def report_page(data: str, static: Path = STATIC) -> str:
    """The application as one file, with its data.

    Args:
        data: JSON.

    Raises:
        InputError: it is not built.
    """
    text = _file(static / "report.html").decode()
    if text.count(DATA) != 1:
        raise InputError(BUILD)
    inert = data.replace("<", "\\u003c")  # nothing in it can end the script, or begin a comment
    script = f'<script type="application/json" id="loopbook-data">{inert}</script>'
    before, _, after = text.partition(DATA)
    return before + script + after
