"""Whether recipes that are allowed are right: random steps on random programs, what comes out run
by an interpreter and compared with what the program did before.

    python benchmarks/legality.py --out FOLDER [--first 0] [--count 200] [--sequences 40]
        [--seed 0] [--resume]
    python benchmarks/legality.py --show PROGRAM:NUMBER [--seed 0]

COUNT programs (`benchmarks.legality_programs`), from number FIRST; of each, SEQUENCES random
sequences of 1 to 8 steps, of those that `Workbench` allows. `benchmarks.interpreter` runs the
program at several sizes, before and after, and the arrays must be the same.

FOLDER gets ``results.jsonl`` (a line for each program) and ``table.md``. ``--show`` prints one
sequence, with the loops before and after. Exit code 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import inspect
import json
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import legality_programs, lines  # noqa: E402
from benchmarks.interpreter import PRIME, FaultError, Interpreted, NotInterpretedError  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from loopbook import dependence  # noqa: E402
from loopbook.errors import IllegalStepError, LoopbookError  # noqa: E402
from loopbook.program.nest import Nest  # noqa: E402
from loopbook.program.read import read  # noqa: E402
from loopbook.program.tree import Program  # noqa: E402
from loopbook.sdfg import frontend, program  # noqa: E402
from loopbook.steps import STEPS, Container, Integer, Keyword, Loop, Step  # noqa: E402
from loopbook.steps.workbench import StepPair, Workbench  # noqa: E402
from loopbook.toolchain.sandbox import run_limited  # noqa: E402

Result = dict[str, Any]

LONGEST = 8
"""Steps of a sequence."""

TRIES = 40
"""Steps that are tried for a sequence."""

PROGRAM_SECONDS = 240.0
"""How long a program with all its sequences may take."""

RUN_SECONDS = 5
"""How long the interpreter may take over one run."""

SIZES = ((9, 7, 8, 6), (5, 3, 4, 7), (2, 6, 3, 5))
"""Values that sizes get, one set after the other."""

FEW = 3
"""Of what counts time steps or such."""

WEIGHTS = {
    "tile": 6,
    "interchange": 6,
    "peel": 4,
    "stage": 4,
    "unroll": 2,
    "vectorize": 1,
    "parallel": 3,
    "distribute": 3,
    "fuse": 3,
    "skew": 3,
    "strip_and_sink": 3,
    "library": 0,  # calls are not interpreted
    "single": 0,  # other numbers are wanted there
}
"""How often a step is drawn; others once or twice (see `OTHERWISE`)."""

OTHERWISE = 1.5

SMALL = (2, 3, 4, 5, 8)
"""Sizes of tiles and the like."""


@dataclass
class Subject:
    """A program that sequences are tried on.

    Attributes:
        cases: arguments of the interpreter, and what is right for them.
    """

    tree: Program
    nests: list[Nest]
    cases: list[tuple[dict[str, Any], dict[str, list[Any]]]] = field(default_factory=list)


def subject(name: str) -> Subject:
    """A program by its name, prepared, with what is right.

    Raises:
        LoopbookError: docc cannot read it, or the interpreter cannot.
    """
    workload = legality_programs.load(name)
    preset = next(iter(workload.parameters))
    given = workload.parameters[preset]
    cases = [workload.arguments(preset, _sizes(given, values)) for values in SIZES]
    return prepared(workload.kernel, cases)


def prepared(kernel: Callable[..., Any], cases: Sequence[Sequence[Any]]) -> Subject:
    """A function's program, with what is right for arguments; those that docc would make another
    program of are left out.

    Raises:
        LoopbookError: docc cannot read it, or the interpreter cannot.
    """
    document, nests = program.prepare_document(frontend.trace(kernel, cases[0]))
    found = Subject(read(document), nests)
    reference = Interpreted(found.tree)
    names = list(inspect.signature(kernel).parameters)
    for arguments in cases:
        if _kinds(arguments) != _kinds(cases[0]):
            continue
        symbols = frontend.size_symbols(kernel, arguments)
        memory = _memory(found.tree, names, arguments, symbols)
        try:
            with _Limited():
                found.cases.append((memory, reference(memory)))
        except FaultError as fault:
            raise NotInterpretedError(f"the program itself: {fault}") from None
    return found


def _sizes(given: Mapping[str, int], values: Sequence[int]) -> dict[str, int]:
    """Small sizes; equal ones stay equal."""
    distinct = list(dict.fromkeys(given.values()))
    return {
        name: FEW
        if name.upper() in ("TSTEPS", "TMAX", "STEPS", "T", "NT")
        else values[distinct.index(value) % len(values)]
        for name, value in given.items()
    }


def _kinds(arguments: Sequence[Any]) -> Any:
    """What docc tells arguments apart by."""
    shapes = [s for a in arguments if isinstance(a, np.ndarray) for s in a.shape]
    distinct = list(dict.fromkeys(shapes))
    return [distinct.index(s) for s in shapes], [s == 1 for s in shapes]


def _memory(
    tree: Program, names: Sequence[str], arguments: Sequence[Any], symbols: Mapping[str, int]
) -> dict[str, Any]:
    """The arguments of the program's tree: reals drawn anew, whole numbers as they are."""
    rng = random.Random(len(names))
    memory: dict[str, Any] = dict(symbols)
    for name, value in zip(names, arguments, strict=True):
        if isinstance(value, np.ndarray):
            real = value.dtype.kind == "f"
            flat = value.ravel(order="K").tolist()
            memory[name] = [rng.randrange(1, PRIME) for _ in flat] if real else list(map(int, flat))
        elif isinstance(value, float | np.floating):
            memory[name] = rng.randrange(1, PRIME)
        else:
            memory[name] = int(value)
    if unknown := set(tree.arguments) - memory.keys():
        raise NotInterpretedError(f"nobody says what {min(unknown)} is")
    return memory


