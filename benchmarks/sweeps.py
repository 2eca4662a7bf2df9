"""Stencils over time as people write them with NumPy, on grids that caches hold and do not.

    python benchmarks/sweeps.py --out FILE.jsonl [--against CHECKOUT] [--sizes 500 1000 2500]
        [--only PROGRAM …] [--rounds 7] [--core 1]

CHECKOUT is a clone at an older commit, which takes turns with this one: each version compiles a
program, with its own book and nothing measured, in a process of its own. Results are compared with
Python's. FILE gets a line for each program and size; the last line printed is the geometric mean
over NumPy, and over the older version.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
POINTS = 60_000_000
"""Points that one call computes, in so many steps as that makes of the size."""


def heat(steps, A, B):
    for _ in range(steps):
        A[1:-1, 1:-1] += 0.1 * (
            A[2:, 1:-1] + A[:-2, 1:-1] + A[1:-1, 2:] + A[1:-1, :-2] - 4 * A[1:-1, 1:-1]
        )


def heat_in_two(steps, A, B):
    for _ in range(steps):
        B[1:-1, 1:-1] = A[1:-1, 1:-1] + 0.1 * (
            A[2:, 1:-1] + A[:-2, 1:-1] + A[1:-1, 2:] + A[1:-1, :-2] - 4 * A[1:-1, 1:-1]
        )
        A[1:-1, 1:-1] = B[1:-1, 1:-1]


def wave(steps, A, B):
    P = A.copy()
    for _ in range(steps):
        N = np.zeros_like(A)
        N[1:-1, 1:-1] = (
            2 * A[1:-1, 1:-1]
            - P[1:-1, 1:-1]
            + 0.2 * (A[2:, 1:-1] + A[:-2, 1:-1] + A[1:-1, 2:] + A[1:-1, :-2] - 4 * A[1:-1, 1:-1])
        )
        P[:] = A
        A[:] = N


def burgers(steps, U, V):
    for _ in range(steps):
        u = U.copy()
        v = V.copy()
        a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
        U[1:-1, 1:-1] = a - 0.01 * a * (a - u[1:-1, :-2]) - 0.01 * b * (a - u[:-2, 1:-1])
        V[1:-1, 1:-1] = b - 0.01 * a * (b - v[1:-1, :-2]) - 0.01 * b * (b - v[:-2, 1:-1])
        U[0, :] = 1
        U[-1, :] = 1
        U[:, 0] = 1
        U[:, -1] = 1
        V[0, :] = 1
        V[-1, :] = 1
        V[:, 0] = 1
        V[:, -1] = 1


def gray_scott(steps, U, V):
    for _ in range(steps):
        u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
        du = U[2:, 1:-1] + U[:-2, 1:-1] + U[1:-1, 2:] + U[1:-1, :-2] - 4 * u
        dv = V[2:, 1:-1] + V[:-2, 1:-1] + V[1:-1, 2:] + V[1:-1, :-2] - 4 * v
        uvv = u * v * v
        u += 0.16 * du - uvv + 0.06 * (1 - u)
        v += 0.08 * dv + uvv - 0.122 * v


PROGRAMS: dict[str, Callable[..., None]] = {
    one.__name__: one for one in (heat, heat_in_two, wave, burgers, gray_scott)
}


def data(size: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Steps and two grids."""
    random = np.random.default_rng(size)
    grids = random.random((size, size)), random.random((size, size))
    return max(4, POINTS // size**2), *grids


def serve() -> None:
    """Answer to lines with a program and a size by lines with what a call of it took."""
    import loopbook

    compiled: dict[str, Any] = {}
    for line in sys.stdin:
        name, size, first = json.loads(line)
        steps, A, B = data(size)
        answer: dict[str, Any] = {}
        if first:
            compiled[name] = loopbook.native(PROGRAMS[name])
            expected = A.copy(), B.copy()
            begun = time.perf_counter()
            PROGRAMS[name](steps, *expected)
            answer["numpy_s"] = time.perf_counter() - begun
            found = A.copy(), B.copy()
            compiled[name](steps, *found)
            answer["right"] = all(map(np.allclose, expected, found))
        begun = time.perf_counter()
        compiled[name](steps, A, B)
        answer["s"] = time.perf_counter() - begun
        print(json.dumps(answer), flush=True)


class Version:
    """A process with one version of loopbook, and caches of its own."""

    def __init__(self, checkout: Path, core: int | None, folder: str) -> None:
        places = os.pathsep.join(map(str, (checkout, ROOT / "benchmarks")))
        variables = {**os.environ, "PYTHONPATH": places, "XDG_CACHE_HOME": folder}
        pin = [] if core is None else ["taskset", "-c", str(core)]
        command = [*pin, sys.executable, "-W", "ignore", __file__, "--serve"]
        self._child = subprocess.Popen(
            command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def call(self, name: str, size: int, *, first: bool = False) -> dict[str, Any]:
        """What a call took; the first one is compiled and compared."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps([name, size, first]) + "\n")
        self._child.stdin.flush()
        return json.loads(self._child.stdout.readline())

    def end(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2500])
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--core", type=int)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    if options.out is None:
        parser.error("where to write: --out FILE.jsonl")
    ratios: dict[str, list[float]] = {}
    with options.out.open("a") as file:
        for name in options.only:
            for size in options.sizes:
                line = compared(name, size, options)
                file.write(json.dumps(line) + "\n")
                file.flush()
                print(line, flush=True)
                for other in ("numpy_s", "before_s"):
                    if other in line:
                        ratios.setdefault(other, []).append(line[other] / line["s"])
    means = {name[:-2]: statistics.geometric_mean(found) for name, found in ratios.items()}
    print({f"over {name}": round(mean, 2) for name, mean in means.items()})
    return 0


def compared(name: str, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Times of one program at one size: minima over the rounds."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        versions = [Version(ROOT, options.core, one)]
        if options.against:
            versions.append(Version(options.against.resolve(), options.core, two))
        firsts = [version.call(name, size, first=True) for version in versions]
        rounds = [
            [version.call(name, size)["s"] for version in versions] for _ in range(options.rounds)
        ]
        for version in versions:
            version.end()
    line: dict[str, Any] = {"program": name, "size": size, "steps": data(size)[0]}
    line |= {"right": firsts[0]["right"], "numpy_s": min(one["numpy_s"] for one in firsts)}
    for key, times in zip(("s", "before_s"), zip(*rounds, strict=True), strict=False):
        line[key] = min(times)
    return line


if __name__ == "__main__":
    sys.exit(main())
