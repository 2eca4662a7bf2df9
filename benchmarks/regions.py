"""What recipes for regions gain over what their nests get one by one.

    loopbook seed arrays --regions --count 40 --first 900 --book BOOK
    python benchmarks/regions.py BOOK --out FILE.jsonl [--preset M] [--target sequential] [--core 0]
        [--only PROGRAM …]

For each program that the book has regions of: what is served from the starter book alone, with the
program's own regions (``exact``), and with those of all other programs in the book (``near``),
compiled as for callers and called in turns. FILE gets a line for each; the last lines printed are
geometric means.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
from pathlib import Path
from typing import Any

from loopbook.client.decision import Plan
from loopbook.client.layered import LayeredBook
from loopbook.client.opening import open_book
from loopbook.client.plan import build_plan, make_plan
from loopbook.errors import LoopbookError
from loopbook.program.load import load_json
from loopbook.program.nests import read_nests
from loopbook.program.regions import is_region
from loopbook.recipes.book import Book
from loopbook.sdfg.build import build_baseline
from loopbook.toolchain import scratch
from loopbook.toolchain.times import Schedule
from loopbook.workloads import arrays
from loopbook.workloads.call import Call

SCHEDULE = Schedule(repeats=60, seconds=0.5, at_least=5)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("book", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--preset", default="M")
    parser.add_argument("--target", default="sequential")
    parser.add_argument("--core", type=int)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    gains: dict[str, list[float]] = {"exact": [], "near": []}
    with (
        scratch.folder() as folder,
        open_book(options.book) as layered,
        open_book(empty(folder / "empty.db")) as starter,
        options.out.open("a") as file,
    ):
        for name in options.only or programs(options.book, options.target):
            try:
                line = compared(name, options.preset, options.target, layered, starter)
            except LoopbookError as error:
                line = {"error": str(error)}
            file.write(json.dumps({"program": name, "preset": options.preset, **line}) + "\n")
            file.flush()
            told = [f"{way} {line[way]:.2f}" for way in gains if way in line]
            print(name, *told, line.get("error", ""), flush=True)
            for way, found in gains.items():
                found += [float(line[way])] if way in line else []
    for way, found in gains.items():
        if found:
            mean = math.exp(statistics.fmean(map(math.log, found)))
            print(f"{way}: {len(found)} programs, {mean:.3f} times as fast, least {min(found):.2f}")
    return 0


def empty(path: Path) -> Path:
    """A book without records."""
    Book.open(path).close()
    return path


def programs(book: Path, target: str) -> list[str]:
    """Those that a book has regions of, with steps."""
    with Book.open(book) as opened:
        names = {
            record.kernel: None
            for record in opened.records(target=target)
            if len(record.recipe) and is_region(read_nests(load_json(record.nest_json))[0].loop)
        }
    return list(names)


def compared(
    name: str, preset: str, target: str, layered: LayeredBook, starter: LayeredBook
) -> dict[str, Any]:
    """Seconds of what is served without regions, and how many times faster it is with them."""
    workload = arrays.load(name)
    call = Call.of(workload, workload.arguments(preset))

    def planned(books: LayeredBook, *exclude: str) -> Plan:
        return make_plan(
            call.text,
            target,
            books,
            exclude=exclude,
            sizes=call.symbols,
            expressions=call.lowered is not None,
            libraries=True,
        )

    plans = {
        "alone": planned(starter, name),
        "exact": planned(layered),
        "near": planned(layered, name),
    }
    with scratch.folder() as folder:
        builts = {
            way: build_plan(call.text, plan, folder / way)
            for way, plan in plans.items()
            if way == "alone" or takes_regions(plan)
        }
        if len(builts) == 1:
            return {}
        right = build_baseline(call.text, "none", folder / "none")
        binding = call.binding()
        expected, _ = binding.run_once(right)
        times = binding.measure([*builts.values()], SCHEDULE, expected, tolerant=True)
    seconds = {way: min(one.seconds) for way, one in zip(builts, times, strict=True) if one.seconds}
    told: dict[str, Any] = {"s": seconds, "recipes": {w: recipes(plans[w]) for w in builts}}
    told["wrong"] = [way for way in builts if way not in seconds]
    return told | {w: seconds["alone"] / seconds[w] for w in seconds if w != "alone"}


def takes_regions(plan: Plan) -> bool:
    """Whether a region of a plan's program gets a recipe."""
    nests = read_nests(load_json(plan.normalised or ""))
    return any(is_region(nest.loop) and nest.position in plan.recipes for nest in nests)


def recipes(plan: Plan) -> list[str]:
    return [f"{one.tier}: {one.recipe}" for one in plan.nests if one.recipe]


if __name__ == "__main__":
    raise SystemExit(main())