class _Limited:
    """Raises `NotInterpretedError` inside after `RUN_SECONDS`."""

    def __enter__(self) -> None:
        def late(number: int, frame: FrameType | None) -> None:
            raise NotInterpretedError("it takes too long")

        self._before = signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, RUN_SECONDS)

    def __exit__(self, *rest: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)


def fault(subject: Subject, tree: Program, seed: int) -> str:
    """What is wrong with a program that was transformed; empty if nothing.

    Raises:
        NotInterpretedError: it cannot be told.
    """
    ready = Interpreted(tree, seed)
    for memory, expected in subject.cases:
        try:
            with _Limited():
                found = ready(memory)
        except FaultError as error:
            return str(error)
        for name, right in expected.items():
            if found[name] != right:
                place = next(
                    n for n, (a, b) in enumerate(zip(found[name], right, strict=False)) if a != b
                )
                return f"{name}[{place}] differs"
    return ""


@dataclass
class Steps:
    """Steps that were allowed, with where they were tried.

    Attributes:
        trees: the program before the first, and after each.
        refused: step and reason of each that was not allowed.
        raised: what steps raised that is no refusal.
    """

    nest: int
    steps: list[StepPair] = field(default_factory=list)
    trees: list[Program] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)


def drawn(subject: Subject, rng: random.Random) -> Steps:
    """A random sequence of steps that are allowed."""
    nest = rng.randrange(len(subject.nests))
    bench = Workbench(subject.tree, subject.nests[nest])
    found = Steps(nest, trees=[bench.program])
    wanted = rng.randint(1, LONGEST)
    containers = [c.name for c in subject.nests[nest].arrays]
    ops = list(STEPS)
    weights = [WEIGHTS.get(op, OTHERWISE) for op in ops]
    for _ in range(TRIES):
        if len(found.steps) >= wanted or not bench.names:
            break
        op = rng.choices(ops, weights)[0]
        args = _arguments(STEPS[op], list(bench.names), containers, rng)
        try:
            bench.apply(op, args, len(found.steps))
        except IllegalStepError as refusal:
            found.refused.append((op, _class(str(refusal))))
        except Exception as error:
            found.raised.append(f"{op} {args}: {type(error).__name__}: {error}"[:300])
        else:
            found.steps.append((op, args))
            found.trees.append(bench.program)
    return found


