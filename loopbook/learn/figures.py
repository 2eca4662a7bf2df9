"""Figures of an evaluation; they need matplotlib (extra ``plot``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.client.reembed import nest_of
from loopbook.embed.inference import Encoder
from loopbook.learn.evaluate import Result
from loopbook.recipes.book import Book
from loopbook.workloads import polybench

_DPI = 110


def shares(results: Sequence[Result], names: Sequence[str], path: Path) -> None:
    """Speedups kernel by kernel: the tuner's, and what each of `names` serves."""
    plt = _pyplot()
    rows = sorted((one.comparison for one in results), key=lambda c: -c.served["tuner"].speedup)
    figure, axes = plt.subplots(figsize=(11, 4.5))
    places = np.arange(len(rows))
    axes.plot(places, [row.served["tuner"].speedup for row in rows], "k_", ms=9, label="tuner")
    for name, mark in zip(names, "o^sDv", strict=False):
        found = [row.served[name].speedup if name in row.served else math.nan for row in rows]
        axes.plot(places, found, mark, ms=4, label=name)
    axes.axhline(1.0, color="0.7", lw=0.8)
    axes.set_yscale("log")
    axes.set_ylabel("speedup over docc's own schedule")
    labels = [f"{row.kernel} {row.target[:3]}" for row in rows]
    axes.set_xticks(places, labels, rotation=90, fontsize=6)
    axes.legend(fontsize=8)
    _save(figure, path)


def calibration(points: Sequence[tuple[float, float, float]], path: Path) -> None:
    """Speedups predicted, their lower bounds, and those measured."""
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(4.8, 4.8))
    for predicted, lower, got in points:
        axes.plot([lower, predicted], [got, got], "-", color="0.75", lw=0.8)
    axes.plot([p for p, _, _ in points], [got for _, _, got in points], "o", ms=4)
    numbers = [number for point in points for number in point]
    ends = [min(0.5, *numbers), max(2.0, *numbers)]
    axes.plot(ends, ends, "k-", lw=0.6)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("predicted speedup (line: down to the lower bound)")
    axes.set_ylabel("measured")
    _save(figure, path)


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
    _, _, principal = np.linalg.svd(centred, full_matrices=False)
    flat = centred @ principal[:2].T
    families = [family for family, _, _ in found]
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(7.5, 6))
    for number, family in enumerate(sorted(set(families))):
        own = [place for place, name in enumerate(families) if name == family]
        suite = family == "polybench"
        axes.scatter(
            flat[own, 0],
            flat[own, 1],
            s=[8 + 12 * max(0.0, math.log2(found[place][1])) for place in own],
            marker="*" if suite else "o",
            color="k" if suite else plt.get_cmap("tab20")(number % 20),
            alpha=0.7,
            label=family,
        )
    axes.legend(fontsize=7, ncol=2)
    axes.set_xticks([])
    axes.set_yticks([])
    _save(figure, path)
    return True


def _points(books: Sequence[Book]) -> list[tuple[str, float, str]]:
    """Family, best speedup and JSON text of each nest."""
    best: dict[str, tuple[str, float, str]] = {}
    for book in books:
        for record in book.records():
            suite = record.kernel in polybench.names()
            family = "polybench" if suite else record.kernel.partition(".")[0]
            known = best.get(record.fingerprint, (family, 0.0, record.nest_json))
            best[record.fingerprint] = (family, max(known[1], record.speedup), known[2])
    return list(best.values())


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, dpi=_DPI)
    _pyplot().close(figure)
