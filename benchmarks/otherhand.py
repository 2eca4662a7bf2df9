"""Does the same nest, written by another hand, find the same neighbours?

    python benchmarks/otherhand.py [--book PATH [--alone]] [--only KERNEL…] [--json]

`benchmarks/otherhand` holds kernels of PolyBench in three other forms each: loops permuted,
temporaries added, matrices stored transposed (function ``swapped``, which gets its arrays so),
loops as NumPy expressions. For the nest with the most iterations of each form it compares the
nearest record with that of PolyBench's own form:

* ``same``: the two have the same nearest record's nest, the kernel's own records left out;
* ``family``: or one of the same family of synthetic programs;
* ``five``: what is nearest to PolyBench's own form is among the five nearest of the other;
* ``itself``: with them, the other form's nearest record is one of the kernel's own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.client.layered import LayeredBook
from loopbook.client.opening import open_book
from loopbook.errors import LoopbookError
from loopbook.program.nest import Nest
from loopbook.program.trips import iterations, trip_counts
from loopbook.recipes.layer import Neighbour
from loopbook.sdfg import frontend, program
from loopbook.workloads.workload import load_workload

FOLDER = Path(__file__).with_suffix("")
FORMS = ("permuted", "shifted", "temporaries", "swapped", "vectors")
PRESET = "SMALL"
NEAREST = 5


def files() -> dict[str, Path]:
    """Kernel to workload file."""
    return {path.stem.replace("_", "-"): path for path in sorted(FOLDER.glob("*.py"))}


def forms(path: Path) -> dict[str, Callable[..., Any]]:
    """The other forms of a kernel, and its own as ``kernel``."""
    found = {}
    for name in ("kernel", *FORMS):
        try:
            found[name] = load_workload(path, name).kernel
        except LoopbookError:
            continue
    return found


def arguments(path: Path, form: str, preset: str = PRESET) -> list[Any]:
    """Of one form: for ``swapped``, matrices are transposed."""
    given = load_workload(path, "kernel").arguments(preset)
    if form != "swapped":
        return given
    return [np.ascontiguousarray(a.T) if isinstance(a, np.ndarray) else a for a in given]


def principal(kernel: Callable[..., Any], given: list[Any]) -> Nest:
    """The nest with the most iterations.

    Raises:
        SdfgError: if docc cannot trace or prepare it.
    """
    _, nests = program.prepare_nests(frontend.trace(kernel, given))
    sizes = frontend.size_symbols(kernel, given)
    return max(nests, key=lambda nest: iterations(nest, trip_counts(nest, sizes)) or 0)


def nearest(layered: LayeredBook, nest: Nest, exclude: list[str]) -> dict[str, Neighbour]:
    """Name to record of the five nearest nests, nearest first."""
    near = layered.neighbours(nest, layered.encoder.encode(nest), 10 * NEAREST, exclude=exclude)
    found: dict[str, Neighbour] = {}
    for one in near:
        found.setdefault(one.record.nest, one)
    return dict(list(found.items())[:NEAREST])


def compared(kernel: str, path: Path, layered: LayeredBook) -> list[dict[str, Any]]:
    """One row for each other form."""
    rows: list[dict[str, Any]] = []
    wanted = ""
    for form, function in forms(path).items():
        nest = principal(function, arguments(path, form))
        others = nearest(layered, nest, [kernel])
        found = next(iter(others))
        if form == "kernel":
            wanted = found
            continue
        itself, own = next(iter(nearest(layered, nest, []).items()))
        rows.append(
            {
                "kernel": kernel,
                "form": form,
                "wanted": wanted,
                "found": found,
                "distance": others[found].distance,
                "same": found == wanted,
                "family": _family(found) == _family(wanted),
                "five": wanted in others,
                "nearest": itself,
                "nearest_distance": own.distance,
                "itself": own.record.kernel == kernel,
            }
        )
    return rows


def _family(name: str) -> str:
    return name.partition(".")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--book", type=Path)
    parser.add_argument("--alone", action="store_true", help="without the starter book")
    parser.add_argument("--only", nargs="+", default=list(files()), metavar="KERNEL")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with open_book(options.book, starter=not options.alone) as layered:
        for kernel in options.only:
            rows += compared(kernel, files()[kernel], layered)
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(
            f"{row['kernel']:<15} {row['form']:<12} {'same ' if row['same'] else 'other'} "
            f"{row['found']} for {row['wanted']}; {'itself' if row['itself'] else row['nearest']}"
        )
    for what in ("same", "family", "five", "itself"):
        count = sum(row[what] for row in rows)
        print(f"{what}: {count} of {len(rows)} ({100 * count / len(rows):.0f} %)")


if __name__ == "__main__":
    main()
