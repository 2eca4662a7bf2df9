"""The site of the documentation: it builds without a warning, and holds what it says it does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

import loopbook
from loopbook.cli.app import app
from loopbook.steps import STEPS
from tests.docs.console import DOCS, ROOT

pytest.importorskip("mkdocs")


def built(folder: Path) -> Path:
    """The site, from one strict build; a link to nowhere is an error there."""
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.mark.long
def test_the_site_builds_without_a_warning_and_is_whole(tmp_path: Path):
    site = built(tmp_path / "site")  # once: it takes eight seconds
    check_every_page_is_there(site)
    check_the_references_are_complete(site)
    check_nothing_is_loaded_from_other_hosts(site)


def check_every_page_is_there(site: Path) -> None:
    pages = [page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md")]
    assert [page for page in pages if not (site / page).is_file()] == []
    results = list((ROOT / "benchmarks" / "results").glob("*.md"))
    assert [one.name for one in results if not (site / f"results/{one.stem}.html").is_file()] == []


def check_the_references_are_complete(site: Path) -> None:
    """They name every command, step and public name."""
    commands = _text(site / "reference" / "commands.html")
    assert [name for name in _names(typer.main.get_command(app)) if name not in commands] == []
    steps = (site / "reference" / "steps.html").read_text()
    assert [name for name in STEPS if f'id="{name}"' not in steps] == []
    python = (site / "reference" / "python.html").read_text()
    homes = [getattr(loopbook, name) for name in loopbook.__all__]
    missing = [h for h in homes if f'id="{h.__module__}.{h.__name__}"' not in python]
    assert missing == []


def check_nothing_is_loaded_from_other_hosts(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^>]*")
    links = re.compile(r"<link\b[^>]*\bhref=[\"']?(?:https?:)?//[^>]*")
    styles = re.compile(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)]*")
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert loads.findall(text) + links.findall(text) == [], page
    for sheet in site.rglob("*.css"):
        assert styles.findall(sheet.read_text()) == [], sheet


def _names(command: Any, before: str = "") -> list[str]:
    """All commands below one, with the words before them."""
    below = getattr(command, "commands", {})
    words = f"{before} {command.name}".strip()
    return [words, *(name for one in below.values() for name in _names(one, words))]


def _text(page: Path) -> str:
    return re.sub(r"<[^>]*>", "", page.read_text())