def _arguments(
    step: type[Step], loops: Sequence[str], containers: Sequence[str], rng: random.Random
) -> tuple[str | int, ...]:
    """Arguments for a step, of the right kinds. Loops that stand together are likelier."""
    found: list[str | int] = []
    last = -1
    starred = False
    for argument in step.arguments:
        if argument.optional and rng.random() < 0.5:
            break
        if isinstance(argument, Loop):
            place = last + rng.choice((1, 1, 1, 2, -1)) if last >= 0 else rng.randrange(len(loops))
            last = place % len(loops)
            name = loops[last]
            if not starred and rng.random() < 0.15:
                name, starred = re.sub(r"\.(rest|part)\d*$", "", name) + "*", True
            found.append(name)
        elif isinstance(argument, Container):
            found.append(rng.choice(containers or ["A0"]))
        elif isinstance(argument, Keyword):
            found.append(rng.choice(argument.words))
        elif isinstance(argument, Integer):
            low, high = max(argument.low, -2), min(argument.high, 8)
            fitting = [n for n in (*SMALL, 1, -1) if low <= n <= high]
            found.append(rng.choice(fitting))
    return tuple(found)


def _class(refusal: str) -> str:
    """A refusal without names and numbers."""
    reason = refusal.partition("not known to be legal: ")[2] or refusal.partition(": ")[2]
    reason = re.sub(r"\bL\d+[\w.*]*", "L", reason)
    return re.sub(r"'[^']*'|\b[A-Za-z_]*\d+\w*\b", "#", reason)[:70]


def checked(name: str, sequences: int, seed: int) -> Result:
    """A program with its sequences."""
    begun = time.monotonic()
    result: Result = {"name": name, "seed": seed, "sequences": 0, "unknown": 0}
    try:
        own = subject(name)
    except (LoopbookError, AssertionError) as error:
        return {**result, "left": f"{type(error).__name__}: {error}"[:200]}
    if not own.cases or not own.nests:
        return {**result, "left": "nothing to compare"}
    allowed, refused, unknown = Counter[str](), Counter[str](), Counter[str]()
    wrong: list[Result] = []
    raised: list[str] = []
    distinct: set[str] = set()
    for number in range(sequences):
        if time.monotonic() - begun > PROGRAM_SECONDS - 60:
            break
        sequence = drawn(own, random.Random(f"{seed}:{name}:{number}"))
        refused.update(f"{op}: {reason}" for op, reason in sequence.refused)
        raised += sequence.raised
        if not sequence.steps:
            continue
        text = json.dumps([sequence.nest, sequence.steps])
        if text in distinct:
            continue
        distinct.add(text)
        try:
            said = fault(own, sequence.trees[-1], number)
            result["sequences"] += 1
            allowed.update(op for op, _ in sequence.steps)
        except NotInterpretedError as error:
            unknown[str(error)] += 1
            continue
        if said:
            wrong.append(_wrong(own, sequence, number, said))
    return {
        **result,
        "nests": [nest.fingerprint for nest in own.nests],
        "allowed": allowed,
        "refused": refused,
        "unknown": unknown,
        "wrong": wrong,
        "raised": raised,
        "seconds": time.monotonic() - begun,
    }


def _wrong(own: Subject, sequence: Steps, number: int, said: str) -> Result:
    """A wrong sequence, up to the step that makes it wrong."""
    for count in range(len(sequence.steps) + 1):
        try:
            earlier = fault(own, sequence.trees[count], number)
        except NotInterpretedError:
            continue
        if earlier:
            said = earlier
            break
    else:
        count = len(sequence.steps)
    steps = [[op, *args] for op, args in sequence.steps[:count]]
    return {"number": number, "nest": sequence.nest, "steps": steps, "fault": said}


