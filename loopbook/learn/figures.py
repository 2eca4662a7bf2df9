"""Figures of an evaluation; they need matplotlib (extra ``plot``)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from loopbook import figure_style as style
from loopbook.client.reembed import nest_of
from loopbook.embed.inference import Encoder
from loopbook.learn.evaluate import Result
from loopbook.recipes.book import Book
from loopbook.workloads import polybench

SUITE = "polybench"


class Predicted(NamedTuple):
    """Speedups of one kernel: expected, at least expected, and measured."""

    kernel: str
    expected: float
    lower: float
    measured: float


def shares(results: Sequence[Result], names: Sequence[str], path: Path) -> None:
    """Speedups kernel by kernel: the tuner's, and what each of `names` serves."""
    rows = sorted((one.comparison for one in results), key=lambda c: -c.served["tuner"].speedup)
    several = len({row.target for row in rows}) > 1
    labels = [f"{row.kernel} {row.target}" if several else row.kernel for row in rows]
    served = {
        name: [row.served[name].speedup if name in row.served else math.nan for row in rows]
        for name in ("tuner", *names)
    }
    draw_shares(labels, served, path)


def draw_shares(labels: Sequence[str], served: dict[str, list[float]], path: Path) -> None:
    """A column for each of the labels, with a mark for each series."""
    figure, [[axes]] = style.subplots(max(6.0, 2.0 + 0.28 * len(labels)), 4.5)
    places = np.arange(len(labels))
    axes.axhline(1.0, color="0.4", lw=1)
    tuner = dict(served)
    best = tuner.pop("tuner")
    axes.plot(places, best, "_", color="0.6", ms=15, mew=3, label="tuner")
    for number, (name, look) in enumerate(style.marks(tuner).items()):
        aside = 0.3 * (number - (len(tuner) - 1) / 2)  # equal ones do not hide one another
        label = _in_words(name)
        axes.plot(places + aside, tuner[name], ls="", ms=5, label=label, **look)
    axes.set_yscale("log")
    style.as_times(axes.yaxis)
    axes.set_ylabel("speedup over docc's own schedule")
    axes.set_title(f"What is served to {len(labels)} kernels that the book does not know")
    axes.set_xticks(places, labels, rotation=60, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.7, len(labels) - 0.3)
    axes.grid(axis="x", visible=False)
    style.legend_outside(axes)
    style.save(figure, path)


def _in_words(name: str) -> str:
    """``ours 5`` for people."""
    method, _, way = name.rpartition(" ")
    return f"{method}, {'nothing measured' if way == '1' else f'best of {way} measured'}"


def calibration(points: Sequence[Predicted], path: Path) -> None:
    """Speedups expected, their lower bounds, and those measured, kernel by kernel."""
    rows = sorted(points, key=lambda one: one.measured)
    figure, [[axes]] = style.subplots(7.0, 1.7 + 0.32 * len(rows))
    reached = sum(one.measured >= one.lower for one in rows)
    for place, one in enumerate(rows):
        fine = one.measured >= one.lower
        axes.plot([one.lower, one.expected], [place, place], "-", color="0.7", lw=3, zorder=1)
        axes.plot(one.expected, place, "|", color="0.25", ms=12, mew=2, zorder=2)
        look = (
            {"marker": "o", "color": style.BETTER}
            if fine
            else {"marker": "X", "color": style.WORSE}
        )
        axes.plot(one.measured, place, ls="", ms=7, zorder=3, **look)
    # Drawn nowhere: what the legend explains.
    axes.plot([], [], "-", color="0.7", lw=3, label="from the lower bound")
    axes.plot([], [], "|", color="0.25", ms=12, mew=2, label="to what is expected")
    axes.plot([], [], "o", color=style.BETTER, label=f"measured, bound kept ({reached})")
    axes.plot([], [], "X", color=style.WORSE, label=f"measured, below it ({len(rows) - reached})")
    axes.axvline(1.0, color="0.4", lw=1)
    axes.set_xscale("log")
    style.as_times(axes.xaxis)
    axes.set_yticks(range(len(rows)), [one.kernel for one in rows])
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xlabel("speedup over docc's own schedule")
    axes.set_title(f"Expected and measured, {len(rows)} kernels of one nest")
    style.legend_outside(axes)
    style.save(figure, path)


def book_map(books: Sequence[Book], encoder: Encoder, path: Path) -> bool:
    """The books' nests on the principal axes of their vectors, coloured by where they come from.

    Returns:
        False if there are too few nests to draw.
    """
    found = _points(books)
    if len(found) < 3:
        return False
    texts = [text for _, _, text in found]
    vectors = np.stack([e.nest for e in encoder.encode_many([nest_of(t, "book") for t in texts])])
    centred = vectors - vectors.mean(axis=0)
    _, lengths, principal = np.linalg.svd(centred, full_matrices=False)
    explained = lengths**2 / max(float(np.sum(lengths**2)), 1e-30)
    flat = centred @ principal[:2].T
    families = [family for family, _, _ in found]
    figure, [[axes]] = style.subplots(10.0, 6.5)
    counts = Counter(families)
    looks = style.marks(sorted(counts.keys() - {SUITE}))
    looks |= {SUITE: {"color": "k", "marker": "*"}} if SUITE in counts else {}
    for family, look in looks.items():  # the suite last, above the others
        own = [place for place, name in enumerate(families) if name == family]
        axes.scatter(
            flat[own, 0],
            flat[own, 1],
            s=[12 + 12 * max(0.0, math.log2(found[place][1])) for place in own],
            c=look["color"],
            marker=look["marker"],
            alpha=0.7,
            linewidths=0.3,
            edgecolors="w",
            label=f"{family} ({counts[family]})",
        )
    axes.set_title(f"The book's {len(found)} nests, by their vectors")
    axes.set_xlabel(f"first principal axis ({100 * explained[0]:.0f} % of the variance)")
    axes.set_ylabel(f"second principal axis ({100 * explained[1]:.0f} %)")
    axes.set_xticks([])
    axes.set_yticks([])
    key = style.legend_outside(
        axes, title="family (nests)\nlarger: more speedup", ncols=1 + len(looks) // 28
    )
    for handle in key.legend_handles:
        handle.set_sizes([36.0])
    style.save(figure, path)
    return True


def _points(books: Sequence[Book]) -> list[tuple[str, float, str]]:
    """Family, best speedup and JSON text of each nest."""
    best: dict[str, tuple[str, float, str]] = {}
    for book in books:
        for record in book.records():
            suite = record.kernel in polybench.names()
            family = SUITE if suite else record.kernel.partition(".")[0]
            known = best.get(record.fingerprint, (family, 0.0, record.nest_json))
            best[record.fingerprint] = (family, max(known[1], record.speedup), known[2])
    return list(best.values())
