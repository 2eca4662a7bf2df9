"""Whether recipes that are allowed are right: random steps on random programs, what comes out run
by an interpreter and compared with what the program did before; some of it compiled, too.

    python benchmarks/legality.py --out FOLDER [--first 0] [--count 200] [--sequences 40]
        [--compile 0] [--docc 0] [--seed 0] [--made] [--minutes 0] [--resume]
    python benchmarks/legality.py --show PROGRAM:NUMBER [--seed 0]

COUNT programs (`benchmarks.legality_programs`), from number FIRST; of each, SEQUENCES random
sequences of steps that `Workbench` allows (`benchmarks.legality_steps`). `loopbook.interpreter`
runs the program at several sizes, before and after, and the arrays must be the same. Sequences that
make the same program are one run.

With --made, the programs are those that steps are made for that others rarely allow
(`benchmarks.legality_made`).

COMPILE sequences of each program are compiled, run, and compared with the Python function
(`benchmarks.legality_compiled`). Of every DOCC-th program first steps are asked of docc's own
transformations (`benchmarks.legality_docc`).

FOLDER gets ``results.jsonl`` (a line for each program) and ``table.md``. ``--show`` prints one
sequence, with the loops before and after. Exit code 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import (  # noqa: E402
    legality_compiled,
    legality_docc,
    legality_made,
    legality_programs,
    legality_table,
    lines,
)
from benchmarks.legality_steps import Drawer, Sequenced  # noqa: E402
from benchmarks.legality_subject import SIZES, Subject, arguments, fault, kinds, subject  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from loopbook import dependence  # noqa: E402
from loopbook.errors import LoopbookError  # noqa: E402
from loopbook.interpreter import Interpreted, NotInterpretedError  # noqa: E402
from loopbook.toolchain.sandbox import run_limited  # noqa: E402

Result = dict[str, Any]

PROGRAM_SECONDS = 3600.0
"""How long a program with all its sequences may take."""

THREADS = {"OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive"}
"""For compiled programs: several threads, even on one core, that do not wait busily."""

BUSY_SECONDS = 90.0
"""Processor time after which no further sequences are drawn for a program."""

COMPILED_SIZES = (23, 19, 21, 17)
"""The same, for compiled programs."""

SEED = 1
"""Of the order in which maps run: one for all sequences, so that equal programs are one run."""


def checked(name: str, sequences: int, seed: int, compiled: int = 0) -> Result:
    """A program with its sequences.

    Args:
        compiled: so many sequences are noted to be compiled, under "recipes", with the program's
            "text".
    """
    begun, busy = time.monotonic(), time.process_time()
    result: Result = {"name": name, "seed": seed, "sequences": 0}
    try:
        own = subject(legality_programs.load(name))
    except (LoopbookError, AssertionError) as error:
        return {**result, "left": f"{type(error).__name__}: {error}"[:200]}
    if not own.cases or not own.nests:
        return {**result, "left": "nothing to compare"}
    rng = _rng(seed, name)
    drawer = Drawer(own.tree, own.nests, rng, legality_made.phrases(name))
    unknown = Counter[str]()
    wrong: list[Result] = []
    compilable: list[Sequenced] = []
    for number, sequence in enumerate(drawer.sequences(sequences)):
        try:
            said = fault(own, sequence.trees[-1], SEED)
        except NotInterpretedError as error:
            unknown[str(error)] += 1
            compilable.append(sequence)
        else:
            result["sequences"] += 1
            if said:
                wrong.append(_wrong(own, sequence, number, said))
            else:
                compilable.append(sequence)
        if time.process_time() - busy > BUSY_SECONDS:
            break
    chosen = legality_compiled.chosen(compilable, compiled, rng)
    recipes = [[own.nests[one.nest].position, one.steps] for one in chosen]
    return {
        **result,
        "nests": [nest.fingerprint for nest in own.nests],
        "trees": len(own.told),
        "drawn": drawer.drawn,
        "allowed": drawer.allowed,
        "refused": drawer.refused,
        "unknown": unknown,
        "wrong": wrong,
        "raised": drawer.raised,
        "recipes": recipes,
        "text": own.text,
        "seconds": time.monotonic() - begun,
    }


def asked(name: str) -> Result:
    """What docc's own transformations say of the first steps of a program."""
    own = subject(legality_programs.load(name))
    answers = legality_docc.compared(own.tree, own.nests, lambda tree: fault(own, tree, SEED))
    return {"answers": [[op, said, count] for (op, said), count in answers.items()]}


def _rng(seed: int, name: str) -> random.Random:
    return random.Random(f"{seed}:{name}")


