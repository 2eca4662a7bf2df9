"""What an older loopbook allows: the half of `benchmarks.legality_before` that its code runs.

It is started in the older checkout, whose packages are found first. Each line that it reads is a
program, prepared, with how many walks to draw and recipes to try; each that it writes is an answer:
sequences of steps, each with the loops before the last one, and what became of the program or why
that step was refused. docc's transformations may crash or hang, so each walk has a child.
"""

from __future__ import annotations

import base64
import json
import os
import random
import sys
import time
import zlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import legality_phrases  # beside this file: the folder is no package of the older code's

from loopbook.errors import LoopbookError

STEPS = 10
"""Of a walk that are allowed, at most."""

TRIED = 30
"""Of a walk."""

PROPOSED = 0.4
"""So many walks begin with what the tuner proposed."""

PHRASED = 0.25
"""So many other draws are phrases."""

WALK_SECONDS = 8.0
LIMIT_SECONDS = 60.0

Said = list[dict[str, Any]]


# Not today's: no type checker finds these.
applying: Any = import_module("loopbook.sdfg.apply")
dependence: Any = import_module("loopbook.dependence")
moves: Any = import_module("loopbook.moves")
program: Any = import_module("loopbook.sdfg.program")
sandbox: Any = import_module("loopbook.toolchain.sandbox")


def answered(asked: dict[str, Any]) -> Said:
    """All sequences of a program, none twice."""
    names, text = asked["names"], asked["text"]
    tasks: list[tuple[Any, ...]] = [
        (_walk, text, f"{asked['seed']}:{asked['name']}:{number}", names)
        for number in range(asked["walks"])
    ]
    tasks += [(_recipe, text, nest, steps, names) for nest, steps in asked["recipes"]]
    found: dict[str, dict[str, Any]] = {}
    for function, *given in tasks:
        try:
            said = sandbox.run_limited(function, *given, seconds=LIMIT_SECONDS)
        except LoopbookError as error:
            said = [{"nest": -1, "steps": [], "lost": f"{type(error).__name__}: {error}"[:120]}]
        for one in said:
            found.setdefault(json.dumps([one["nest"], one["steps"]]), one)
    return list(found.values())


class _Bench:
    """A nest, and what was said of sequences of steps on it."""

    def __init__(self, text: str, nest: int | None, rng: random.Random) -> None:
        document, nests = program.prepare_document(text)
        self.nest = rng.choice(nests) if nest is None else nests[nest]
        self._bench = applying.Workbench(document, self.nest)
        self.steps: list[Any] = []
        self.said: Said = []

    @property
    def loops(self) -> list[str]:
        return list(self._bench.names)

    def tried(self, op: str, args: Any) -> bool:
        """One more step; one that is refused is left out. False if nothing can follow, since it
        failed otherwise."""
        steps = [*self.steps, [op, *args]]
        own = {"nest": self.nest.position, "steps": steps, "loops": self.loops}
        try:
            self._bench.apply(op, tuple(args), len(self.steps))
            text = json.dumps(self._bench.document(), separators=(",", ":"))
        except Exception as error:
            self.said.append({**own, "refused": f"{type(error).__name__}: {error}"})
            return isinstance(error, LoopbookError)
        self.steps = steps
        self.said.append({**own, "after": packed(text)})
        return True


def packed(text: str) -> str:
    return base64.b85encode(zlib.compress(text.encode())).decode()


def _walk(text: str, seed: str, names: dict[str, str]) -> Said:
    """Random steps on a random nest, one after the other."""
    rng = random.Random(seed)
    bench = _Bench(text, None, rng)
    end = time.process_time() + WALK_SECONDS
    for number, (op, args) in enumerate(_drawn(bench, rng)):
        if number >= TRIED or len(bench.steps) >= STEPS or time.process_time() > end:
            break
        if not bench.tried(names.get(op, op), args):
            break
    return bench.said


def _drawn(bench: _Bench, rng: random.Random) -> Iterator[legality_phrases.StepPair]:
    """Steps for the loops that there are when each is asked for."""
    if rng.random() < PROPOSED:
        target = rng.choice(("sequential", "openmp"))
        around = moves.Surroundings(target, 4, threads=2, libraries=True)
        yield from legality_phrases.small(moves.propose(bench.nest, rng, around), rng)
    containers = [c.name for c in bench.nest.arrays]
    while bench.loops:
        if rng.random() < PHRASED:
            yield from rng.choice(legality_phrases.PHRASES)(bench.loops, bench.nest, rng)
        else:
            yield legality_phrases.alone(bench.loops, containers, rng)


def _recipe(text: str, nest: int, steps: list[Any], names: dict[str, str]) -> Said:
    """A recipe, but for the steps that are refused."""
    bench = _Bench(text, nest, random.Random(0))
    for step in steps:
        op = str(step[0])
        if not bench.tried(names.get(op, op), step[1:]):
            break
    return bench.said


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is no answer
    dependence.load()
    for line in sys.stdin:
        print(json.dumps(answered(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
