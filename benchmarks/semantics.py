"""Whether ``@loopbook.native`` gives Python's numbers: many small programs, all kinds of arguments.

    python benchmarks/semantics.py --out FOLDER [--jobs 2] [--dtype float32]… [--target openmp]…
        [--every 1] [--seed 0] [--group NAME]… [--resume] [--quick]

Each program of `benchmarks.semantic_programs` becomes one ``@loopbook.native`` object for each
dtype and target, in a process of its own. That object is called with arrays of 7, 1, 64, 2, 0 and 7
elements a dimension, in C order; with 7 in Fortran's order, strided and reversed; with one array in
the place of two, and with views that overlap. Every call is compared with the Python function on
the same arguments: what it wrote, what it returned, and that nothing else was written.

``--every`` takes each dtype and target for only one program in so many, by turns. FOLDER gets
``results.jsonl`` (a line as soon as a program is done) and ``table.md``. Exit code 1 if a number is
wrong or a process crashed.
"""

from __future__ import annotations

import argparse
import importlib
import linecache
import math
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import lines  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.semantic_programs import Program, programs  # noqa: E402
from loopbook import targets  # noqa: E402
from loopbook.errors import InterpretedWarning, LoopbookError  # noqa: E402
from loopbook.sdfg import build  # noqa: E402
from loopbook.toolchain.sandbox import run_limited  # noqa: E402

DTYPES = ("float64", "float32", "int64", "int32")
TARGETS = tuple(targets.TARGETS)
SIZES = (7, 1, 64, 2, 0, 7)
TOLERANCE = {"float64": 1e-9, "float32": 2e-4}
SECONDS = 300.0
PADDING = 3
"""Elements around each array that nothing may write."""

PRELOADED = (
    "loopbook.client.native",
    "loopbook.client.plan",
    "loopbook.predict.cost_model",
    "faiss",
)
"""Imported once, for all children."""

Result = dict[str, Any]
Call = tuple[str, Callable[[np.random.Generator], list[np.ndarray]]]


def result_of(program: Program, dtype: str, target: str, seed: int) -> Result:
    """One program, dtype and target, in a child."""
    told: Result = {"name": program.name, "group": program.group, "dtype": dtype, "target": target}
    try:
        return told | run_limited(
            _calls, program, dtype, target, seed, seconds=SECONDS, what=program.name
        )
    except LoopbookError as error:
        return told | {"calls": 0, "compiled": 0, "wrong": [], "python": {}, "crash": str(error)}


def _calls(program: Program, dtype: str, target: str, seed: int) -> Result:
    import loopbook

    func = _function(program)
    native = loopbook.native(func, target=target)
    wrong: list[str] = []
    reasons: Counter[str] = Counter()
    calls = compiled = raised = 0
    for what, make in _cases(program, dtype):
        ours, theirs = (make(np.random.default_rng([seed, calls])) for _ in range(2))
        with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                expected = func(*theirs, *program.scalars)
            except Exception:  # nothing to compare with
                raised += 1
                continue
            before = native.last
            try:
                answer = native(*ours, *program.scalars)
            except Exception as error:
                wrong.append(f"{what}: raised {type(error).__name__}: {error}"[:200])
                continue
        calls += 1
        interpreted = [str(w.message) for w in caught if w.category is InterpretedWarning]
        for text in interpreted:
            reasons[reason(text)] += 1
        compiled += native.last is not before
        if words := fault(ours, theirs, answer, expected, dtype):
            wrong.append(f"{what}: {words}")
    return {
        "calls": calls,
        "compiled": compiled,
        "raised": raised,
        "wrong": wrong,
        "python": dict(reasons),
        "crash": "",
    }


def _function(program: Program) -> Callable[..., Any]:
    text = (
        "import math\nimport numpy as np\n\nLIMIT = 3\nSHARE = 0.25\n\n\n"
        "def square(x):\n    return x * x\n\n\n"
        "def sign(x):\n    if x > 0:\n        return 1.0\n    return -1.0\n\n\n"
        "def above(x):\n    for k in range(6):\n        if k > x:\n            return k\n"
        f"    return -1\n\n\n{program.text}"
    )
    file = f"<{program.name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "semantics"}
    exec(compile(text, file, "exec"), names)
    return names[program.name]