def _wrong(own: Subject, sequence: Sequenced, number: int, said: str) -> Result:
    """A wrong sequence, up to the step that makes it wrong."""
    count = len(sequence.steps)
    for place, tree in enumerate(sequence.trees):
        try:
            earlier = fault(own, tree, SEED)
        except NotInterpretedError:
            continue
        if earlier:
            said, count = earlier, place
            break
    steps = [[op, *args] for op, args in sequence.steps[:count]]
    return {"number": number, "nest": sequence.nest, "steps": steps, "fault": said}


def compiled(name: str, text: str, recipes: Sequence[legality_compiled.Recipe]) -> Result:
    """What becomes of sequences of a program when they are compiled.

    Args:
        text: the program, prepared.
    """
    workload = legality_programs.load(name)
    small, large = (arguments(workload, values) for values in (SIZES[0], COMPILED_SIZES))
    if kinds(small) != kinds(large):
        return {"left": {"another program at the size to be compiled": len(recipes)}}
    built = legality_compiled.checked(workload, large, text, recipes)
    built["wrong"] = [
        {"nest": recipes[place][0], "steps": recipes[place][1], "fault": said}
        for place, said in built["wrong"]
    ]
    return built


def show(which: str, seed: int) -> None:
    """Print a sequence with the loops before and after it."""
    name, _, number = which.rpartition(":")
    own = subject(legality_programs.load(name))
    drawer = Drawer(own.tree, own.nests, _rng(seed, name), legality_made.phrases(name))
    *_, sequence = drawer.sequences(int(number) + 1)
    said = fault(own, sequence.trees[-1], SEED)
    told = _wrong(own, sequence, int(number), said)
    print(f"nest {sequence.nest}")
    print(Interpreted(own.tree).source)
    count = len(told["steps"])
    for place in range(max(count - 1, 0), count + 1):
        if place:
            print("#", *sequence.steps[place - 1])
        print(Interpreted(sequence.trees[place], SEED).source)
    print(json.dumps(told))


def parsed(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, help="folder for the results")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--count", type=int, default=200, help="programs")
    parser.add_argument("--sequences", type=int, default=40, help="sequences of each")
    parser.add_argument("--compile", type=int, default=0, help="of these, to be compiled")
    parser.add_argument("--docc", type=int, default=0, help="ask docc about every so many-th")
    parser.add_argument("--seed", type=int, default=0, help="of all random choices")
    parser.add_argument("--made", action="store_true", help="programs for rarely allowed steps")
    parser.add_argument("--minutes", type=float, default=0, help="end after so many; 0: never")
    parser.add_argument("--resume", action="store_true", help="go on with the results in FOLDER")
    parser.add_argument("--show", metavar="PROGRAM:NUMBER", help="print one sequence")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    given = parsed(words)
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
    os.environ.update(THREADS)
    dependence.load()
    found = lines.read(file)
    for result in _results(given, {r["name"] for r in found}):
        found.append(result)
        lines.append(file, result)
        for wrong in _faults(result):
            _say(f"{result['name']} {wrong}")
        about = f"Seed {given.seed}. {provenance()}"
        text = legality_table.table(found, about)
        (given.out / "table.md").write_text(text, encoding="utf-8")
    return 1 if any(any(_faults(result)) for result in found) else 0


def _results(given: argparse.Namespace, done: set[str]) -> Iterator[Result]:
    """What there is to say of each program that is not done."""
    end = time.monotonic() + 60 * given.minutes
    drawn = legality_made.names if given.made else legality_programs.names
    names = drawn(given.first + given.count, given.seed)
    for number, name in enumerate(names[given.first :]):
        if name in done:
            continue
        if given.minutes and time.monotonic() > end:
            return
        result = _apart(name, checked, name, given.sequences, given.seed, given.compile)
        if given.docc and number % given.docc == 0 and "left" not in result:
            result["docc"] = _apart(name, asked, name)
        text = result.pop("text", "")
        if recipes := result.pop("recipes", None):
            result["built"] = _apart(name, compiled, name, text, recipes)
        yield result


def _faults(result: Result) -> Iterator[str]:
    """All that is wrong with a program."""
    for wrong in result.get("wrong", ()):
        yield f":{wrong['number']} {wrong['steps']}: {wrong['fault']}"
    for wrong in result.get("built", {}).get("wrong", ()):
        yield f"compiled, {wrong['steps']}: {wrong['fault']}"
    for text in result.get("raised", ()):
        yield f"raised {text}"


def _apart(name: str, function: Callable[..., Result], *args: Any) -> Result:
    """What a function says, in a child: docc may crash."""
    try:
        return run_limited(function, *args, seconds=PROGRAM_SECONDS, what="the program")
    except LoopbookError as error:
        return {"name": name, "left": f"{type(error).__name__}: {error}"[:200]}


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
