"""What ``loopbook evaluate --out DIR`` has measured, as tables and figures to look through.

Its log, ``evaluate.jsonl``, is read; where there is only a report, ``evaluate*.md``, its tables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from loopbook.explorer.documents import Axis, Column, Evaluation, Figure, Series, Table
from loopbook.learn.evaluate import LOG, Result, results_of
from loopbook.learn.holdout import HOLDOUTS
from loopbook.learn.summary import score

COMMAND = "loopbook evaluate --quick --out evaluation"
PROBLEM = f"nothing has been evaluated here: run '{COMMAND}' (under ten minutes), then look again"

TUNER = "tuner"
MOST_FILES = 20
MOST_BYTES = 8 << 20
"""Of a report or a log that is read."""


def evaluation(folders: Sequence[Path]) -> Evaluation:
    """The document.

    Args:
        folders: that `evaluate` wrote to.
    """
    tables: list[Table] = []
    figures: list[Figure] = []
    for folder in folders:
        log = folder / LOG
        if _readable(log):
            results = list(results_of(log))
            tables += _tables(folder, results)
            figures += _figures(folder, results)
        else:
            for path in _reports(folder):
                tables += _written(path)
    problem = None if tables or figures else PROBLEM
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    return Evaluation(moment, [COMMAND], tables, figures, problem)


def default_folders() -> list[Path]:
    """Where evaluations usually are, seen from here."""
    here = Path.cwd()
    return [here / "evaluation", here / "results", here / "benchmarks" / "results"]


def _readable(path: Path) -> bool:
    try:
        return 0 < path.stat().st_size <= MOST_BYTES
    except OSError:
        return False


def _reports(folder: Path) -> list[Path]:
    try:
        return [
            path for path in sorted(folder.glob("evaluate*.md"))[:MOST_FILES] if _readable(path)
        ]
    except OSError:
        return []


# -- from the log --------------------------------------------------------------------------------


def _rules(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Results by what was held out."""
    found: dict[str, list[Result]] = {}
    for one in results:
        if TUNER in one.comparison.served:
            found.setdefault(one.holdout, []).append(one)
    return found


def _methods(results: Iterable[Result]) -> list[str]:
    served = {name for one in results for name in one.comparison.served}
    return sorted(served - {TUNER}, key=lambda name: (not name.startswith("ours"), name))


def _title(rule: str) -> str:
    return HOLDOUTS[rule].title if rule in HOLDOUTS else f"without {rule}"


def _tables(folder: Path, results: list[Result]) -> Iterator[Table]:
    for rule, own in _rules(results).items():
        place = f"{folder.name}-{rule}"
        methods = _methods(own)
        yield Table(
            f"{place}-methods",
            f"Methods, {_title(rule)}",
            "Share: mean logarithm of the speedup over docc's own compile, of the tuner's. Slower:"
            " kernels that got something more than 5 % slower.",
            [
                Column("method", "method", "text"),
                Column("kernels", "kernels", "number"),
                Column("share", "share of the tuner's gain", "percent"),
                Column("speedup", "geometric mean", "times"),
                Column("tuner", "the tuner", "times"),
                Column("slower", "slower", "number"),
                Column("declined", "declined", "number"),
            ],
            [_scored(own, name) for name in methods],
        )
        yield Table(
            f"{place}-kernels",
            f"Kernels, {_title(rule)}",
            "Speedup over docc's own compile, all compiled, run and checked.",
            [
                Column("kernel", "kernel", "text"),
                Column("target", "target", "text"),
                Column("docc", "docc", "seconds"),
                Column(TUNER, TUNER, "times"),
                *(Column(name, name, "times") for name in methods),
            ],
            [
                [
                    one.comparison.kernel,
                    one.comparison.target,
                    one.comparison.docc_s,
                    *(_speedup(one, name) for name in (TUNER, *methods)),
                ]
                for one in own
            ],
        )


def _scored(results: list[Result], name: str) -> list[object]:
    method, _, way = name.rpartition(" ")
    one = score(results, method, int(way) if way.isdigit() else 1)
    share = None if math.isnan(one.share) else round(one.share, 4)
    speedup, tuned = round(one.speedup, 3), round(one.tuned, 3)
    return [name, one.kernels, share, speedup, tuned, len(one.slowdowns), len(one.declined)]


