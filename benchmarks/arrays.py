"""Whether ``@loopbook.native`` gives NumPy's numbers for programs of array expressions.

    python benchmarks/arrays.py --out FOLDER [--count 2000] [--first 0] [--jobs 2] [--resume]
        [--wide] [--show SEED]

The programs are those of `loopbook.workloads.arrays`, made at random; each is compiled for one
dtype and target, by turns, in a process of its own, and called with arrays of 7 and 5 elements a
dimension, of 12 and 9, of 1 and of 0. ``--wide`` draws from more kinds of statements (`generate`):
masks that serve more than one store, sorting, branches, second names for arrays. Every call is
compared with the Python function on the same arguments: what it wrote, what it returned, and that
nothing else was written. Where numbers cancel, ours must be about as near to the same program in
wider numbers as NumPy's are.

FOLDER gets ``results.jsonl`` (a line as soon as a program is done) and ``table.md``: the figures by
dtype, and what was refused by construct. ``--show`` prints a program. Exit code 1 if a number is
wrong or a process crashed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import lines  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.semantics import DTYPES, TARGETS, completed, fault, reason  # noqa: E402
from loopbook.errors import InterpretedWarning, LoopbookError  # noqa: E402
from loopbook.frontend.rounding import flat, is_rounding  # noqa: E402
from loopbook.toolchain.sandbox import run_limited  # noqa: E402
from loopbook.workloads.arrays import ArrayProgram, generate  # noqa: E402

SIZES = ((7, 5), (12, 9), (1, 1), (0, 5), (7, 5))
"""n and m of each call, in turn."""

SECONDS = 300.0


Result = dict[str, Any]


def program_of(seed: int, wide: bool) -> tuple[ArrayProgram, str]:
    """The program of a seed, and its dtype."""
    dtype = DTYPES[seed % len(DTYPES)]
    return generate(seed, whole=dtype.startswith("int"), wide=wide), dtype


def result_of(seed: int, wide: bool = False) -> Result:
    """One program, in a child."""
    program, dtype = program_of(seed, wide)
    target = TARGETS[seed // len(DTYPES) % len(TARGETS)]
    told: Result = {"seed": seed, "wide": wide, "dtype": dtype, "target": target}
    try:
        return told | run_limited(_calls, program, dtype, target, seconds=SECONDS, what=f"{seed}")
    except LoopbookError as error:
        return told | {"calls": 0, "compiled": 0, "wrong": [], "python": {}, "crash": str(error)}


def _calls(program: ArrayProgram, dtype: str, target: str) -> Result:
    import loopbook

    native = loopbook.native(program.kernel(), target=target)
    told: Result = {"calls": 0, "compiled": 0, "raised": 0, "wrong": [], "python": {}, "crash": ""}
    told["constructs"] = list(program.constructs)
    reasons: Counter[str] = Counter()
    for n, m in SIZES:
        ours, theirs = (program.arguments(n, m, dtype) for _ in range(2))
        with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                expected = native.func(*theirs)
            except Exception:  # nothing to compare with
                told["raised"] += 1
                continue
            before = native.last
            try:
                answer = native(*ours)
            except Exception as error:
                words = f"raised {type(error).__name__}: {error}"[:200]
                told["wrong"].append(f"{n} and {m}: {words}")
                continue
        told["calls"] += 1
        told["compiled"] += native.last is not before
        reasons.update(reason(str(w.message)) for w in caught if w.category is InterpretedWarning)
        words = fault(ours[:-1], theirs[:-1], answer, expected, dtype)
        if words and not is_rounding(
            program.kernel(),
            program.arguments(n, m, dtype),
            [*flat(expected), *theirs],
            [*flat(answer), *ours],
        ):
            told["wrong"].append(f"{n} and {m}: {words}")
    return told | {"python": dict(reasons)}


def table(results: Sequence[Result]) -> list[str]:
    """The figures, as Markdown."""
    rows = [
        "| dtype | programs | calls | wrong | crashed | compiled | Python alone |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for dtype in (*DTYPES, ""):
        of = [r for r in results if not dtype or r["dtype"] == dtype]
        cells = [
            dtype or "**all**",
            len(of),
            sum(r["calls"] for r in of),
            sum(len(r["wrong"]) for r in of),
            sum(bool(r["crash"]) for r in of),
            sum(r["compiled"] > 0 for r in of),
            sum(r["compiled"] == 0 for r in of),
        ]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    reasons = Counter(name for result in results for name in result["python"])
    rows += ["", "| why calls ran as Python | programs |", "| --- | --- |"]
    rows += [f"| {name.replace('|', '/')} | {count} |" for name, count in reasons.most_common()]
    met = Counter(name for result in results for name in set(result.get("constructs", ())))
    alone = Counter(
        name for r in results if not r["compiled"] for name in set(r.get("constructs", ()))
    )
    rows += [
        "",
        "| construct | programs with it | that ran as Python alone |",
        "| --- | --- | --- |",
    ]
    rows += [f"| {name} | {count} | {alone[name]} |" for name, count in sorted(met.items())]
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare array programs with NumPy.")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first program's seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--wide", action="store_true", help="more kinds of statements")
    parser.add_argument("--show", type=int, metavar="SEED")
    given = parser.parse_args()
    if given.show is not None:
        print(program_of(given.show, given.wide)[0].source, end="")
        return 0
    if given.out is None:
        parser.error("give a folder with --out")
    given.out.mkdir(parents=True, exist_ok=True)
    log = given.out / "results.jsonl"
    if not given.resume:
        log.unlink(missing_ok=True)
    done = lines.read(log)
    ready = {result["seed"] for result in done if result.get("wide", False) == given.wide}
    todo = [s for s in range(given.first, given.first + given.count) if s not in ready]
    for result in completed([partial(result_of, seed, given.wide) for seed in todo], given.jobs):
        lines.append(log, result)
        done.append(result)
    words = f"Array programs by `@loopbook.native` against NumPy. {provenance()}"
    (given.out / "table.md").write_text("\n".join([words, "", *table(done), ""]))
    wrong, crashed = (sum(bool(r[key]) for r in done) for key in ("wrong", "crash"))
    print(f"{len(done)} programs, {wrong} wrong, {crashed} crashed")
    return 1 if wrong or crashed else 0


if __name__ == "__main__":
    sys.exit(main())
