"""Figures of searches: the best speedup so far against the number of trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

from loopbook import figure_style as style
from loopbook.errors import InputError
from loopbook.tuner.log import Trial

Curve = Sequence[float]
"""The best speedup after one trial, after two, …"""

Panel = Mapping[str, Sequence[Curve]]
"""What a line is called, to its runs (such as one for each seed)."""

Failures = Mapping[str, Sequence[int]]
"""What a line is called, to the trials of it that failed, from 1."""

FAILED = "a trial that failed"

COLUMNS = 4
PANEL_INCHES = (3.6, 2.8)


def best_so_far(speedups: Iterable[float]) -> list[float]:
    """The curve of one search. It never falls below 1: docc's own schedule can always be kept.

    Args:
        speedups: in the order of the trials; 0 for failures.
    """
    return list(accumulate(speedups, max, initial=1.0))[1:]


def curves(trials: Iterable[Trial]) -> dict[int, list[float]]:
    """Nest position to the curve of a logged search."""
    speedups: dict[int, list[float]] = {}
    for trial in trials:
        speedups.setdefault(trial.nest, []).append(trial.speedup)
    return {nest: best_so_far(found) for nest, found in sorted(speedups.items())}


def failures(trials: Iterable[Trial]) -> dict[str, list[int]]:
    """By nest, which of its trials failed, from 1."""
    counts: dict[int, int] = {}
    found: dict[str, list[int]] = {}
    for trial in trials:
        counts[trial.nest] = number = counts.get(trial.nest, 0) + 1
        if trial.status != "ok":
            found.setdefault(f"nest {trial.nest}", []).append(number)
    return found


def check_picture(path: Path) -> None:
    """Make sure that a figure can be drawn into a file, before there is anything to draw.

    Raises:
        InputError: without matplotlib, if the file's ending is no image format, or if there is no
            folder for it.
    """
    if path.suffix.removeprefix(".").lower() not in style.formats():
        raise InputError(f"cannot draw {path}: name a file that ends in .png, .svg or .pdf")
    if path.is_dir() or not path.parent.is_dir():
        what = "is a folder" if path.is_dir() else "is in no folder that there is"
        raise InputError(f"cannot draw {path}: it {what}")


def plot_searches(searches: Mapping[str, Iterable[Trial]], path: Path) -> None:
    """One panel for each search, with a line for each nest and a cross for each failure.

    Args:
        searches: title to the trials of a search.

    Raises:
        InputError: without trials, or see `check_picture`.
        BookError: if the file cannot be written.
    """
    kept = {title: list(trials) for title, trials in searches.items()}
    panels = {
        title: {f"nest {nest}": [curve] for nest, curve in curves(trials).items()}
        for title, trials in kept.items()
    }
    if not any(panels.values()):
        raise InputError("there are no trials to plot")
    plot_panels(panels, path, {title: failures(trials) for title, trials in kept.items()})


def plot_panels(
    panels: Mapping[str, Panel], path: Path, failed: Mapping[str, Failures] = MappingProxyType({})
) -> None:
    """A grid of panels, each with the median of every line's runs and the range around it.

    Args:
        panels: title to its lines; the same name has the same colour everywhere.
        failed: title to the trials that failed, by line.

    Raises:
        InputError: see `check_picture`.
        BookError: if the file cannot be written.
    """
    check_picture(path)
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    width, height = PANEL_INCHES
    looks = style.marks(name for panel in panels.values() for name in panel)
    size = max(width * columns, 5.0) + 1.2, height * rows + 0.9
    figure, grid = style.subplots(*size, rows, columns)
    axes = grid.flatten()
    for ax, (title, panel) in zip(axes, panels.items(), strict=False):
        for name, runs in panel.items():
            _draw(ax, name, runs, looks[name], failed.get(title, {}).get(name, ()))
        ax.set_title(title, fontsize=9)
        ax.set_xlim(left=0.5)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    for ax in axes[len(panels) :]:
        ax.remove()
    figure.suptitle("Best speedup found so far", fontsize=11)
    figure.supxlabel("trials of the nest", fontsize=9)
    figure.supylabel("speedup over docc's own schedule", fontsize=9)
    handles = {
        label: handle
        for ax in axes[: len(panels)]
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    if FAILED in handles:  # last
        handles[FAILED] = handles.pop(FAILED)
    figure.legend([*handles.values()], [*handles], loc="outside right center", frameon=False)
    style.save(figure, path)


def _draw(
    ax: Any, name: str, runs: Sequence[Curve], look: Mapping[str, str], failed: Sequence[int]
) -> None:
    """Steps: a best speedup stays until a better one is found, and nothing lies between trials."""
    length = min(map(len, runs))
    trials = list(range(1, length + 1))
    columns = list(zip(*(run[:length] for run in runs), strict=True))
    middle = [median(column) for column in columns]
    better = [n for n in range(length) if middle[n] > (middle[n - 1] if n else 1.0)]
    ax.plot(
        trials, middle, drawstyle="steps-post", markevery=better, ms=5, lw=1.4, label=name, **look
    )
    if failed:
        heights = [middle[min(n, length) - 1] for n in failed]
        ax.plot(failed, heights, "x", color="k", ms=6, mew=1.3, label=FAILED, zorder=3)
    if len(runs) > 1:
        low, high = list(map(min, columns)), list(map(max, columns))
        ax.fill_between(trials, low, high, step="post", color=look["color"], alpha=0.15, lw=0)
