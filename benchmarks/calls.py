"""What a warm call of compiled code costs besides the code: ours, an earlier commit's, docc's own.

Run: ``python benchmarks/calls.py [--other CHECKOUT] [--json]``

A kernel that does next to nothing is called with one to four small arrays, and with an array and a
scalar. Each way runs in a process of its own that stays: they take turns in short spells, many of
them, and the fastest spell counts. What else runs on the machine can only slow a spell down.

Args:
    --other: a checkout of another commit, to be timed in turn with this one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 60
CALLS = 200

KERNELS = """
def one(A):
    A[0] = A[0] + 1.0

def two(A, B):
    B[0] = A[0] + 1.0

def three(A, B, C):
    C[0] = A[0] + B[0]

def four(A, B, C, D):
    D[0] = A[0] + B[0] + C[0]

def array_and_scalar(A, n):
    A[0] = A[0] + n

def returning(A):
    return A * 2.0
"""

CHILD = """
import json, os, sys, time
import numpy as np
way, kernels = sys.argv[1:]
sys.path.insert(0, kernels)
import call_kernels
from loopbook.toolchain import compiler
compiler.activate()
if way == "docc":
    from docc.python import native
    decorate = native()
else:
    import loopbook
    decorate = loopbook.native
data = [np.full(8, float(n)) for n in range(4)]
given = {"one": 1, "two": 2, "three": 3, "four": 4, "returning": 1}
cases = {}
for name in ("one", "two", "three", "four", "array_and_scalar", "returning"):
    args = data[: given[name]] if name in given else [data[0], 2.0]
    program = decorate(getattr(call_kernels, name))
    program(*args)
    cases[name] = program, args
for line in sys.stdin:
    name, calls = line.split()
    program, args = cases[name]
    turns = range(int(calls))
    begun = time.perf_counter()
    for _ in turns:
        program(*args)
    print((time.perf_counter() - begun) / int(calls), flush=True)
"""

NAMES = ("one", "two", "three", "four", "array_and_scalar", "returning")


class Way:
    """A process in which the kernels are compiled in one way."""

    def __init__(self, way: str, checkout: Path, folder: Path) -> None:
        environment = dict(
            os.environ,
            PYTHONPATH=str(checkout),
            LOOPBOOK_BOOK=str(folder / "none.db"),
            LOOPBOOK_STARTER="",
            DOCC_TMP=str(folder / f"{way}-{checkout.name}"),
        )
        self._child = subprocess.Popen(
            [sys.executable, "-c", CHILD, way, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=folder,
        )

    def spell(self, name: str) -> float:
        """Seconds of one call, on average over a spell of them."""
        assert self._child.stdin
        assert self._child.stdout
        self._child.stdin.write(f"{name} {CALLS}\n")
        self._child.stdin.flush()
        return float(self._child.stdout.readline())

    def close(self) -> None:
        self._child.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description="What a warm call costs.")
    parser.add_argument("--other", type=Path, help="a checkout of another commit")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    here = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory(prefix="loopbook-calls-") as made:
        folder = Path(made)
        (folder / "call_kernels.py").write_text(KERNELS)
        ways = {"ours": Way("ours", here, folder), "docc": Way("docc", here, folder)}
        if options.other:
            ways["other"] = Way("ours", options.other.resolve(), folder)
        best: dict[str, dict[str, float]] = {name: {} for name in NAMES}
        for _ in range(ROUNDS):
            for name in NAMES:
                for label, way in ways.items():
                    taken = way.spell(name)
                    best[name][label] = min(taken, best[name].get(label, taken))
        for way in ways.values():
            way.close()
    micro = {n: {w: round(1e6 * s, 2) for w, s in row.items()} for n, row in best.items()}
    if options.json:
        print(json.dumps(micro))
        return
    print("| arguments | " + " | ".join(f"{way}, µs" for way in ways) + " |")
    print("| --- |" + " --- |" * len(ways))
    for name, row in micro.items():
        print(f"| {name.replace('_', ' ')} | " + " | ".join(f"{row[w]:.1f}" for w in ways) + " |")


if __name__ == "__main__":
    main()
