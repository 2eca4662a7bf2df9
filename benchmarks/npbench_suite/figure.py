"""The comparison as NPBench draws it (Ziogas et al., ICS 2021): a heat map over NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks.npbench_suite.systems import NUMPY, SYSTEMS
from benchmarks.npbench_suite.table import Result, speedup, taking_part
from benchmarks.systems.table import geometric_mean
from loopbook import figure_style as style


def draw(results: Sequence[Result], file: Path) -> None:
    """Programs by systems at one size and number of threads, the geometric means on top.

    An arrow upwards is so many times faster than NumPy, downwards slower; the last column has
    NumPy's times. Blue is faster, orange slower, where NPBench has green and red; who is out of a
    program's comparison is grey and says why.

    Raises:
        InputError: without matplotlib (the ``plot`` extra).
    """
    names = [name for name in taking_part(results) if name != NUMPY] + [NUMPY]
    size = 1.6 + 1.1 * len(names), 1.6 + 0.24 * len(results)
    ratios = [1, max(len(results), 1)]
    figure, [[total], [every]] = style.subplots(*size, rows=2, height_ratios=ratios)
    figure.suptitle("Faster (↑, blue) or slower (↓, orange) than NumPy", fontsize=11)
    means = [geometric_mean(speedup(r, name) for r in results) for name in names]
    rows = [[speedup(result, name) for name in names] for result in results]
    rows = [[*row[:-1], 1.0] for row in rows]
    _panel(total, [[mean[0] if mean else None for mean in means[:-1]] + [1.0]], ["Total"])
    _panel(every, rows, [result["program"] for result in results])
    for column, mean in enumerate(means[:-1]):
        total.text(column, 0, arrow(mean[0]) if mean else "", **_FONT)
    for row, result in enumerate(results):
        for column, name in enumerate(names):
            every.text(column, row, _text(result, name), **_FONT)
    total.set_xticks([])
    every.set_xticks(range(len(names)), [SYSTEMS[name].title for name in names])
    style.save(figure, file)


def arrow(gain: float) -> str:
    """A speedup as NPBench writes it: ``↑2.3`` faster, ``↓1.5`` slower, ``↑1.2k``."""
    sign, factor = ("↑", gain) if gain > 1 else ("↓", 1 / gain) if gain < 1 else ("", 1.0)
    return sign + (f"{factor / 1000:.1f}k" if factor > 1000 else f"{factor:.1f}")


_FONT = {"ha": "center", "va": "center", "fontsize": 7}


def _panel(panel, rows: Sequence[Sequence[float | None]], labels: Sequence[str]) -> None:
    grid = [[1 / gain if gain else math.nan for gain in row] for row in rows]
    panel.set_facecolor("0.85")
    panel.grid(visible=False)
    colours = style.worse_to_better().reversed()
    panel.imshow(grid, cmap=colours, vmin=0, vmax=2, aspect="auto", interpolation="nearest")
    panel.set_yticks(range(len(labels)), labels)


def _text(result: Result, name: str) -> str:
    outcome = result["systems"].get(name, {})
    gain = speedup(result, name)
    if gain is None:
        return outcome.get("status", "")
    if name == NUMPY:
        taken = outcome["min_s"]
        return f"{taken * 1e3:.2f} ms" if taken < 0.1 else f"{taken:.2f} s"
    return arrow(gain)
