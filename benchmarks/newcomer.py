"""The first minutes of somebody who has a wheel, an empty home and a terminal of 80 columns.

    python benchmarks/newcomer.py [--wheel FILE]

Makes a new virtual environment, installs the wheel with pip (a new one of this folder, if none is
named), its extra ``ui`` and everything that they need, types what the tutorial's first pages say,
and opens the explorer in Chromium. Prints how long each command took, how many lines it left on the
terminal and how it ended; the exit code is 1 if one failed or left more than `MOST_LINES`, or if
all took longer than `MOST_SECONDS`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect

ROOT = Path(__file__).resolve().parents[1]

COLUMNS = 80
MOST_LINES = 60
MOST_SECONDS = 180.0

PATIENCE = 600.0
"""Seconds for one command: longer than a newcomer would wait, so that one sees how long it took."""

COMMANDS = [
    "loopbook --version",
    "loopbook --help",
    "loopbook doctor",
    "loopbook steps",
    "loopbook bench kernel.py --preset S",
    "loopbook explain kernel.py --preset S",
]

LOOK = "loopbook ui --no-open"

_PROMPT = "@@newcomer "
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
_UP = re.compile(r"\x1b\[(\d*)[AF]")


@dataclass(frozen=True)
class Told:
    """What a command left behind.

    Attributes:
        expected: the exit code that is right; 130 if Ctrl-C ends the command.
        lines: on the terminal; what was drawn over, as by a progress bar, is not counted.
    """

    command: str
    code: int
    seconds: float
    lines: int
    text: str
    expected: int = 0

    @property
    def good(self) -> bool:
        return self.code == self.expected and self.lines <= MOST_LINES


class Terminal:
    """A shell behind a real terminal of 80 columns and 24 rows, with an empty home."""

    def __init__(self, folder: Path, environment: dict[str, str] | None = None) -> None:
        (folder / "home").mkdir(parents=True)
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        self._shell: Any = pexpect.spawn(
            "bash",
            ["--norc", "--noprofile"],
            cwd=str(folder),
            env={**kept, "HOME": str(folder / "home"), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
            | (environment or {}),
            dimensions=(24, COLUMNS),
            encoding="utf-8",
            echo=False,
            timeout=PATIENCE,
        )
        # The prompt tells how the last command ended. It is written in two parts, so that it is not
        # found in the line that sets it.
        self._shell.sendline(
            f"bind 'set enable-bracketed-paste off'; PS1='{_PROMPT[:2]}''{_PROMPT[2:]}$?;'"
        )
        self._ended()

    def type(self, command: str) -> Told:
        """Type a line, and wait until it has ended."""
        begun = time.monotonic()
        self._shell.sendline(command)
        code, text = self._ended()
        return Told(command, code, time.monotonic() - begun, lines(text), text)

    def look(self, command: str) -> tuple[Told, str]:
        """Type a command that serves a page until Ctrl-C, and open that; what the command left
        behind, and the page as HTML, see `opened`."""
        begun = time.monotonic()
        self._shell.sendline(command)
        self._shell.expect(r"http://127\.0\.0\.1:\d+")
        before, address = self._shell.before + self._shell.match[0], self._shell.match[0]
        page = opened(address)
        self._shell.sendintr()
        code, text = self._ended()
        text = before + text
        return Told(command, code, time.monotonic() - begun, lines(text), text, 130), page

    def close(self) -> None:
        self._shell.close(force=True)

    def _ended(self) -> tuple[int, str]:
        self._shell.expect(re.escape(_PROMPT) + r"(\d+);")
        return int(self._shell.match[1]), str(self._shell.before)


def lines(text: str) -> int:
    """How many rows are left on the terminal, less those that the cursor went back over."""
    rows = plain(text).split("\n")
    if rows[-1] == "":
        rows.pop()
    back = sum(int(up or 1) for up in _UP.findall(text))
    return sum(max(1, -(-len(row) // COLUMNS)) for row in rows) - back


def plain(text: str) -> str:
    """What a terminal was sent, without colours and movements."""
    text = _ESCAPE.sub("", text.replace("\r\n", "\n"))
    return re.sub(r"[^\n]*\r", "", text)  # what a carriage return has drawn over


def chromium() -> str | None:
    """The browser's program, where there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def opened(address: str) -> str:
    """What headless Chromium makes of a page once its scripts have run, as HTML."""
    with tempfile.TemporaryDirectory() as profile:
        words = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        words += ["--virtual-time-budget=10000", "--dump-dom", address]
        return subprocess.run(
            [chromium() or "chromium", *words],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        ).stdout


def tutorial_kernel() -> str:
    """The file that the tutorial's first page has one write."""
    page = (ROOT / "docs" / "tutorial" / "first-kernel.md").read_text()
    match = re.search(r'^```python title="kernel\.py"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    assert match is not None
    return match[1]


def visit(terminal: Terminal, folder: Path) -> tuple[list[Told], str]:
    """Type what a newcomer types after installing, one after the other; what each command left
    behind, and the explorer's page, empty where there is no browser."""
    (folder / "kernel.py").write_text(tutorial_kernel())
    told = [terminal.type(command) for command in COMMANDS]
    if chromium() is None:
        return told, ""
    last, page = terminal.look(LOOK)
    return [*told, last], page


def main() -> int:
    parser = argparse.ArgumentParser(description="Time a newcomer's first minutes.")
    parser.add_argument("--wheel", type=Path, help="default: one that is built now")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = options.wheel and options.wheel.resolve()
        if wheel is None:
            build = [
                sys.executable,
                "-m",
                "hatchling",
                "build",
                "-t",
                "wheel",
                "-d",
                folder / "dist",
            ]
            subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            (wheel,) = (folder / "dist").glob("*.whl")
        terminal = Terminal(folder / "work")
        try:
            made = terminal.type(f"{sys.executable} -m venv .venv && . .venv/bin/activate")
            installed = terminal.type(
                f"pip install --quiet --disable-pip-version-check '{wheel}[ui]'"
            )
            visited, page = visit(terminal, folder / "work")
            told = [made, installed, *visited]
        finally:
            terminal.close()
    for one in told:
        print(f"{one.seconds:7.1f} s  {one.lines:3} lines  code {one.code}  {one.command}")
        if not one.good:
            print(plain(one.text))
    print(f"{len(page):7} characters of the explorer's page, as Chromium shows it")
    total = sum(one.seconds for one in told)
    print(f"{total:7.1f} s  in all")
    return int(total > MOST_SECONDS or not all(one.good for one in told))


if __name__ == "__main__":
    sys.exit(main())
