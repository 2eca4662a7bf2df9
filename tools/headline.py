"""Draws the README's picture, docs/images/headline.svg, from what benchmarks/peers.py measured.

    python tools/headline.py [--check]

With --check nothing is written; the exit code says whether the picture is that of the results.
"""

from __future__ import annotations

import argparse
import json
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.systems.table import Result, geometric_mean, speedup  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "peers.jsonl"
PICTURE = ROOT / "docs" / "images" / "headline.svg"

NAMES = {
    "clang": "clang -O3",
    "docc": "docc",
    "polly": "clang with Polly",
    "numba": "Numba",
    "dace": "DaCe",
    "numpy": "NumPy",
    "loopbook": "loopbook",
}
WIDTH, LEFT, ROW, TOP = 640, 130, 26, 44

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
rect { fill: #8c959f }
.ours { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  rect { fill: #6e7681 }
  .ours { fill: #4493f8 }
}"""


def means(results: list[Result]) -> dict[str, tuple[float, int]]:
    """System to its geometric mean over docc, and how many kernels that is of; slowest first."""
    found = {}
    for name in NAMES:
        mean = geometric_mean(speedup(result, name) for result in results)
        if mean is not None:
            found[name] = mean
    return dict(sorted(found.items(), key=lambda item: item[1][0]))


def drawn(results: list[Result]) -> str:
    """The picture, as SVG."""
    bars = means(results)
    title = f"{len(results)} PolyBench kernels, LARGE, 1 thread: speedup over docc, geometric mean"
    height = TOP + ROW * len(bars) + 8
    scale = (WIDTH - LEFT - 130) / max(mean for mean, _ in bars.values())
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        f' width="{WIDTH}" height="{height}">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<text class="title" x="8" y="24">{escape(title)}</text>',
    ]
    for row, (name, (mean, count)) in enumerate(bars.items()):
        top = TOP + ROW * row
        length = mean * scale
        told = f"{mean:.2f}×" + ("" if count == len(results) else f" (of {count})")
        kind = ' class="ours"' if name == "loopbook" else ""
        lines += [
            f'<text x="{LEFT - 8}" y="{top + 14}" text-anchor="end">{NAMES[name]}</text>',
            f'<rect{kind} x="{LEFT}" y="{top}" width="{length:.1f}" height="18" rx="2"/>',
            f'<text x="{LEFT + length + 6:.1f}" y="{top + 14}">{told}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description="Draw the README's picture.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    options = parser.parse_args()
    picture = drawn([json.loads(line) for line in RESULTS.read_text().splitlines()])
    if options.check:
        return int(picture != PICTURE.read_text())
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
