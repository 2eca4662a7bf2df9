"""Writes an evaluation down: tables in Markdown, and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loopbook.learn import figures
from loopbook.learn.evaluate import Result, Settings
from loopbook.learn.holdout import HOLDOUTS
from loopbook.learn.methods import Method
from loopbook.learn.retrieval import CUTS, Retrieval
from loopbook.learn.summary import Score, score
from loopbook.recipes.book import Book


def write(
    folder: Path,
    results: Sequence[Result],
    methods: Sequence[Method],
    settings: Settings,
    books: Sequence[Book],
    found: dict[str, Retrieval],
) -> Path:
    """Write ``evaluate.md`` and its figures.

    Args:
        found: by method, what it retrieves of measured transfers; empty where there are none.

    Returns:
        The Markdown file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts = [_opening(methods, settings, books)]
    for rule in settings.holdouts:
        own = [one for one in results if one.holdout == rule]
        if own:
            parts.append(_holdout(folder, rule, own, methods, settings))
    if found:
        parts.append(_retrieval(found, methods))
    ours = next((method for method in methods if method.name == "ours"), None)
    if ours is not None:
        parts += _pictures(folder, results, ours, books)
    path = folder / "evaluate.md"
    path.write_text("\n\n".join(parts) + "\n")
    return path


def _opening(methods: Sequence[Method], settings: Settings, books: Sequence[Book]) -> str:
    records = ", ".join(f"{len(book)} records in {Path(book.name).name}" for book in books)
    used = next((m for m in methods if m.name == "ours"), methods[0])
    cost_model = used.cost_model.version if used.cost_model else "none"
    return (
        "# What the book serves to kernels that it does not know\n\n"
        f"PolyBench {settings.preset}, {' and '.join(settings.targets)}; encoder "
        f"`{used.encoder.version}`, cost model `{cost_model}`; {records}. Written by "
        "`loopbook evaluate`: everything was compiled, run and checked; docc's own compile, the "
        "tuner's recipes of the "
        "very kernel, and what each method served ran in turn. Records of the kernel and of all "
        "nests with one of its fingerprints are left out, and the models have learnt from none of "
        "them.\n\n"
        "Share: mean logarithm of the speedup over docc's own compile, of the tuner's. "
        "Slower: kernels that got something more than 5 % slower. Declined: kernels with something "
        "to gain that got nothing; lost: the share of the tuner's gain that they have."
    )


def _holdout(
    folder: Path,
    rule: str,
    results: Sequence[Result],
    methods: Sequence[Method],
    settings: Settings,
) -> str:
    lines = [
        f"## {HOLDOUTS[rule].title.capitalize()}",
        "",
        "| method | recipes measured | kernels | share of gain | geometric mean | regret | slower |"
        " declined | lost |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for method in methods:
        for way in settings.ways:
            lines.append(_row(method, score(results, method.name, way)))
    tuned = score(results, methods[0].name, settings.ways[0]).tuned
    lines += ["", f"The tuner: {tuned:.2f}×.", ""]
    lines += _kernels(results, methods, settings)
    names = [f"{method.name} {way}" for method in methods[:1] for way in settings.ways]
    figures.shares(results, names, folder / f"evaluate-{rule}.png")
    return "\n".join([*lines, "", f"![speedups](evaluate-{rule}.png)"])


def _row(method: Method, one: Score) -> str:
    way = "none" if one.way == 1 else f"best of {one.way}"
    return (
        f"| {method.title} | {way} | {one.kernels} | {100 * one.share:.0f} % | {one.speedup:.2f}× |"
        f" {one.regret:.2f} | {len(one.slowdowns)} | {len(one.declined)} | {100 * one.lost:.0f} % |"
    )


def _kernels(results: Sequence[Result], methods: Sequence[Method], settings: Settings) -> list[str]:
    names = [f"{method.name} {way}" for method in methods for way in settings.ways]
    lines = [f"| kernel | target | tuner | {' | '.join(names)} |"]
    lines.append(f"| --- | --- | ---: |{' ---: |' * len(names)}")
    for one in sorted(
        results, key=lambda r: (r.comparison.target, r.comparison.kernel), reverse=True
    ):
        served = one.comparison.served
        cells = [f"{served[n].speedup:.2f}×" if n in served else "" for n in names]
        tuner = f"{served['tuner'].speedup:.2f}×"
        lines.append(
            f"| {one.comparison.kernel} | {one.comparison.target} | {tuner} | {' | '.join(cells)} |"
        )
    return lines


def _retrieval(found: dict[str, Retrieval], methods: Sequence[Method]) -> str:
    titles = {method.name: method.title for method in methods}
    some = next(iter(found.values()))
    cuts = " | ".join(f"best among {cut}" for cut in CUTS)
    regrets = " | ".join(f"regret of {cut}" for cut in CUTS)
    lines = [
        "## Finding the best record",
        "",
        f"Transfers measured on {some.nests} nests of PolyBench, from records of other nests: is "
        "the best record among the first ones, and what is lost with the best of these?",
        "",
        f"| method | {cuts} | {regrets} |",
        f"| --- |{' --- |' * (2 * len(CUTS))}",
    ]
    for name, one in found.items():
        recalls = " | ".join(f"{100 * one.recall[cut]:.0f} %" for cut in CUTS)
        losses = " | ".join(f"{one.regret[cut]:.2f}" for cut in CUTS)
        lines.append(f"| {titles.get(name, name)} | {recalls} | {losses} |")
    return "\n".join(lines)


def _pictures(
    folder: Path, results: Sequence[Result], ours: Method, books: Sequence[Book]
) -> list[str]:
    """Calibration, of kernels with one nest that was served something, and the map of the book."""
    points: list[figures.Predicted] = []
    several = len({one.comparison.target for one in results}) > 1
    for one in results:
        served = one.comparison.served.get("ours 1")
        used = [n for n in served.nests if n["tier"] == "near"] if served else []
        if served and len(used) == len(served.nests) == 1:
            row = one.comparison
            name = f"{row.kernel} {row.target}" if several else row.kernel
            expected, lower = used[0]["predicted"], used[0]["lower"]
            points.append(figures.Predicted(name, expected, lower, served.speedup))
    parts: list[str] = []
    if points:
        figures.calibration(points, folder / "evaluate-calibration.png")
        parts.append(_calibration(points))
    if figures.book_map(books, ours.encoder, folder / "evaluate-map.png"):
        parts.append(
            "## The book\n\nNests by the two principal axes of their vectors; the larger, the more "
            "their recipes gain.\n\n![map](evaluate-map.png)"
        )
    return parts


def _calibration(points: Sequence[figures.Predicted]) -> str:
    above = sum(one.measured >= one.lower for one in points)
    return (
        "## Predicted and measured\n\n"
        f"Kernels of a single nest that were served something without measuring: {above} of "
        f"{len(points)} reached the lower bound.\n\n![calibration](evaluate-calibration.png)"
    )


def told(one: Retrieval) -> dict[str, Any]:
    """As JSON-ready figures."""
    return {
        "nests": one.nests,
        "recall": {str(cut): round(share, 4) for cut, share in one.recall.items()},
        "regret": {str(cut): round(lost, 4) for cut, lost in one.regret.items()},
    }
