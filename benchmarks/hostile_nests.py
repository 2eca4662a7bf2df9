"""Hostile nests: fragments of shell, C++ and paths in the strings of real SDFGs.

    python benchmarks/hostile.py nests [--nests 5000] [--seed 1]

Each takes the way of a contributed record that is measured: it is let in or refused; what is let in
is scheduled, and its C++ generated and handed to a compiler that notes its command line and does
nothing. Prints how many were refused, and how many fragments were found in code, headers, file
names or command lines; exit code 1 if that is more than none.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "kits"))

from untrusted_kit import MARK, nests, poisoned

from loopbook.errors import LoopbookError, RunError, SdfgError
from loopbook.sdfg.sources import write_tuned
from loopbook.sdfg.untrusted import admit
from loopbook.targets import TARGETS
from loopbook.toolchain import scratch
from loopbook.toolchain.batch import silent_compiler
from loopbook.toolchain.sandbox import run_limited

BATCH = 40
SECONDS = 120.0


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Hostile nests.")
    parser.add_argument("--nests", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    numbers = random.Random(options.seed)
    counts: Counter[str] = Counter()
    waiting: list[str] = []
    for _ in range(options.nests):
        document = poisoned(numbers.choice(nests()), numbers, numbers.randint(1, 3))
        try:
            waiting.append(admit(document).text)
        except SdfgError:
            counts["refused"] += 1
        if len(waiting) == BATCH:
            counts += _built(waiting)
            waiting = []
    counts += _built(waiting)
    print(f"{options.nests} hostile nests: {counts['refused']} refused")
    for words_of_it in ("compiled", "left by docc", "fragments found"):
        print(f"{counts[words_of_it]:6} {words_of_it}")
    print(f"{counts['files']:6} generated files and command lines read")
    return 1 if counts["fragments found"] else 0


def _built(texts: Sequence[str]) -> Counter[str]:
    """What came of programs that were let in."""
    try:
        return run_limited(_build, texts, seconds=SECONDS, what="docc")
    except RunError:
        if len(texts) > 1:
            return sum((_built([text]) for text in texts), Counter())
        return Counter({"left by docc": 1})


def _build(texts: Sequence[str]) -> Counter[str]:
    """Runs in a child: docc may die of a program."""
    counts: Counter[str] = Counter()
    with scratch.folder() as folder:
        silent = silent_compiler(folder / "silent")
        for number, text in enumerate(texts):
            made = folder / str(number)
            try:
                write_tuned(silent, text, tuple(TARGETS)[number % len(TARGETS)], {}, made)
                counts["compiled"] += 1
            except LoopbookError:
                counts["left by docc"] += 1
            for path in made.rglob("*"):
                held = path.read_bytes() if path.is_file() else b""
                counts["files"] += path.is_file()
                counts["fragments found"] += MARK in path.name or MARK.encode() in held
    return counts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
