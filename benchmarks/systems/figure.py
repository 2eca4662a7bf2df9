"""What the comparison found, as a heat map in the manner of NPBench's (Ziogas et al., ICS 2021)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks.systems.registry import BASELINE, SYSTEMS
from benchmarks.systems.table import Result, geometric_mean, seconds, speedup
from loopbook import figure_style as style

BRIGHTEST = 32.0
"""Speedups and slowdowns beyond this factor look the same."""


def draw(results: Sequence[Result], file: Path) -> None:
    """Kernels by systems, one panel for each number of threads.

    The colour is the speedup over docc's own schedule with as many threads; its own column shows
    the time. Systems that are out of a kernel's comparison are grey.

    Raises:
        InputError: without matplotlib (the ``plot`` extra).
    """
    counts = sorted({result["threads"] for result in results})
    names = [name for name in SYSTEMS if any(name in result["systems"] for result in results)]
    kernels = list(dict.fromkeys(result["kernel"] for result in results))
    size = 1.0 + (1.6 + 0.85 * len(names)) * len(counts), 1.6 + 0.28 * len(kernels)
    figure, panels = style.subplots(*size, columns=len(counts))  # says so without matplotlib
    from matplotlib.colors import LogNorm

    norm = LogNorm(1 / BRIGHTEST, BRIGHTEST)
    image = None
    for panel, threads in zip(panels[0], counts, strict=True):
        found = {r["kernel"]: r for r in results if r["threads"] == threads}
        grid, words = _cells([found.get(kernel) for kernel in kernels], names)
        panel.set_facecolor("0.85")
        image = panel.imshow(grid, norm=norm, cmap=style.worse_to_better(), aspect="auto")
        for row, line in enumerate(words):
            for column, text in enumerate(line):
                panel.text(column, row, text, ha="center", va="center", fontsize=7)
        panel.set_xticks(range(len(names)), names)
        panel.set_yticks(range(len(kernels) + 1), ["geometric mean", *kernels])
        panel.grid(visible=False)
        panel.xaxis.tick_top()
        panel.axhline(0.5, color="black", linewidth=1)
        panel.set_title(f"{threads} thread{'s' if threads > 1 else ''}")
    if image is not None:
        label = "speedup over docc's own schedule: orange is slower, blue is faster"
        bar = figure.colorbar(image, ax=panels[0], label=label, shrink=0.6)
        style.as_times(bar.ax.yaxis)
    style.save(figure, file)


def _cells(
    results: Sequence[Result | None], names: Sequence[str]
) -> tuple[list[list[float]], list[list[str]]]:
    """Speedups and texts, the means first."""
    grid, words = [], []
    for result in results:
        gains = [speedup(result, name) if result else None for name in names]
        grid.append([math.nan if gain is None else gain for gain in gains])
        words.append([_text(result, name) for name in names])
    means = [
        geometric_mean(speedup(result, name) for result in results if result) for name in names
    ]
    grid.insert(0, [mean[0] if mean else math.nan for mean in means])
    words.insert(0, [f"{mean[0]:.2f}×" if mean else "" for mean in means])
    return grid, words


def _text(result: Result | None, name: str) -> str:
    if result is None or name not in result["systems"]:
        return ""
    taken, gain = seconds(result, name), speedup(result, name)
    if taken is None:
        return result["systems"][name]["status"]
    if name == BASELINE or gain is None:
        return f"{taken:.2f} s" if taken >= 1 else f"{taken * 1e3:.3g} ms"
    return f"{gain:.2f}×" if gain < 100 else f"{gain:.0f}×"