def _cases(program: Program, dtype: str) -> Iterator[Call]:
    ranks = program.arrays

    def arrays(shape: Callable[[int, int], np.ndarray]) -> list[np.ndarray]:
        return [shape(place, rank) for place, rank in enumerate(ranks)]

    def plain(rng: np.random.Generator, n: int, rank: int) -> np.ndarray:
        return _data(rng, n**rank, dtype).reshape((n,) * rank)

    for n in SIZES:
        yield f"n = {n}", lambda rng, n=n: arrays(lambda _, rank: plain(rng, n, rank))
    if max(ranks) > 1:
        yield (
            "Fortran",
            lambda rng: arrays(lambda _, rank: np.asfortranarray(plain(rng, 7, rank))),
        )
    steps = {"strided": slice(None, None, 2), "reversed": slice(None, None, -1)}
    for what, step in steps.items():
        n = 14 if what == "strided" else 7
        yield (
            what,
            lambda rng, n=n, step=step: arrays(lambda _, rank: plain(rng, n, rank)[(step,) * rank]),
        )
    pairs = [(a, b) for a in range(len(ranks)) for b in range(a) if ranks[a] == ranks[b]]
    for one, other in pairs:

        def twice(rng: np.random.Generator, one: int = one, other: int = other) -> list:
            made = arrays(lambda _, rank: plain(rng, 7, rank))
            made[one] = made[other]
            return made

        def shifted(rng: np.random.Generator, one: int = one, other: int = other) -> list:
            made = arrays(lambda _, rank: plain(rng, 7, rank))
            both = plain(rng, 9, ranks[one])
            made[one] = both[(slice(1, 8),) * ranks[one]]
            made[other] = both[(slice(0, 7),) * ranks[one]]
            return made

        yield f"{other} is {one}", twice
        yield f"{other} overlaps {one}", shifted


def _data(rng: np.random.Generator, count: int, dtype: str) -> np.ndarray:
    """Values with a guard of others around them."""
    buffer = np.full(count + 2 * PADDING, 77, dtype)
    inner = buffer[PADDING : PADDING + count]
    if dtype.startswith("int"):
        inner[:] = rng.integers(-9, 10, count)
    else:
        inner[:] = np.round(rng.uniform(-4, 4, count), 3)
    return inner


def fault(
    ours: Sequence[np.ndarray],
    theirs: Sequence[np.ndarray],
    answer: Any,
    expected: Any,
    dtype: str,
) -> str:
    """What differs; empty if nothing does."""
    for place, (got, want) in enumerate(zip(ours, theirs, strict=True)):
        fault = _difference(got, want, dtype)
        if fault:
            return f"argument {place} {fault}"
        around, there = _buffer(got), _buffer(want)
        if around.shape == there.shape and _difference(around, there, dtype):
            return f"around argument {place} something was written"
    if isinstance(expected, tuple) != isinstance(answer, tuple):
        return f"a {type(answer).__name__} is returned for a {type(expected).__name__}"
    got = answer if isinstance(answer, tuple) else (answer,)
    want = expected if isinstance(expected, tuple) else (expected,)
    if len(got) != len(want):
        return f"{len(got)} results for {len(want)}"
    for one, other in zip(got, want, strict=True):
        if (one is None) != (other is None):
            return f"{one!r:.40} is returned for {other!r:.40}"
        if other is not None:
            fault = _difference(np.asarray(one), np.asarray(other), dtype)
            if fault:
                return f"what is returned {fault}"
    return ""


