"""Pictures of the explorer's pages for the documentation: ``python -m tests.explorer.screenshots``.

They show the starter book, and go to ``docs/screenshots``. The live page has something to show only
while a farm works: ``--live BOOK`` takes its picture alone, of the book of one, a path or the
address of a database.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "kits"))

from browser_kit import Visit, browsing  # noqa: E402
from explorer_kit import serving  # noqa: E402
from PIL import Image  # noqa: E402
from playwright.sync_api import Page  # noqa: E402

from loopbook.explorer.app import create_app  # noqa: E402

OUT = ROOT / "docs" / "screenshots"
COLOURS = 256
WINDOW = {"width": 1280, "height": 800}

CODE = """import numpy as np

def residual(A, x, b, out):
    for i in range(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * x[j]
        out[i] = b[i] - total

def smooth(field, other):
    for i in range(1, field.shape[0] - 1):
        for j in range(1, field.shape[1] - 1):
            other[i, j] = 0.2 * (field[i, j] + field[i - 1, j]
                + field[i + 1, j] + field[i, j - 1] + field[i, j + 1])
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Take pictures of the explorer's pages.")
    parser.add_argument("--live", metavar="BOOK", help="the live page alone, of this book")
    book = parser.parse_args().live
    OUT.mkdir(parents=True, exist_ok=True)
    if book:
        with serving(create_app(book)) as address, browsing() as browser:
            window = Visit(browser, address, viewport=WINDOW, color_scheme="light")
            live(window)
            window.close()
        return
    app = create_app(evaluations=[ROOT / "benchmarks" / "results"], patient=True)
    with serving(app) as address, browsing() as browser:
        for scheme in ("light", "dark"):
            window = Visit(browser, address, viewport=WINDOW, color_scheme=scheme)
            page = window.open("/?colour=family" if scheme == "dark" else "/")
            page.locator(".records tbody th a").first.wait_for()
            taken(page, "map" if scheme == "light" else "map-dark")
            if scheme == "light":
                others(window)
            window.close()


def others(window: Visit) -> None:
    page = window.open("/?q=trmm")
    page.locator(".records tbody th a").first.click()
    page.get_by_role("region", name="The C++").wait_for()
    taken(page, "record")
    page.locator("#sizes").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#sizes').scrollIntoView()")
    taken(page, "record-measured")
    page = window.open("/locate")
    page.get_by_label("Python or SDFG").fill(CODE)
    page.get_by_role("button", name="Locate", exact=True).click()
    page.get_by_role("region", name=re.compile("^Neighbours, and why")).wait_for()
    taken(page, "locate")
    page = window.open("/evaluation")
    page.locator("h1").wait_for()
    taken(page, "evaluation")


def live(window: Visit) -> None:
    page = window.open("/live")
    page.locator(".connection.on").wait_for()
    taken(page, "live")


def taken(page: Page, name: str) -> None:
    page.mouse.move(1, 1)
    page.wait_for_timeout(400)  # until the map stands still
    path = OUT / f"{name}.png"
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    # Few colours are enough for text and points, and keep the repository small.
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{name}: {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
