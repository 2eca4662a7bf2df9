"""How long it takes to plan a nest that was never seen, and where the time goes.

    python benchmarks/planning.py [--synthetic 500] [--seed 77] [--target sequential] [--json OUT]
    python benchmarks/planning.py --against CHECKOUT   # this tree and another one in turns

On one core, without docc's parsing, in processor time (what else the machine does is not part of
it): nests are embedded, looked up, their neighbours' recipes ported, tried and ranked, up to eight
of them, and nothing that was found out about a nest is kept for the next. PolyBench's own records
are left out, and synthetic nests are drawn with a seed that the book does not know. Fractions of
the time:

* ``encode``: the nest's vector;
* ``neighbours``: the book's nearest;
* ``try``: steps on the program's tree, with isl;
* ``rest``: reading neighbours, porting, refitting, expecting.

Against another checkout, each has a process of its own, which plan one nest after the other in
turns; nests that the two decide about otherwise are listed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # on one core, two would wait for each other

import numpy as np

from loopbook.client import fit
from loopbook.client.opening import open_book
from loopbook.client.plan import plan_nests
from loopbook.program.json_text import dumped
from loopbook.program.nest import Nest
from loopbook.program.tree import Program
from loopbook.sdfg import program
from loopbook.sdfg.frontend import trace
from loopbook.server.pauses import spare_pauses
from loopbook.workloads import polybench, synthetic
from loopbook.workloads.workload import Workload

LIMITS = (0.015, 0.050)
"""Seconds that the median and the 95th percentile are to stay under."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--synthetic", type=int, default=500, help="nests of synthetic programs")
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--target", default="sequential")
    parser.add_argument("--book", default=None)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--against", type=Path, help="another checkout, planned with in turns")
    parser.add_argument("--turns", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if options.turns:  # a row for each line that comes in
        for row in _measured(options):
            sys.stdin.readline()
            print(json.dumps(row), flush=True)
        return 0
    if options.against:
        return _compare(options)
    rows = list(_measured(options))
    for suite in ("polybench", "synthetic"):
        _print(suite, [row for row in rows if row["suite"] == suite])
    _print("all", rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


def _compare(options: argparse.Namespace) -> int:
    """This tree's and another one's rows, measured in turns, and where their plans differ."""
    here = Path(__file__).resolve().parents[1]
    given = [f"--{name}={getattr(options, name)}" for name in ("synthetic", "seed", "target")]
    given += [f"--book={options.book}"] if options.book else []
    command = [sys.executable, __file__, "--turns", *given]
    children = {
        name: subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, root in (("before", options.against.resolve()), ("now", here))
    }
    pairs = list(zip(*map(_asked, children.values()), strict=True))
    rows = dict(zip(children, zip(*pairs, strict=True), strict=True))
    for before, now in pairs:
        if before["plan"] != now["plan"]:
            print(f"{now['nest']}: {before['plan']} before, {now['plan']} now")
    for suite in ("polybench", "synthetic", "all"):
        for name, measured in rows.items():
            chosen = [row for row in measured if suite in (row["suite"], "all")]
            _print(f"{suite}, {name}", chosen)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


def _asked(child: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """A child's rows, each measured when it is asked for."""
    assert child.stdin is not None
    assert child.stdout is not None
    while True:
        with contextlib.suppress(BrokenPipeError):  # it has ended
            print(file=child.stdin, flush=True)
        line = child.stdout.readline()
        if not line:
            return
        yield json.loads(line)


def _measured(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    with open_book(options.book) as layered:
        spent: dict[str, float] = defaultdict(float)
        layered.encoder.encode_many = _timed(layered.encoder.encode_many, "encode", spent)
        layered.neighbours = _timed(layered.neighbours, "neighbours", spent)
        fit.Trials.fit = _timed(fit.Trials.fit, "try", spent)
        warm = False
        for suite, workload in _programs(options):
            text, tree, nests = _prepared(workload)
            for nest in nests if warm else [nests[0], *nests]:
                layered.fits.clear()
                layered.candidates.clear()
                spent.clear()
                begun = time.thread_time()
                plan = plan_nests(
                    [nest],
                    text,
                    options.target,
                    layered,
                    exclude=polybench.family(workload.name)
                    if suite == "polybench"
                    else [workload.name],
                    tree=tree,
                )
                total = time.thread_time() - begun
                if warm:
                    yield {
                        "suite": suite,
                        "nest": f"{workload.name}:{nest.position}",
                        "loops": len(nest.loops),
                        "seconds": total,
                        "plan": {n: recipe.text() for n, recipe in plan.recipes.items()}
                        or plan.nests[0].reason,
                        **spent,
                    }
                else:
                    spare_pauses()  # as servers do when all is loaded
                    warm = True


def _timed(function: Callable[..., Any], name: str, spent: dict[str, float]) -> Callable[..., Any]:
    def timed(*args: Any, **options: Any) -> Any:
        begun = time.thread_time()
        try:
            return function(*args, **options)
        finally:
            spent[name] += time.thread_time() - begun
            spent[f"{name} calls"] += 1

    return timed


def _programs(options: argparse.Namespace) -> Iterator[tuple[str, Workload]]:
    for name in polybench.names():
        yield "polybench", polybench.load(name)
    for name in synthetic.names(options.synthetic, options.seed):
        yield "synthetic", synthetic.load(name)


def _prepared(workload: Workload) -> tuple[str, Program, list[Nest]]:
    """The prepared program as text and as a tree, as servers and clients have it, and its nests."""
    preset = next(iter(workload.parameters))
    document, tree, nests = program.prepare_tree(trace(workload.kernel, workload.arguments(preset)))
    return dumped(document), tree, nests


def _print(suite: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    seconds = np.array([row["seconds"] for row in rows])
    middle, late = np.quantile(seconds, (0.5, 0.95))
    parts = {
        k: sum(row.get(k, 0.0) for row in rows) / seconds.sum()
        for k in ("encode", "neighbours", "try")
    }
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in parts.items())
    rest = 100 * (1 - sum(parts.values()))
    tried = sum(row.get("try calls", 0) for row in rows) / len(rows)
    least, most = (f"(limit {1e3 * limit:.0f})" for limit in LIMITS)
    print(
        f"{suite}: {len(rows)} nests, median {1e3 * middle:.1f} ms {least}, "
        f"95 % {1e3 * late:.1f} ms {most}, worst {1e3 * seconds.max():.0f} ms; "
        f"{tried:.1f} recipes tried a nest; {shares}, rest {rest:.0f} %"
    )


if __name__ == "__main__":
    sys.exit(main())
