"""How the explorer's pages feel in a browser with a large book.

    python benchmarks/explorer_browser.py --book FILE [--json]

``benchmarks/explorer.py --book FILE`` makes the book. Chromium draws by software, without a window:

* ``first_paint_s``: from asking for the map until something stands on the page;
* ``map_s``: until its points are drawn, and ``map_cpu_s``: what of that the page's main thread
  computed, which does not grow when others use the machine;
* ``pan_fps``, ``zoom_fps``: frames a second while the map is dragged and enlarged, and
  ``coarse``: of how many points one is drawn meanwhile (1: all);
* ``record_ms``: from a click in the table until the record's page is drawn, the median of ten;
* ``heap_mb``: of JavaScript, and ``page_mb``: resident, of the process that draws the page.

The server has drawn its map before: benchmarks/explorer.py says how long that takes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "kits")]

import httpx  # noqa: E402
from browser_kit import Visit, browsing  # noqa: E402
from explorer_kit import serving  # noqa: E402
from playwright.sync_api import Browser, CDPSession, Page  # noqa: E402

from loopbook.explorer.app import create_app  # noqa: E402

RECORDS = 10
MOVES = 60

COUNT = """() => { const box = document.querySelector('.map-box');
window.began = [performance.now(), Number(box.dataset.frames)] }"""
RATE = """() => { const box = document.querySelector('.map-box');
return [(performance.now() - began[0]) / 1000, Number(box.dataset.frames) - began[1],
Number(box.dataset.stride)] }"""
PAINTED = """() => [performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000,
performance.getEntriesByName('loopbook-map')[0].startTime / 1000]"""
OPENED = """async () => { const began = performance.now();
document.querySelectorAll('.records tbody th a')[ROW].click();
while (!document.querySelector('.record-page')) await new Promise(requestAnimationFrame);
await new Promise(requestAnimationFrame);
return performance.now() - began }"""


def measure(address: str) -> dict[str, float]:
    """What a browser measures there."""
    with browsing() as browser:
        window = Visit(browser, address)
        session = window.context.new_cdp_session(window.page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page = window.open("/")
        ready(page)
        first, drawn = page.evaluate(PAINTED)
        computed = metrics(session)["ThreadTime"]
        box = page.locator(".map-box").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.evaluate(COUNT)
        for move in range(MOVES):
            page.mouse.move(x + 3 * move, y + move)
        pan = page.evaluate(RATE)
        page.mouse.up()
        page.evaluate(COUNT)
        for _ in range(MOVES):
            page.mouse.wheel(0, -20)
        zoom = page.evaluate(RATE)
        records = []
        for row in range(RECORDS):
            records.append(page.evaluate(OPENED.replace("ROW", str(row))))
            page.go_back()
            ready(page)
        heap = metrics(session)["JSHeapUsedSize"]
        page_mb = resident(browser)
        window.close()
    return {
        "first_paint_s": first,
        "map_s": drawn,
        "map_cpu_s": computed,
        "pan_fps": pan[1] / pan[0],
        "zoom_fps": zoom[1] / zoom[0],
        "coarse": max(pan[2], zoom[2]),
        "record_ms": statistics.median(records),
        "record_slowest_ms": max(records),
        "heap_mb": heap / 1e6,
        "page_mb": page_mb,
    }


def metrics(session: CDPSession) -> dict[str, float]:
    """What Chromium counts of the page."""
    return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}


def resident(browser: Browser) -> float:
    """Megabytes of the largest process that draws pages."""
    told = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    drawing = [one["id"] for one in told if one["type"] == "renderer"]
    texts = [Path(f"/proc/{pid}/status").read_text() for pid in drawing]
    return max(int(text.split("VmRSS:")[1].split()[0]) for text in texts) / 1024


def ready(page: Page) -> None:
    page.locator(".records tbody th a").first.wait_for(timeout=120_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--book", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with serving(create_app(given.book)) as address:
        httpx.get(f"{address}/map.json", timeout=300).raise_for_status()
        told = {name: round(value, 2) for name, value in measure(address).items()}
    if given.json:
        print(json.dumps(told))
    else:
        for name, value in told.items():
            print(f"{name:18} {value}")


if __name__ == "__main__":
    main()
