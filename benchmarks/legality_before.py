"""Whether what an older loopbook allowed, and was right, is still allowed.

    python benchmarks/legality_before.py --old CHECKOUT --out FOLDER [--count 400] [--walks 12]
        [--seed 0] [--minutes 0] [--resume | --again]

COUNT programs (`benchmarks.legality_programs`), and those that the starter book has recipes for.
Each is prepared by today's code. The older code in CHECKOUT (`benchmarks.legality_before_old`)
draws WALKS random walks of its steps on it, tries the recipes of the starter book, and says what it
allows. Today's code is asked the same sequences, and `loopbook.interpreter` whether what the old
code made of the program is right.

FOLDER gets ``verdicts.jsonl``, a line for each program, and ``table.md``. With --again, nothing is
drawn: today's code, as it is now, is asked once more where it refused something that was right.
"""

from __future__ import annotations

import argparse
import base64
import copy
import json
import os
import random
import subprocess
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import legality_before_table, legality_programs, lines  # noqa: E402
from benchmarks.legality import SEED  # noqa: E402
from benchmarks.legality_subject import Subject, fault, subject  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from loopbook import dependence  # noqa: E402
from loopbook.errors import IllegalStepError, LoopbookError  # noqa: E402
from loopbook.interpreter import NotInterpretedError  # noqa: E402
from loopbook.program.load import load_json  # noqa: E402
from loopbook.program.read import read  # noqa: E402
from loopbook.recipes.store import Store  # noqa: E402
from loopbook.steps import STEPS  # noqa: E402
from loopbook.steps.workbench import Workbench  # noqa: E402
from loopbook.toolchain.sandbox import run_limited  # noqa: E402

Result = dict[str, Any]
Recipes = dict[str, list[tuple[str, list[list[Any]]]]]
"""Program to fingerprints of nests and steps for them."""

SECONDS = 900.0
"""How long one half may take over a program."""

STARTER = ROOT / "loopbook" / "data" / "starter.book"

NAMES = {step.name: step.recorded_as for step in STEPS.values()}
"""What the older code calls the steps."""


def starter_recipes() -> Recipes:
    """All recipes of the starter book."""
    store = Store.open(STARTER, readonly=True)
    found: Recipes = defaultdict(list)
    for record in store.records(store.ids(limit=store.count())).values():
        steps = [[op, *args] for op, args in record.recipe.steps]
        if steps and (record.fingerprint, steps) not in found[record.provenance.kernel]:
            found[record.provenance.kernel].append((record.fingerprint, steps))
    store.close()
    return found


class Old:
    """The older code, in a process of its own."""

    def __init__(self, checkout: Path) -> None:
        words = [sys.executable, str(ROOT / "benchmarks" / "legality_before_old.py")]
        path = os.environ | {"PYTHONPATH": str(checkout)}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            words, cwd=checkout, env=path, stdin=pipe, stdout=pipe, text=True
        )

    def asked(self, question: Result) -> list[Result]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def prepared(name: str) -> tuple[str, list[str]]:
    """A program, and the fingerprints of its nests."""
    own = subject(legality_programs.load(name))
    return own.text, [nest.fingerprint for nest in own.nests] if own.cases else []


def judged(name: str, text: str, answers: Sequence[Result]) -> list[Result]:
    """The old code's sequences with what today's code says, and whether the old result is right."""
    own = subject(legality_programs.load(name), text)
    benches: dict[str, Workbench | str] = {}
    loops = {_key(one["nest"], one["steps"]): one.get("loops", ()) for one in answers}

    def bench(nest: int, steps: list[list[Any]]) -> Workbench | str:
        """After some steps; or why not."""
        key = _key(nest, steps)
        if key not in benches:
            benches[key] = (
                _longer(bench(nest, steps[:-1]), steps, loops.get(key, ()))
                if steps
                else Workbench(own.tree, own.nests[nest])
            )
        return benches[key]

    found = []
    for one in answers:
        if "lost" in one:
            found.append(one)
            continue
        after = bench(one["nest"], one["steps"])
        said = {key: one[key] for key in ("nest", "steps", "loops", "refused") if key in one}
        said["now"] = after if isinstance(after, str) else ""
        if "after" in one:
            said["fault"] = _right(own, one["after"])
        found.append(said)
    return found


