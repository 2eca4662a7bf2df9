"""What the documentation's pages have one type: files and commands, in their order.

A block of ``console`` holds commands, each after a ``$``, and what they print. A comment above,
``<!-- not run: why -->``, says that tests are not to run it. A block of ``python`` with a title is
a file of that name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

TUTORIAL = [
    DOCS / "tutorial" / f"{name}.md" for name in ("first-kernel", "explain", "tune", "serve")
]
"""One story, told on several pages: in one folder, with one home."""

BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]*) -->\n)?"
    r"^```(?P<kind>[a-z]*)(?: title=\"(?P<title>[^\"\n]+)\")?\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Command:
    """A line to type, and what is shown of what it prints."""

    place: str
    line: str
    shown: tuple[str, ...]

    @property
    def bare(self) -> str:
        """The line without the remark behind it."""
        return re.sub(r"\s+#.*", "", self.line)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        kind: its language, such as "console"; empty if it has none.
        title: of a file, its name.
        reason: why tests do not run it; empty if they do.
    """

    place: str
    kind: str
    title: str
    reason: str
    body: str

    @property
    def commands(self) -> list[Command]:
        found: list[tuple[str, list[str]]] = []
        for line in self.body.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            elif found:
                found[-1][1].append(line)
        return [Command(self.place, line, tuple(shown)) for line, shown in found]


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in their order."""
    text = page.read_text()
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("body"))
        found.append(
            Block(
                f"{page.relative_to(ROOT)}:{line}",
                match["kind"],
                match["title"] or "",
                match["reason"] or "",
                match["body"],
            )
        )
    return found


def mentions(page: Path) -> list[tuple[str, str]]:
    """``loopbook …`` in running text and in blocks that are not run: place and words."""
    found = []
    for block in blocks(page):
        if block.kind == "console" and block.reason:
            found += [(c.place, c.line) for c in block.commands if c.line.startswith("loopbook ")]
    text = BLOCK.sub("", page.read_text())
    place = str(page.relative_to(ROOT))
    return found + [(place, words) for words in re.findall(r"`(loopbook [^`]+)`", text)]
