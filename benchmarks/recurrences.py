"""Whether ``@loopbook.native`` gives Python's numbers for loops whose scalars pass on values.

    python benchmarks/recurrences.py --out FOLDER [--count 500] [--first 0] [--jobs 2] [--resume]
        [--show SEED]

The programs are made at random: one to three loops (``for`` up or down, ``while``) over floats,
whole numbers and truths that iterations hand on, set by branches, by inner loops, before or after
they are read. They are what docc follows worst. Each is compiled in a process of its own, for both
targets by turns, and called with arrays of 7, 1, 30 and 0 elements.

FOLDER gets ``results.jsonl`` (a line as soon as a program is done) and ``table.md``. ``--show``
prints a program. Exit code 1 if a number is wrong or a process crashed.
"""

from __future__ import annotations

import argparse
import linecache
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import lines  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.semantics import TARGETS, completed, fault, reason  # noqa: E402
from loopbook.errors import InterpretedWarning, LoopbookError  # noqa: E402
from loopbook.toolchain.sandbox import run_limited  # noqa: E402

SIZES = (7, 1, 30, 0)
SECONDS = 120.0

Result = dict[str, Any]


class _Writer:
    """Writes one function ``kernel(a, b, c, n, x)``: ``a`` is read, ``b`` written, ``c`` holds
    whole numbers from 0 on, ``x`` is a float."""

    FLOATS = ("s", "t", "u")
    WHOLE = ("k", "m")

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._counters: list[str] = []
        self._flags = ["on"] if self._chance(0.3) else []
        self.lines: list[str] = ["def kernel(a, b, c, n, x):"]
        self._write()

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _write(self) -> None:
        pick = self._random.choice
        firsts = ["0.0", "1.0", "0.5", "-0.25", "2.0", "x", "x * 0.5", "1.0 / 3.0", "-x"]
        for name in self.FLOATS:
            self._emit(1, f"{name} = {pick(firsts)}")
        for name in self.WHOLE:
            self._emit(1, f"{name} = {pick(['0', '1', '2'])}")
        for name in self._flags:
            self._emit(1, f"{name} = {pick(['True', 'False'])}")
        for _ in range(self._random.choices((1, 2, 3), (5, 3, 1))[0]):
            self._loop(1, ["range(n)", "range(n)", "range(1, n)", "range(n - 1, -1, -1)", "while"])
            if self._chance(0.3):
                self._emit(1, f"{pick(self.FLOATS)} = {pick(firsts)}")
        self._emit(1, "return " + ", ".join(self._random.sample(self.FLOATS + self.WHOLE, 3)))

    def _loop(self, depth: int, bounds: Sequence[str]) -> None:
        counter = "ijl"[len(self._counters)]
        bound = self._random.choice(bounds)
        if bound == "while":
            self._emit(depth, f"{counter} = 0")
            self._emit(depth, f"while {counter} < n:")
        else:
            self._emit(depth, f"for {counter} in {bound}:")
        self._counters.append(counter)
        self._block(depth + 1, self._random.randint(2, 5 - depth), jumps=bound != "while")
        self._counters.pop()
        if bound == "while":
            self._emit(depth + 1, f"{counter} = {counter} + 1")

    def _block(self, depth: int, size: int, jumps: bool) -> None:
        for _ in range(max(size, 1)):
            self._statement(depth, jumps)

    def _statement(self, depth: int, jumps: bool) -> None:
        pick, number = self._random.choice, self._random.random()
        if number < 0.3:
            name = pick(self.FLOATS)
            form = pick(("{0} = {1}", "{0} = {1}", "{0} += {1}", "{0} = 0.5 * {0} + {1}"))
            self._emit(depth, form.format(name, self._float()))
        elif number < 0.4:
            form = pick(("{0} += 1", "{0} = {1}", "{0} = ({0} * 3 + {1}) % 7"))
            self._emit(depth, form.format(pick(self.WHOLE), self._whole()))
        elif number < 0.45 and self._flags:
            self._emit(depth, f"on = {pick(['True', 'False', self._test(), 'not on'])}")
        elif number < 0.65 or depth > 3:
            form = pick(("b[{0}] = {1}", "b[{0}] = {1}", "b[{0}] += {1}"))
            self._emit(depth, form.format(pick([self._counters[0], self._place()]), self._float()))
        elif number < 0.9:
            self._emit(depth, f"if {self._test()}:")
            self._block(depth + 1, self._random.randint(1, 2), jumps)
            if self._chance(0.15) and jumps:
                self._emit(depth + 1, pick(("break", "continue")))
            elif self._chance(0.5):
                if self._chance(0.3):
                    self._emit(depth, f"elif {self._test()}:")
                    self._block(depth + 1, 1, jumps)
                self._emit(depth, "else:")
                self._block(depth + 1, self._random.randint(1, 2), jumps)
        else:
            outer = self._counters[-1]
            self._loop(depth, ["range(3)", f"range({outer})", f"range({outer} + 1, n)"])

    def _place(self) -> str:
        return f"{self._random.choice([*self.WHOLE, self._counters[-1]])} % n"

    def _float(self, depth: int = 2) -> str:
        pick = self._random.choice
        if depth == 0 or self._chance(0.35):
            at = pick(self._counters)
            leaves = [*self.FLOATS, *self.FLOATS, f"a[{at}]", f"a[{at}]", f"b[{at}]", "0.5", "x"]
            leaves += ["a[n - 1]", f"a[c[{at}]]", "1.5", f"{pick(self.WHOLE)} * 0.125"]
            return pick(leaves)
        one, other = self._float(depth - 1), self._float(depth - 1)
        forms = ("({0} + {1})", "({0} - {1})", "0.5 * {0}", "min({0}, {1})", "max({0}, {1})")
        more = ("abs({0})", "0.25 * {0} * {1}", "({0} if {2} else {1})")
        return pick(forms + forms + more).format(one, other, self._test())

    def _whole(self) -> str:
        return self._random.choice([*self.WHOLE, *self._counters, "1", "c[0]"])

    def _test(self) -> str:
        pick, at = self._random.choice, self._random.choice(self._counters)
        tests = [f"a[{at}] > {pick(['0.0', '0.3', '-0.4'])}", f"{pick(self.FLOATS)} < a[{at}]"]
        tests += [
            f"{pick(self.FLOATS)} > {pick(self.FLOATS)} * 0.5",
            f"{pick(self.WHOLE)} % 2 == 0",
        ]
        tests += [f"{at} > {pick(self.WHOLE)}", f"{pick(self.FLOATS)} - a[{at}] > 0.1"]
        tests += ["on", "not on"] if self._flags else []
        if self._chance(0.2):
            return f"{pick(tests)} {pick(['and', 'or'])} {pick(tests)}"
        return pick(tests)