def _buffer(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _difference(got: np.ndarray, want: np.ndarray, dtype: str) -> str:
    if got.shape != want.shape:
        return f"has shape {got.shape}, not {want.shape}"
    if want.dtype.kind not in "fc" and got.dtype.kind not in "fc":
        return "" if np.array_equal(got, want) else f"is {_short(got)}, not {_short(want)}"
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(want)
    same = np.array_equal(got[~finite], want[~finite], equal_nan=True)
    if not same or not np.isfinite(got[finite]).all():
        return f"is {_short(got)}, not {_short(want)}"
    if not finite.any():
        return ""
    scale = max(float(np.abs(want[finite]).max()), 1e-300)
    worst = float(np.abs(got[finite] - want[finite]).max())
    if worst <= TOLERANCE.get(dtype, 1e-9) * scale:
        return ""
    return f"is off by {worst:.2g} of {scale:.2g}: {_short(got)}, not {_short(want)}"


def _short(array: np.ndarray) -> str:
    return " ".join(map(str, array.ravel()[:6])) + (" …" if array.size > 6 else "")


def reason(text: str) -> str:
    """A warning without names, places and what to write instead."""
    said = text.partition("runs as plain Python: ")[2] or text
    if ": docc " in said:
        said = "docc " + said.partition(": docc ")[2].partition(";")[0]
    words = ["…" if word[:1] in "'\"" else word for word in said.split()]
    return " ".join(words)[:110]


def chosen(
    every: int, dtypes: Sequence[str], targets: Sequence[str], groups: Sequence[str]
) -> list[tuple[Program, str, str]]:
    """What is run, in order: kinds of runs by turns, so that a part of them has some of all."""
    kinds = [(dtype, target) for dtype in dtypes for target in targets]
    found: list[tuple[Program, str, str]] = []
    for number, program in enumerate(programs()):
        if groups and program.group not in groups:
            continue
        found += [
            (program, *kind) for place, kind in enumerate(kinds) if (number + place) % every == 0
        ]
    return found


def table(results: Sequence[Result]) -> list[str]:
    """The figures, as Markdown."""
    groups = dict.fromkeys(result["group"] for result in results)
    rows = [
        "| programs | | dtype × target | calls | wrong | crashed | compiled | Python alone |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for group in [*groups, ""]:
        of = [r for r in results if not group or r["group"] == group]
        cells = [
            group or "**all**",
            len({r["name"] for r in of}),
            len(of),
            sum(r["calls"] for r in of),
            sum(len(r["wrong"]) for r in of),
            sum(bool(r["crash"]) for r in of),
            sum(r["compiled"] > 0 for r in of),
            sum(r["compiled"] == 0 for r in of),
        ]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    reasons: Counter[str] = Counter()
    for result in results:
        reasons.update(result["python"].keys())
    rows += [
        "",
        "Why calls ran as Python, and in how many runs:",
        "",
        "| reason | runs |",
        "| --- | --- |",
    ]
    rows += [f"| {reason.replace('|', '/')} | {count} |" for reason, count in reasons.most_common()]
    return rows


def quick(count: int = 10) -> list[Result]:
    """So many programs of different classes, one dtype and target each."""
    found = chosen(1, DTYPES, TARGETS, ())
    step = math.ceil(len(found) / count) | 1
    return [result_of(*one, seed=0) for one in found[::step]]


def completed(runs: Sequence[Callable[[], Result]], jobs: int) -> Iterator[Result]:
    """Results as they come, so many at a time; what is wrong in them is printed, and progress."""
    for module in PRELOADED:
        importlib.import_module(module)
    build.BUILD_SECONDS = SECONDS  # numbers are asked for, however busy the machine is
    begun = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(run) for run in runs]
        for number, run in enumerate(as_completed(waiting), 1):
            result = run.result()
            yield result
            for words in [*result["wrong"], result["crash"]]:
                if words:
                    name = result.get("name", result.get("seed"))
                    print(name, result["dtype"], result["target"], words, flush=True)
            if number % 50 == 0:
                print(f"{number} of {len(runs)}, {time.monotonic() - begun:.0f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--dtype", action="append", choices=DTYPES)
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--group", action="append", default=[])
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    if given.quick:
        return _told(quick())
    if given.out is None:
        parser.error("give a folder with --out")
    given.out.mkdir(parents=True, exist_ok=True)
    log = given.out / "results.jsonl"
    done = lines.read(log) if given.resume else []
    if not given.resume:
        log.unlink(missing_ok=True)
    ready = {(r["name"], r["dtype"], r["target"]) for r in done}
    wanted = chosen(given.every, given.dtype or DTYPES, given.target or TARGETS, given.group)
    todo = [
        (p, dtype, target) for p, dtype, target in wanted if (p.name, dtype, target) not in ready
    ]
    random.Random(given.seed).shuffle(todo)  # what is wrong in a class shows early
    for result in completed([partial(result_of, *one, given.seed) for one in todo], given.jobs):
        lines.append(log, result)
        done.append(result)
    words = f"Numbers of `@loopbook.native` against Python. Seed {given.seed}. {provenance()}"
    (given.out / "table.md").write_text("\n".join([words, "", *table(done), ""]))
    return _told(done)


def _told(results: Sequence[Result]) -> int:
    wrong = sum(len(r["wrong"]) for r in results)
    crashed = sum(bool(r["crash"]) for r in results)
    calls = sum(r["calls"] for r in results)
    print(f"{len(results)} runs, {calls} calls, {wrong} wrong, {crashed} crashed")
    return 1 if wrong or crashed else 0


if __name__ == "__main__":
    sys.exit(main())