def _speedup(result: Result, name: str) -> float | None:
    served = result.comparison.served.get(name)
    try:
        return None if served is None else round(served.speedup, 3)
    except (ZeroDivisionError, TypeError):
        return None


def _figures(folder: Path, results: list[Result]) -> Iterator[Figure]:
    for rule, own in _rules(results).items():
        place = f"{folder.name}-{rule}"
        methods = _methods(own)
        ordered = sorted(own, key=lambda one: -(_speedup(one, TUNER) or 0.0))
        yield Figure(
            f"{place}-speedups",
            f"Speedups, {_title(rule)}",
            "What each method serves each kernel, and what the tuner found.",
            "bars",
            Axis("kernel", False),
            Axis("speedup over docc", True),
            False,
            [
                Series(
                    name,
                    [
                        [f"{one.comparison.kernel} {one.comparison.target}", value]
                        for one in ordered
                        if (value := _speedup(one, name)) is not None
                    ],
                )
                for name in (TUNER, *methods[:4])
            ],
        )
        points = [*_calibration(own)]
        if points:
            yield Figure(
                f"{place}-calibration",
                f"Predicted and measured, {_title(rule)}",
                "Kernels of one nest that were served a neighbour's recipe.",
                "points",
                Axis("predicted speedup", True),
                Axis("measured speedup", True),
                True,
                [Series("kernels", points)],
            )


def _calibration(results: Iterable[Result]) -> Iterator[list[object]]:
    for one in results:
        served = one.comparison.served.get("ours 1")
        near = [nest for nest in served.nests if nest.get("tier") == "near"] if served else []
        if served and len(near) == len(served.nests) == 1 and "predicted" in near[0]:
            label = f"{one.comparison.kernel} {one.comparison.target}"
            yield [near[0]["predicted"], round(served.speedup, 3), label]


# -- from reports --------------------------------------------------------------------------------


def _written(path: Path) -> Iterator[Table]:
    """The tables of a report in Markdown."""
    heading, number = "", 0
    lines = path.read_text(errors="replace").splitlines()
    place = 0
    while place < len(lines):
        line = lines[place]
        if line.startswith("#"):
            heading = line.strip("# ")
        if line.startswith("|") and place + 1 < len(lines) and _is_rule(lines[place + 1]):
            labels = _cells(line)
            rows = []
            place += 2
            while place < len(lines) and lines[place].startswith("|"):
                rows.append(_cells(lines[place])[: len(labels)])
                place += 1
            number += 1
            yield _table(f"{path.stem}-{number}", f"{path.stem}: {heading}", labels, rows)
            continue
        place += 1


def _is_rule(line: str) -> bool:
    return bool(re.fullmatch(r"\|[\s:|-]+\|?", line.strip()))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


_KINDS = (("times", "×"), ("percent", "%"))


def _table(name: str, title: str, labels: list[str], rows: list[list[str]]) -> Table:
    kinds = [_kind([row[n] for row in rows if n < len(row)]) for n in range(len(labels))]
    columns = [Column(f"c{n}", label, kinds[n]) for n, label in enumerate(labels)]
    values = [
        [_read(cell, kind) for cell, kind in zip(row, kinds, strict=False)]
        + [None] * (len(labels) - len(row))
        for row in rows
    ]
    return Table(name, title, "", columns, values)


def _kind(cells: list[str]) -> str:
    given = [cell for cell in cells if cell]
    for kind, sign in _KINDS:
        if given and all(re.fullmatch(rf"-?[\d.]+\s*{sign}", cell) for cell in given):
            return kind
    if given and all(re.fullmatch(r"-?\d+(\.\d+)?", cell) for cell in given):
        return "number"
    return "text"


def _read(cell: str, kind: str) -> object:
    if kind == "text":
        return cell
    try:
        number = float(cell.rstrip("×% "))
    except ValueError:
        return None
    return number / 100 if kind == "percent" else number
