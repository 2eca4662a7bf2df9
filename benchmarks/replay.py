"""Replays the recipes of a book on their own nests, and compares what two versions make of them.

    python benchmarks/replay.py run OUT.jsonl [--every 1]
    python benchmarks/replay.py compare BEFORE.jsonl AFTER.jsonl

A nest after its recipe is told by its canonical text, which no names and numbers of elements are
in, and by the schedules of its loops. What is refused now, or comes out otherwise, is listed with
the record's id and the steps. `run` imports the loopbook that is on the path: one line a record.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loopbook.errors import LoopbookError
from loopbook.program.nests import read_nests
from loopbook.program.read import read
from loopbook.program.signed import sign_counters
from loopbook.program.write import write
from loopbook.recipes import Book
from loopbook.recipes.record import Record
from loopbook.sdfg.passes import parse
from loopbook.steps.workbench import Workbench

STARTER = Path(__file__).parents[1] / "loopbook" / "data" / "starter.book"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("out", type=Path)
    running.add_argument("--book", type=Path, default=STARTER)
    running.add_argument("--every", type=int, default=1, help="every so manieth record")
    running.add_argument("--only", nargs="*", default=[], help="recipes with one of these steps")
    running.set_defaults(do=_run)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.set_defaults(do=_compare)
    options = parser.parse_args()
    return options.do(options)


def _run(options: argparse.Namespace) -> int:
    begun = time.perf_counter()
    with options.out.open("w") as out, Book.open(options.book, readonly=True) as book:
        chosen = list(_chosen(book, options))
        for number, record in enumerate(chosen, start=1):
            out.write(json.dumps(_replayed(record)) + "\n")
            if number % 50 == 0:
                spent = time.perf_counter() - begun
                print(f"{number}/{len(chosen)} {spent:.0f} s", file=sys.stderr, flush=True)
    return 0


def _chosen(book: Book, options: argparse.Namespace) -> Iterator[Record]:
    with_steps = (record for record in book.records() if record.recipe.steps)
    for number, record in enumerate(with_steps):
        known = not options.only or any(step.op in options.only for step in record.recipe.steps)
        if number % options.every == 0 and known:
            yield record


def _replayed(record: Record) -> dict[str, Any]:
    steps = [step.text() for step in record.recipe.steps]
    found: dict[str, Any] = {"id": record.id, "nest": record.nest, "steps": steps}
    document = json.loads(record.nest_json)
    begun = time.perf_counter()
    try:
        (nest,) = read_nests(document)
        bench = Workbench(sign_counters(read(document)), nest)
        for position, (op, args) in enumerate(record.recipe):
            bench.apply(op, args, position)
        # docc brings expressions into a form of its own
        after = json.loads(parse(json.dumps(write(bench.program))).to_json())
    except LoopbookError as error:
        return found | {"refused": str(error), "seconds": time.perf_counter() - begun}
    found["seconds"] = time.perf_counter() - begun
    forms = [
        (hashlib.sha256(nest.canonical.encode()).hexdigest()[:16], [x.schedule for x in nest.loops])
        for nest in read_nests(after)
    ]
    return found | {"forms": forms, "loops": list(bench.names)}


def _compare(options: argparse.Namespace) -> int:
    before, after = (_read(path) for path in (options.before, options.after))
    shared = [key for key in before if key in after]
    outcomes: Counter[str] = Counter()
    for key in shared:
        old, new = before[key], after[key]
        outcome = _outcome(old, new)
        outcomes[outcome] += 1
        if outcome not in ("same", "refused by both"):
            print(f"{outcome}: {key} {old['nest']}: {'; '.join(old['steps'])}")
            for what, one in (("before", old), ("after", new)):
                if "refused" in one:
                    print(f"    {what}: {one['refused']}")
    seconds = [sum(one[key]["seconds"] for key in shared) for one in (before, after)]
    print(dict(outcomes), f"{seconds[0]:.1f} s before, {seconds[1]:.1f} s after")
    return 0


def _outcome(old: dict[str, Any], new: dict[str, Any]) -> str:
    match "refused" in old, "refused" in new:
        case True, True:
            return "refused by both"
        case False, True:
            return "refused now"
        case True, False:
            return "allowed now"
    if old["forms"] != new["forms"]:
        return "other form"
    return "same" if old["loops"] == new["loops"] else "other names"


def _read(path: Path) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in map(json.loads, path.read_text().splitlines())}


if __name__ == "__main__":
    sys.exit(main())
