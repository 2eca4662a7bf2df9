"""How much of what a book gains on its own machine is there on one that it does not know, minutes
after `loopbook adopt` was started?

    python benchmarks/adopt.py --folder DIR [--minutes 20] [--at 0 2 5 10 20] [--preset MEDIUM]
                               [--target sequential] [--only KERNEL…] [--isa] [--json FILE]

From a copy of the starter book, all records of this machine's class of hardware (the same key, for
any target) are left out, with ``--isa`` all of its instruction set; an own book adopts on top of
it, for so many minutes. Then, for every
kernel of PolyBench, what the whole starter book serves and what was served after so many minutes
(the records that were in the own book by then, by their dates) are timed in turn with docc's own
compile, in one run. Shares are of logarithms of speedups.

A folder that holds an own book is gone on with, by ``--minutes``; with 0 it is only evaluated.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from loopbook.client.hardware import local_profile
from loopbook.client.layered import LayeredBook
from loopbook.client.places import STARTER
from loopbook.client.plan import make_plan
from loopbook.client.verify import Verifier
from loopbook.errors import LoopbookError
from loopbook.farm.adopt.adoption import Adoption
from loopbook.farm.adopt.journal import Journal, journal_of
from loopbook.learn.holdout import filtered
from loopbook.recipes.book import Book
from loopbook.targets import DEFAULT, TARGETS, here
from loopbook.toolchain.compiler import activate
from loopbook.toolchain.times import Schedule
from loopbook.tuner.search import versions
from loopbook.workloads import polybench
from loopbook.workloads.call import Call

SCHEDULE = Schedule(repeats=31, seconds=1.0, at_least=2)

FULL = "full"


@dataclass(frozen=True)
class Row:
    """One kernel.

    Attributes:
        speedups: over docc's own compile, of the whole book and after so many minutes.
    """

    kernel: str
    docc_s: float
    speedups: Mapping[str, float]


def unknown_machine(folder: Path, isa: bool) -> Path:
    """A copy of the starter book without this machine's records, or those of all like it."""
    path = folder / "without.book"
    if not path.exists():
        profiles = [local_profile(TARGETS[name].threads) for name in here()]
        keys = {one.key for one in profiles}
        partial = folder / "partial.book"
        partial.unlink(missing_ok=True)
        with Book.open(STARTER, readonly=True) as starter:
            whole = len(starter)
            if isa:
                keys |= {one.key for one in starter.hardware() if one.isa == profiles[0].isa}
            with filtered([starter], partial, lambda one: one.hardware.key not in keys) as made:
                left = len(made)
        partial.rename(path)
        print(f"left out {whole - left} of {whole} records, of {', '.join(sorted(keys))}")
    return path


def adopt(folder: Path, target: str, minutes: float, isa: bool) -> None:
    """Adopt into the folder's own book, and note when and how it went."""
    own, known = folder / "own.db", unknown_machine(folder, isa)
    hardware = {target: local_profile(TARGETS[target].threads)}
    journal = Journal(journal_of(own), versions()["loopbook"])
    began = time.time()
    (folder / "began.json").write_text(json.dumps(began))
    with LayeredBook([Book.open(own), Book.open(known, readonly=True)]) as layered:
        adoption = Adoption(layered, [str(own), str(known)], hardware, journal)
        for step in adoption.run(minutes * 60):
            record = step.entry.record
            row = {"minutes": (time.time() - began) / 60, "nest": record.nest}
            row |= {"stage": step.stage, "speedup": step.speedup, "elsewhere": step.expected}
            row |= {"seconds": step.seconds, "error": step.error, **asdict(step.standing)}
            with (folder / "steps.jsonl").open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(
                f"{row['minutes']:6.2f} min  {100 * step.standing.share:5.1f} %  {record.nest}"
                f" {step.stage} {step.speedup:.2f} ({step.expected:.2f}) {step.error}",
                flush=True,
            )


def states(folder: Path, at: Sequence[float]) -> dict[str, LayeredBook]:
    """The books as they were after so many minutes, and the whole starter book."""
    began = json.loads((folder / "began.json").read_text())
    found = {FULL: LayeredBook([Book.open(STARTER, readonly=True)])}
    with Book.open(folder / "own.db", readonly=True) as own:
        for minutes in at:
            path = folder / f"after-{minutes:g}.db"
            path.unlink(missing_ok=True)
            until = began + 60 * minutes
            made = filtered(
                [own],
                path,
                lambda one, until=until: (
                    datetime.fromisoformat(one.provenance.date).timestamp() < until
                ),
            )
            below = Book.open(folder / "without.book", readonly=True)
            found[f"{minutes:g}"] = LayeredBook([made, below])
    return found


def timed(
    name: str, target: str, preset: str, books: Mapping[str, LayeredBook], folder: Path
) -> Row:
    """One kernel with what each of the books serves, timed in turn.

    Raises:
        LoopbookError: it cannot be compiled, or its numbers are wrong.
    """
    workload = polybench.load(name)
    call = Call.as_written(workload, workload.arguments(preset))
    verifier = Verifier(call.text, call.binding(), target, folder)
    builts, plans = {}, {}
    for state, layered in books.items():
        plan = make_plan(verifier.text, target, layered, sizes=call.symbols)
        plans[state] = json.dumps(
            [plan.active, [(n, recipe.text()) for n, recipe in sorted(plan.recipes.items())]]
        )
        if plans[state] not in builts:
            builts[plans[state]] = verifier.build(plan)
    different = list({b.library: b for b in (verifier.baseline, *builts.values())}.values())
    times = verifier.binding.measure(
        different, SCHEDULE, verifier.expected, seconds=verifier.seconds
    )
    taken = {b.library: min(t.seconds) for b, t in zip(different, times, strict=True)}
    docc = taken[verifier.baseline.library]
    return Row(name, docc, {s: docc / taken[builts[p].library] for s, p in plans.items()})


def gain(rows: Sequence[Row], state: str) -> float:
    """The sum of the logarithms of speedups."""
    return math.fsum(math.log(row.speedups[state]) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--at", type=float, nargs="+", default=[0, 2, 5, 10, 20])
    parser.add_argument("--preset", default="MEDIUM", choices=polybench.PRESETS)
    parser.add_argument("--target", default=DEFAULT, choices=TARGETS)
    parser.add_argument("--only", nargs="+", default=polybench.names(), metavar="KERNEL")
    parser.add_argument("--isa", action="store_true", help="leave out the whole instruction set")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows here")
    options = parser.parse_args()
    activate()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.minutes:
        adopt(options.folder, options.target, options.minutes, options.isa)
    books = states(options.folder, options.at)
    rows: list[Row] = []
    for name in options.only:
        try:
            with tempfile.TemporaryDirectory(prefix="loopbook-") as folder:
                row = timed(name, options.target, options.preset, books, Path(folder))
        except LoopbookError as error:
            print(f"{name:<16} {error}", flush=True)
            continue
        rows.append(row)
        told = "  ".join(f"{state} {speedup:.2f}" for state, speedup in row.speedups.items())
        print(f"{name:<16} {row.docc_s:10.6f} s  {told}", flush=True)
    whole = gain(rows, FULL)
    for state in books:
        mean = math.exp(gain(rows, state) / max(1, len(rows)))
        share = gain(rows, state) / whole if whole else math.nan
        print(f"{state:>6}: geometric mean {mean:.3f}x, {100 * share:.1f} % of the whole book's")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