def source(seed: int) -> str:
    """The program of a seed."""
    return "\n".join([*_Writer(seed).lines, ""])


def kernel(seed: int) -> Callable[..., Any]:
    """The same as a function."""
    text, name = source(seed), f"<recurrence {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    return space["kernel"]


def arguments(seed: int, n: int) -> list[Any]:
    chance = np.random.default_rng([seed, n])
    whole = chance.integers(0, max(n, 1), max(n, 1))
    return [chance.standard_normal(max(n, 1)), np.zeros(max(n, 1)), whole, n, 0.7]


def result_of(seed: int) -> Result:
    """One program, in a child."""
    target = TARGETS[seed % len(TARGETS)]
    told: Result = {"seed": seed, "dtype": "float64", "target": target}
    try:
        return told | run_limited(_calls, seed, target, seconds=SECONDS, what=f"{seed}")
    except LoopbookError as error:
        return told | {"calls": 0, "compiled": 0, "wrong": [], "python": {}, "crash": str(error)}


def _calls(seed: int, target: str) -> Result:
    import loopbook

    native = loopbook.native(kernel(seed), target=target)
    told: Result = {"calls": 0, "compiled": 0, "wrong": [], "crash": ""}
    reasons: Counter[str] = Counter()
    for n in SIZES:
        ours, theirs = arguments(seed, n), arguments(seed, n)
        with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                expected = native.func(*theirs)
            except Exception:  # nothing to compare with
                continue
            before = native.last
            try:
                answer = native(*ours)
            except Exception as error:
                told["wrong"].append(f"{n}: raised {type(error).__name__}: {error}"[:200])
                continue
        told["calls"] += 1
        told["compiled"] += native.last is not before
        reasons.update(reason(str(w.message)) for w in caught if w.category is InterpretedWarning)
        words = fault(ours[:3], theirs[:3], answer, expected, "float64")
        if words:
            told["wrong"].append(f"{n}: {words}")
    return told | {"python": dict(reasons)}


def table(results: Sequence[Result]) -> list[str]:
    """The figures, as Markdown."""
    rows = [
        "| target | programs | calls | wrong | crashed | compiled | Python alone |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for target in (*TARGETS, ""):
        of = [r for r in results if not target or r["target"] == target]
        cells = [
            target or "**all**",
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
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare loops that hand on scalars with Python.")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the first program's seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--show", type=int, metavar="SEED")
    given = parser.parse_args()
    if given.show is not None:
        print(source(given.show), end="")
        return 0
    if given.out is None:
        parser.error("--out FOLDER is missing")
    given.out.mkdir(parents=True, exist_ok=True)
    log = given.out / "results.jsonl"
    if not given.resume:
        log.unlink(missing_ok=True)
    done = lines.read(log)
    ready = {result["seed"] for result in done}
    todo = [s for s in range(given.first, given.first + given.count) if s not in ready]
    for result in completed([partial(result_of, seed) for seed in todo], given.jobs):
        lines.append(log, result)
        done.append(result)
    words = f"Recurrences by `@loopbook.native` against Python. {provenance()}"
    (given.out / "table.md").write_text("\n".join([words, "", *table(done), ""]))
    wrong, crashed = (sum(bool(r[key]) for r in done) for key in ("wrong", "crash"))
    print(f"{len(done)} programs, {wrong} wrong, {crashed} crashed")
    return 1 if wrong or crashed else 0


if __name__ == "__main__":
    sys.exit(main())
