"""Figures of an evaluation; they need matplotlib (extra ``plot``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.learn.evaluate import Result
from loopbook.recipes.book import Book

_DPI = 130
_KINDS = 12


def shares(results: Sequence[Result], names: Sequence[str], path: Path) -> None:
    """Speedups kernel by kernel: the tuner's, and what each of `names` serves."""
    plt = _pyplot()
    rows = sorted((one.contest for one in results), key=lambda c: -c.served["tuner"].speedup)
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


def calibration(
    predicted: Sequence[float], lower: Sequence[float], got: Sequence[float], path: Path
) -> None:
    """Predicted speedups against those measured, program by program."""
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(4.8, 4.8))
    for x, low, y in zip(predicted, lower, got, strict=True):
        axes.plot([low, x], [y, y], "-", color="0.75", lw=0.8)
    axes.plot(predicted, got, "o", ms=4)
    ends = [min([0.5, *got, *lower]), max([2.0, *got, *predicted])]
    axes.plot(ends, ends, "k-", lw=0.6)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("predicted speedup (line: down to the lower bound)")
    axes.set_ylabel("measured")
    _save(figure, path)


def book_map(books: Sequence[Book], encoder: str, path: Path) -> None:
    """The books' nests in two dimensions: principal axes of their vectors, coloured by where they
    come from, the larger the more they gained."""
    found = [item for book in books for item in _points(book, encoder)]
    vectors = np.stack([vector for _, vector, _ in found])
    centred = vectors - vectors.mean(axis=0)
    _, _, axes_of = np.linalg.svd(centred, full_matrices=False)
    flat = centred @ axes_of[:2].T
    names = [kind for kind, _, _ in found]
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(7.5, 6))
    for number, kind in enumerate(sorted(set(names))):
        own = [place for place, name in enumerate(names) if name == kind]
        sizes = [8 + 12 * max(0.0, math.log2(found[place][2])) for place in own]
        mark = "*" if kind == "polybench" else "o"
        colour = "k" if kind == "polybench" else plt.cm.tab20(number % 20)
        axes.scatter(
            flat[own, 0], flat[own, 1], s=sizes, marker=mark, color=colour, alpha=0.7, label=kind
        )
    axes.legend(fontsize=7, ncol=2)
    axes.set_xticks([])
    axes.set_yticks([])
    _save(figure, path)


def _points(book: Book, encoder: str) -> list[tuple[str, np.ndarray, float]]:
    """Family, vector and best speedup of each nest."""
    best: dict[str, tuple[str, float]] = {}
    for record in book.records():
        family = "polybench" if "." not in record.kernel else record.kernel.partition(".")[0]
        known = best.get(record.fingerprint, (family, 0.0))
        best[record.fingerprint] = (family, max(known[1], record.speedup))
    points = []
    for fingerprint, (family, speedup) in best.items():
        embedding = book.embedding(fingerprint, encoder)
        if embedding is not None:
            points.append((family, embedding.nest, speedup))
    return points


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
