"""How many different nests the synthetic programs have, and whether docc gets each of them right.

    python benchmarks/synthetic.py --out FOLDER [--count 2400] [--seed 0] [--jobs 2]
        [--target openmp]… [--family NAME]… [--resume]

Draws programs, each with a nest that no earlier one has. docc compiles every one of them for every
target, and its numbers are compared with the program's reference, on its own data and on shuffled
data (see `loopbook.workloads.state`).

FOLDER gets ``results.jsonl`` (a line as soon as a program is checked) and ``table.md``.
``--resume`` draws the same programs again, which is the shorter part, and checks those that are not
there yet. Exit code 1 if docc gets one wrong.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import lines  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from loopbook.errors import LoopbookError  # noqa: E402
from loopbook.targets import TARGETS as SCHEDULED  # noqa: E402
from loopbook.workloads import synthetic  # noqa: E402
from loopbook.workloads.state import TARGETS, check  # noqa: E402

Result = dict[str, Any]
"""A program: name, the fingerprints of its nests, and by target what is wrong, if anything is."""

REPORT = 50
"""Programs between two lines of progress."""


def checked(name: str, fingerprints: Sequence[str], targets: Sequence[str]) -> Result:
    """One program, compiled and run for all targets."""
    workload = synthetic.load(name)
    states = {target: check(workload, target, synthetic.PRESETS[0]) for target in targets}
    return {
        "name": name,
        "nests": list(fingerprints),
        "targets": list(targets),
        "wrong": {target: state.reason for target, state in states.items() if not state.ok},
    }


def results(
    programs: Iterable[synthetic.Drawn],
    targets: Sequence[str],
    done: dict[str, Result],
    pool: Executor,
    ahead: int,
) -> Iterator[Result]:
    """All programs in their order, checked by `pool`, where `done` does not have them.

    Args:
        ahead: programs that are drawn before the first of them has to be ready.
    """
    waiting: deque[Future[Result]] = deque()
    for program in programs:
        name, nests = program.workload.name, sorted(program.fingerprints)
        known = done.get(name)
        if known and known["nests"] == nests and set(targets) <= set(known["targets"]):
            continue
        waiting.append(pool.submit(checked, name, nests, targets))
        while len(waiting) > ahead or (waiting and waiting[0].done()):
            yield waiting.popleft().result()
    for future in waiting:
        yield future.result()


def family(result: Result) -> str:
    """The family of a program."""
    return result["name"].partition(".")[0]


def bad(found: Sequence[Result]) -> int:
    """How many programs docc gets wrong."""
    return sum(bool(result["wrong"]) for result in found)


def table(found: Sequence[Result], about: str) -> str:
    """What was found, family by family, as Markdown."""
    everything: set[str] = set()
    rows = []
    for own in dict.fromkeys(map(family, found)):
        programs = [result for result in found if family(result) == own]
        nests = set().union(*(result["nests"] for result in programs))
        rows.append((own, len(programs), len(nests), len(nests - everything), bad(programs)))
        everything |= nests
    rows.append(("all", len(found), len(everything), len(everything), bad(found)))
    faults = [
        f"- `{result['name']}`, {target}: {reason}"
        for result in found
        for target, reason in result["wrong"].items()
    ]
    return "\n".join(
        [
            "# Synthetic nests",
            "",
            about,
            "",
            "| family | programs, all compiled and run | different nests | in no family above | "
            "programs that docc gets wrong |",
            "| --- | --- | --- | --- | --- |",
            *("| " + " | ".join(map(str, row)) + " |" for row in rows),
            *(["", *faults] if faults else []),
            "",
        ]
    )


def about(given: argparse.Namespace) -> str:
    """What was run, on what."""
    return (
        f"Seed {given.seed}, size {synthetic.PRESETS[0]}, docc's own code for "
        f"{' and '.join(given.target)} against each program's reference. "
        f"{provenance()}"
    )


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--count", type=int, default=2400, help="programs to draw")
    parser.add_argument("--seed", type=int, default=0, help="of all random choices")
    parser.add_argument("--jobs", type=int, default=2, help="programs checked side by side")
    parser.add_argument(
        "--target", action="append", choices=TARGETS, help="default: both with a schedule"
    )
    parser.add_argument("--family", action="append", choices=tuple(synthetic.FAMILIES))
    parser.add_argument("--resume", action="store_true", help="go on with the results in FOLDER")
    given = parser.parse_args(arguments)
    given.target = given.target or list(SCHEDULED)
    given.family = given.family or tuple(synthetic.FAMILIES)
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    given = parsed(arguments)
    file = given.out / "results.jsonl"
    if file.exists() and not given.resume:
        _say(f"{file} exists: go on with --resume, or name another folder")
        return 2
    given.out.mkdir(parents=True, exist_ok=True)
    done = {result["name"]: result for result in lines.read(file)}
    drawn: list[str] = []

    def programs() -> Iterator[synthetic.Drawn]:
        for program in synthetic.draw(given.count, given.seed, given.family):
            drawn.append(program.workload.name)
            yield program

    begun = time.monotonic()
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn")) as pool:
        for result in results(programs(), given.target, done, pool, 4 * given.jobs):
            lines.append(file, result)
            done[result["name"]] = result
            for target, reason in result["wrong"].items():
                _say(f"{result['name']} {target}: {reason}")
            if len(done) % REPORT == 0:
                _say(f"{len(done)}/{given.count}, {(time.monotonic() - begun) / 60:.1f} min")
    found = [done[name] for name in drawn]
    (given.out / "table.md").write_text(table(found, about(given)), encoding="utf-8")
    return 1 if bad(found) else 0


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LoopbookError as error:
        _say(str(error))
        sys.exit(2)
