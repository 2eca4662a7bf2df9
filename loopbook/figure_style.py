"""How all our figures look: one palette, shapes beside colours, legends outside, one way to save.

No meaning hangs on a colour alone: series have shapes of their own, and good and bad are blue and
orange, which people who do not see red or green tell apart, with a sign. matplotlib (extra
``plot``) is loaded with the first figure and needs no display.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from loopbook.errors import BookError, InputError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#4d4d4d")
"""Okabe and Ito's palette for all kinds of sight; dark grey for black, no yellow on white."""

SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d")
"""matplotlib's markers that are areas: 84 families with `COLOURS`."""

WORSE, BETTER = "#c44e00", "#0b5fa5"

DPI = 150

_RC: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
}


def subplots(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Any, Any]:
    """A matplotlib figure of so many inches, and an array of its axes, shape (rows, columns).

    Args:
        options: of matplotlib's ``Figure.subplots``.

    Raises:
        InputError: without matplotlib.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("a figure needs matplotlib: pip install 'loopbook[plot]'") from None
    with matplotlib.rc_context(_RC):  # whoever imports us keeps his own style
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False, **options)


def formats() -> set[str]:
    """Endings of files that can be drawn, without the dot.

    Raises:
        InputError: without matplotlib.
    """
    return set(subplots(1.0, 1.0)[0].canvas.get_supported_filetypes())


def save(figure: Any, path: Path) -> None:
    """Write a figure; the file's ending says in which format.

    Raises:
        InputError: there is no such format.
        BookError: the file cannot be written.
    """
    try:
        figure.savefig(path, dpi=DPI)
    except ValueError:
        raise InputError(f"cannot draw {path.name}: take .png, .svg or .pdf") from None
    except OSError as error:
        raise BookError(f"cannot write {path}: {error.strerror}") from None


def marks(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """A colour and a shape for each name, no two the same; as options of matplotlib."""
    every = list(dict.fromkeys(names))
    if len(every) > len(COLOURS) * len(SHAPES):
        raise InputError(f"{len(every)} series are too many for one figure")
    looks = {}
    for number, name in enumerate(every):
        again, colour = divmod(number, len(COLOURS))
        # Five has no divisor in common with the twelve shapes: a colour meets each of them once.
        shape = SHAPES[(colour + 5 * again) % len(SHAPES)]
        looks[name] = {"color": COLOURS[colour], "marker": shape}
    return looks


def worse_to_better() -> Any:
    """The colours of slower (orange) over equal (white) to faster (blue)."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "worse-to-better", ["#d55e00", "#f5b278", "#ffffff", "#7fb6dc", "#1f78b4"]
    )


def as_times(axis: Any) -> None:
    """Write speedups on a logarithmic axis as people do: 0.5×, 1×, 2×, 10×."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×"))
    axis.set_minor_formatter(NullFormatter())


def legend_outside(axes: Any, **options: Any) -> Any:
    """A legend on the right of the axes, where it hides nothing."""
    return axes.legend(
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        borderaxespad=0.0,
        frameon=False,
        fontsize=8,
        **options,
    )
