"""Figures of searches: the best speedup so far against the number of trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any

from loopbook.errors import BookError, InputError
from loopbook.tuner.log import Trial

Curve = Sequence[float]
"""The best speedup after one trial, after two, …"""

Panel = Mapping[str, Sequence[Curve]]
"""What a line is called, to its runs (such as one for each seed)."""

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


def check_picture(path: Path) -> None:
    """Make sure that a figure can be drawn into a file, before there is anything to draw.

    Raises:
        InputError: without matplotlib, if the file's ending is no image format, or if there is no
            folder for it.
    """
    known = _figure_class()().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in known:
        raise InputError(f"cannot draw {path}: name a file that ends in .png, .svg or .pdf")
    if path.is_dir() or not path.parent.is_dir():
        what = "is a folder" if path.is_dir() else "is in no folder that there is"
        raise InputError(f"cannot draw {path}: it {what}")


def plot_searches(searches: Mapping[str, Iterable[Trial]], path: Path) -> None:
    """One panel for each search, with a line for each nest.

    Args:
        searches: title to the trials of a search.

    Raises:
        InputError: without trials, or see `check_picture`.
        BookError: if the file cannot be written.
    """
    panels = {
        title: {f"nest {nest}": [curve] for nest, curve in curves(trials).items()}
        for title, trials in searches.items()
    }
    if not any(panels.values()):
        raise InputError("there are no trials to plot")
    plot_panels(panels, path)


def plot_panels(panels: Mapping[str, Panel], path: Path) -> None:
    """A grid of panels, each with the median of every line's runs and the range around it.

    Args:
        panels: title to its lines; the same name has the same colour everywhere.

    Raises:
        InputError: see `check_picture`.
        BookError: if the file cannot be written.
    """
    check_picture(path)
    figure_class = _figure_class()
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    width, height = PANEL_INCHES
    figure = figure_class(figsize=(max(width * columns, 5.0), height * rows + 0.5))
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    axes = figure.subplots(rows, columns, squeeze=False).flatten()
    for ax, (title, panel) in zip(axes, panels.items(), strict=False):
        for name, runs in panel.items():
            _draw(ax, name, runs, f"C{names.index(name) % 10}")
        ax.set_title(title, fontsize=9)
        ax.grid(alpha=0.3)
    for ax in axes[len(panels) :]:
        ax.remove()
    figure.supxlabel("trials", fontsize=10)
    figure.supylabel("best speedup over docc", fontsize=10)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(6, len(labels)))
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise BookError(f"cannot write {path}: {error.strerror}") from None


def _draw(ax: Any, name: str, runs: Sequence[Curve], color: str) -> None:
    length = min(map(len, runs))
    trials = range(1, length + 1)
    columns = list(zip(*(run[:length] for run in runs), strict=True))
    middle = [median(column) for column in columns]
    # The best so far stays what it is until a trial is better: steps, no slopes between trials.
    ax.plot(trials, middle, color=color, label=name, linewidth=1.3, drawstyle="steps-post")
    if len(runs) > 1:
        low, high = map(min, columns), map(max, columns)
        ax.fill_between(
            trials, list(low), list(high), color=color, step="post", alpha=0.12, linewidth=0
        )


def _figure_class() -> Any:
    """matplotlib's figure, which draws without a display."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("a figure needs matplotlib: pip install 'loopbook[plot]'") from None
    from functools import partial

    return partial(Figure, layout="constrained")
