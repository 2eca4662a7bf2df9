"""Takes pictures of the explorer's pages for the documentation.

    PYTHONPATH=tests/kits python -m tests.explorer.screenshots [FOLDER]

Writes one PNG a page into the folder (default ``docs/screenshots``): the starter book, as somebody
sees it who opens ``loopbook ui`` beside this repository.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import httpx
from browser_kit import SECONDS, Visit, browsing, serving, visiting
from playwright.sync_api import expect

from loopbook.recipes import Book

ROOT = Path(__file__).parents[2]

MOST_BYTES = 150_000
"""Of a picture, which the repository keeps."""

KERNEL = """\
def smooth(field, other):
    for x in range(1, 99):
        for y in range(1, 99):
            other[x, y] = 0.25 * (
                field[x - 1, y] + field[x + 1, y] + field[x, y - 1] + field[x, y + 1]
            )
"""


def shown_record(address: str) -> str:
    """The id of a record whose recipe has several steps, the fastest of a matrix product."""
    columns = httpx.get(f"{address}/map.json", timeout=SECONDS).json()["columns"]
    rows = [row for row, name in enumerate(columns["name"]) if re.match("gemm", name)]
    return columns["id"][max(rows, key=lambda row: columns["speedup"][row] or 0)]


def located(visit: Visit) -> None:
    page = visit.go("locate")
    page.get_by_role("textbox").first.fill(KERNEL)
    page.get_by_role("button", name=re.compile("^(Find|Locate|Look)")).first.click()
    expect(page.get_by_text(re.compile("^declined|^taken")).first).to_be_visible()


def take(visit: Visit, folder: Path) -> None:
    """Takes all pictures."""
    record = shown_record(visit.address)
    for name in ("map", "record", "locate", "live", "evaluation"):
        if name == "locate":
            located(visit)
        else:
            visit.go(f"record/{record}" if name == "record" else name)
        page = visit.page
        expect(page.get_by_text(re.compile("^Reading"))).to_have_count(0)
        page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 300)))")
        path = folder / f"{name}.png"
        page.screenshot(path=path)
        size = path.stat().st_size
        print(f"{path}: {size:,} bytes")
        if size > MOST_BYTES:
            raise SystemExit(f"{path} is larger than {MOST_BYTES:,} bytes")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as kept:
        own = Path(kept) / "book.db"
        Book.open(own).close()
        results = ("--evaluation", str(ROOT / "benchmarks" / "results"))
        with (
            serving(own, *results, environment={"XDG_CACHE_HOME": kept}) as address,
            browsing() as browser,
            visiting(browser, address) as visit,
        ):
            take(visit, folder)


if __name__ == "__main__":
    main()