def table(results: Sequence[Result], about: str) -> str:
    """What was found, as Markdown."""
    done = [r for r in results if "left" not in r]
    nests = {n for r in done for n in r["nests"]}
    wrong = [(r, w) for r in done for w in r["wrong"]]
    allowed, refused, unknown = Counter[str](), Counter[str](), Counter[str]()
    for r in done:
        allowed.update(r["allowed"])
        refused.update(r["refused"])
        unknown.update(r["unknown"])
    by_step = Counter[str]()
    for reason, count in refused.items():
        by_step[reason.partition(":")[0]] += count
    guilty = Counter(w["steps"][-1][0] if w["steps"] else "(none)" for _, w in wrong)
    rows = [
        f"| {op} | {allowed[op]} | {by_step[op]} | {guilty[op]} |"
        for op in sorted({*allowed, *by_step, *guilty})
    ]
    sequences = sum(r["sequences"] for r in done)
    return "\n".join(
        [
            "# Legality",
            "",
            about,
            "",
            f"{len(done)} programs ({len(results) - len(done)} left out) with {len(nests)} "
            f"different nests; {sequences} different sequences of steps that were allowed and run, "
            f"{sum(unknown.values())} that could not be run; {len(wrong)} wrong; "
            f"{sum(len(r['raised']) for r in done)} steps raised something else than a refusal.",
            "",
            "| step | allowed | refused | the last step of a wrong sequence |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            *(f"- `{r['name']}:{w['number']}` {w['steps']}: {w['fault']}" for r, w in wrong),
            *(f"- `{r['name']}` raised: {text}" for r in done for text in r["raised"]),
            "",
            "Most frequent refusals:",
            "",
            *(f"- {count} {reason}" for reason, count in refused.most_common(40)),
            "",
            "Not run:",
            "",
            *(f"- {count} {reason}" for reason, count in unknown.most_common(10)),
            *(
                f"- {count} programs: {reason}"
                for reason, count in Counter(
                    _class(": " + r["left"]) for r in results if "left" in r
                ).most_common(12)
            ),
            "",
        ]
    )


def show(which: str, seed: int) -> None:
    """Print a sequence with the loops before and after it."""
    name, _, number = which.rpartition(":")
    own = subject(name)
    sequence = drawn(own, random.Random(f"{seed}:{name}:{number}"))
    said = fault(own, sequence.trees[-1], int(number))
    told = _wrong(own, sequence, int(number), said)
    print(f"nest {sequence.nest}")
    print(Interpreted(own.tree).source)
    count = len(told["steps"])
    for place in range(max(count - 1, 0), count + 1):
        if place:
            print("#", *sequence.steps[place - 1])
        print(Interpreted(sequence.trees[place], 1).source)
    print(json.dumps(told))


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, help="folder for the results")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--count", type=int, default=200, help="programs")
    parser.add_argument("--sequences", type=int, default=40, help="sequences of each")
    parser.add_argument("--seed", type=int, default=0, help="of all random choices")
    parser.add_argument("--resume", action="store_true", help="go on with the results in FOLDER")
    parser.add_argument("--show", metavar="PROGRAM:NUMBER", help="print one sequence")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    given = parsed(arguments)
    if given.show:
        show(given.show, given.seed)
        return 0
    if given.out is None:
        _say("name a folder with --out")
        return 2
    file = given.out / "results.jsonl"
    if file.exists() and not given.resume:
        _say(f"{file} exists: go on with --resume, or name another folder")
        return 2
    given.out.mkdir(parents=True, exist_ok=True)
    dependence.load()
    found = lines.read(file)
    done = {r["name"] for r in found}
    names = legality_programs.names(given.first + given.count, given.seed)[given.first :]
    for name in (name for name in names if name not in done):
        found.append(_apart(name, given.sequences, given.seed))
        lines.append(file, found[-1])
        for wrong in found[-1].get("wrong", ()):
            _say(f"{name}:{wrong['number']} {wrong['steps']}: {wrong['fault']}")
        for text in found[-1].get("raised", ()):
            _say(f"{name} raised: {text}")
    about = f"Seed {given.seed}. {provenance()}"
    (given.out / "table.md").write_text(table(found, about), encoding="utf-8")
    return 1 if any(r.get("wrong") or r.get("raised") for r in found) else 0


def _apart(name: str, sequences: int, seed: int) -> Result:
    """`checked` in a child: docc may crash."""
    try:
        return run_limited(
            checked, name, sequences, seed, seconds=PROGRAM_SECONDS, what="the program"
        )
    except LoopbookError as error:
        return {"name": name, "left": f"{type(error).__name__}: {error}"[:200]}


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