def _key(nest: int, steps: Sequence[Any]) -> str:
    return json.dumps([nest, steps])


def _longer(
    before: Workbench | str, steps: list[list[Any]], loops: Sequence[str]
) -> Workbench | str:
    """With the last of some steps; or why not.

    Args:
        loops: the older code's names of the loops before it, in order. Where today's are other
            ones, they go by their places: docc named some that it made after others.
    """
    if isinstance(before, str):
        return before
    after = copy.copy(before)
    today = list(before.names)
    known = dict(zip(loops, today, strict=True)) if len(loops) == len(today) else {}
    op, *args = ((known.get(one, one) if isinstance(one, str) else one) for one in steps[-1])
    try:
        after.apply(op, tuple(args), len(steps) - 1)
    except IllegalStepError as refusal:
        return f"{op} | {refusal}"
    return after


def _right(own: Subject, packed: str) -> str:
    """What is wrong with what the old code made; empty if nothing."""
    try:
        text = zlib.decompress(base64.b85decode(packed)).decode()
        return fault(own, read(load_json(text)), SEED)
    except NotInterpretedError as error:
        return f"unknown: {error}"


def result(name: str, old: Old, recipes: Recipes, walks: int, seed: int) -> Result:
    """All that there is to say of a program."""
    try:
        text, nests = _apart(prepared, name)
        if not nests:
            return {"name": name, "left": "nothing to compare"}
        wanted = [
            [place, steps]
            for fingerprint, steps in recipes.get(name, ())
            for place, own in enumerate(nests)
            if own == fingerprint
        ]
        asked = {"name": name, "seed": seed, "text": text, "names": NAMES}
        answers = old.asked({**asked, "walks": walks, "recipes": wanted})
        said = _apart(judged, name, text, answers)
    except (LoopbookError, AssertionError, KeyError, ValueError) as error:
        return {"name": name, "left": f"{type(error).__name__}: {error}"[:200]}
    return {"name": name, "nests": nests, "sequences": said, "recipes": wanted}


def again(result: Result) -> None:
    """Ask today's code once more, where it refuses something that was right."""
    allowed = [one for one in result.get("sequences", ()) if "fault" in one]
    if any(one["now"] and legality_before_table.allowed_and_right(one) for one in allowed):
        text, _ = _apart(prepared, result["name"])
        for one, said in zip(allowed, _apart(judged, result["name"], text, allowed), strict=True):
            one["now"] = one["now"] and said["now"]


def _apart(function: Callable[..., Any], *args: Any) -> Any:
    return run_limited(function, *args, seconds=SECONDS, what="the program")


def _write(folder: Path, found: Sequence[Result], about: str) -> None:
    text = legality_before_table.table(found, about)
    (folder / "table.md").write_text(text, encoding="utf-8")


def parsed(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--old", type=Path, required=True, help="the older code's checkout")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--count", type=int, default=400, help="programs, besides the book's")
    parser.add_argument("--walks", type=int, default=12, help="random walks on each")
    parser.add_argument("--seed", type=int, default=0, help="of all random choices")
    parser.add_argument("--minutes", type=float, default=0, help="end after so many; 0: never")
    parser.add_argument("--resume", action="store_true", help="go on with the results in FOLDER")
    parser.add_argument("--again", action="store_true", help="ask again about what was refused")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    given = parsed(words)
    file = given.out / "verdicts.jsonl"
    if file.exists() and not (given.resume or given.again):
        print(f"{file} exists: go on with --resume, or name another folder", file=sys.stderr)
        return 2
    given.out.mkdir(parents=True, exist_ok=True)
    dependence.load()
    found = lines.read(file)
    done = {one["name"] for one in found}
    recipes = starter_recipes()
    names = sorted({*legality_programs.names(given.count, given.seed), *recipes})
    random.Random(given.seed).shuffle(names)
    end = time.monotonic() + 60 * given.minutes
    about = f"Seed {given.seed}. {provenance()}"
    if given.again:
        for one in found:
            again(one)
        file.write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
        _write(given.out, found, about)
        return 0
    old = Old(given.old)
    for name in names:
        if name in done:
            continue
        if given.minutes and time.monotonic() > end:
            break
        found.append(result(name, old, recipes, given.walks, given.seed))
        lines.append(file, found[-1])
        _write(given.out, found, about)
    old.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
