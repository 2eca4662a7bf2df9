"""What the first call of a function takes, against docc's own.

    python benchmarks/first_calls.py [--only layer 2mm] [--repeats 3] [--apart] [--busy]

Each figure comes from a process of its own, ours and docc's (``native`` for its target without a
schedule) in turn, on the last core that this process may use: the least of all repeats. ``docc``
has the compiler that we give it, with precompiled headers and a quick link; ``plain`` has clang
itself under the name that docc calls it by, as its other users have.

``fresh``: nothing has been compiled in the process before, and modules that are imported late are
part of it. ``later``: another function has been. What is compared at each call, or timed beside
Python later, is not part of it. ``--apart`` says where ours goes; ``--busy`` counts what processors
do for it instead of the time that passes, children included: for a machine that others use as well.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

BUSY = "FIRST_CALLS_BUSY"

LIMIT = 1.6
"""Times docc's own that ours is to stay under."""

POLYBENCH = ("2mm", "atax", "cholesky", "doitgen", "gemver", "jacobi-2d", "symm", "trmm")


def gemm_kij(C, A, B):
    for k in range(A.shape[1]):
        for i in range(A.shape[0]):
            for j in range(B.shape[1]):
                C[i, j] = C[i, j] + A[i, k] * B[k, j]


def row_sums(A, s):
    for j in range(A.shape[1]):
        for i in range(A.shape[0]):
            s[i] = s[i] + A[i, j]


def layer(x, w, out):
    out[:] = np.maximum(x @ w - 2.0, 0.0)


def blur(A, B):
    B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])


def softmax(x, out):
    shifted = np.exp(x - np.max(x, axis=1, keepdims=True))
    out[:] = shifted / np.sum(shifted, axis=1, keepdims=True)


def scaled(x, y, out):
    out[:] = 2.0 * x + y * y


OWN: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "gemm_kij": (gemm_kij, ((200, 220), (200, 240), (240, 220))),
    "row_sums": (row_sums, ((400, 300), (400,))),
    "layer": (layer, ((200, 300), (300, 100), (200, 100))),
    "blur": (blur, ((300, 300), (300, 300))),
    "softmax": (softmax, ((200, 300), (200, 300))),
    "scaled": (scaled, ((300, 200), (300, 200), (300, 200))),
}

OTHER = "row_sums"
"""What is compiled before, where something is; `scaled` before itself."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", help="kernels, else all")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--apart", action="store_true", help="say where the time goes")
    parser.add_argument("--busy", action="store_true", help="processors' time")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(_child(*options.child)))
        return 0
    if options.busy:
        os.environ[BUSY] = "1"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows = []
    for name in options.only or (*POLYBENCH, *OWN):
        row: dict[str, Any] = {"kernel": name}
        for when in ("fresh", "later"):
            found: dict[str, list[dict[str, Any]]] = {"docc": [], "plain": [], "loopbook": []}
            for _ in range(options.repeats):
                for system, answers in found.items():
                    answers.append(_asked(system, name, when))
            least = {s: min(answers, key=lambda a: a["seconds"]) for s, answers in found.items()}
            row[when] = {system: answer["seconds"] for system, answer in least.items()}
            row[f"{when} parts"] = least["loopbook"]["parts"]
        rows.append(row)
        _print(row, options.apart)
    for when in ("fresh", "later"):
        for system in ("docc", "plain"):
            ratios = [row[when]["loopbook"] / row[when][system] for row in rows]
            print(
                f"{when}: median {np.median(ratios):.2f} times {system}, worst {max(ratios):.2f} "
                f"(limit {LIMIT})"
            )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


def _print(row: dict[str, Any], apart: bool) -> None:
    said = [f"{row['kernel']:10}"]
    for when in ("fresh", "later"):
        docc, plain, ours = (row[when][system] for system in ("docc", "plain", "loopbook"))
        said.append(
            f"{when}: docc {1e3 * docc:4.0f} ms, plain {1e3 * plain:4.0f}, ours {1e3 * ours:4.0f}, "
            f"{ours / docc:.2f} and {ours / plain:.2f}"
        )
    print("  ".join(said), flush=True)
    if apart:
        for when in ("fresh", "later"):
            parts = row[f"{when} parts"].items()
            print(f"  {when}: " + ", ".join(f"{name} {1e3 * s:.0f}" for name, s in parts))


def _asked(system: str, name: str, when: str) -> dict[str, Any]:
    words = [sys.executable, __file__, "--child", system, name, when]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _child(system: str, name: str, when: str) -> dict[str, Any]:
    compiled = _native(system)
    if when == "later":
        function, arguments = _program("scaled" if name == OTHER else OTHER)
        compiled(function)(*arguments)
    function, arguments = _program(name)
    program = compiled(function)
    spent: dict[str, float] = defaultdict(float)
    if system == "loopbook":
        _time_parts(spent)
    begun = _now()
    program(*arguments)
    total = _now() - begun
    return {"seconds": total, "parts": {**spent, "rest": total - sum(spent.values())}}


def _native(system: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    if system in ("docc", "plain"):
        from docc.python import native

        from loopbook.toolchain import compiler, scratch

        if system == "docc":
            compiler.activate()
        else:
            folder = scratch.make()
            (folder / compiler.DOCC_NAME).symlink_to(compiler.find_compiler().path)
            os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
        return native(target="none")
    import loopbook

    return loopbook.native


def _program(name: str) -> tuple[Callable[..., Any], list[Any]]:
    if name in OWN:
        function, shapes = OWN[name]
        random = np.random.default_rng(1)
        return function, [random.random(shape) for shape in shapes]
    from loopbook.workloads import polybench

    workload = polybench.load(name)
    return workload.kernel, workload.arguments("SMALL")


def _time_parts(spent: dict[str, float]) -> None:
    from loopbook.client import plan, served
    from loopbook.client.variants import compiled, translations
    from loopbook.sdfg import program

    for module, function, part in (
        (translations, "translated", "translate"),
        (compiled, "trace", "parse"),
        (program, "prepare_apart", "prepare"),
        (served, "open_book", "open"),
        (plan, "plan_nests", "plan"),
        (plan, "build_tuned", "build"),
        (plan, "build_baseline", "build"),
    ):
        setattr(module, function, _timed(getattr(module, function), part, spent))


def _now() -> float:
    if BUSY not in os.environ:
        return time.perf_counter()
    kinds = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in kinds)


def _timed(function: Callable[..., Any], part: str, spent: dict[str, float]) -> Callable[..., Any]:
    def timed(*args: Any, **options: Any) -> Any:
        begun = _now()
        try:
            return function(*args, **options)
        finally:
            spent[part] += _now() - begun

    return timed


if __name__ == "__main__":
    sys.exit(main())
