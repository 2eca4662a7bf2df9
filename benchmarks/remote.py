"""The unmodified docc client against a loopbook server, next to `@loopbook.native`.

    python benchmarks/remote.py [KERNEL…] [--preset LARGE] [--target sequential] [--rounds 5]
    python benchmarks/remote.py --demo [--rounds 5]

Starts ``loopbook serve`` with the starter book. For each PolyBench kernel and the three examples,
docc compiles the program with ``remote_tuning=True`` through that server, and `@loopbook.native`
compiles it with the same book; both and docc's own compile run in turn. Compared are the fastest
runs; the numbers must be docc's. Each kernel has a process of its own: docc may end it. ``--demo``
asks a demo server in place of that one, for the examples, which its canned answers are for.
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
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.serving import demo_serve, serve
from loopbook.targets import DEFAULT

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ("contraction", "transposed_chain", "stencil")
SECONDS = 900.0


def one(name: str, preset: str, target: str, rounds: int) -> dict[str, Any]:
    """Compile one program in three ways and time them in turn; runs in a process of its own."""
    import numpy as np

    import loopbook
    from loopbook.toolchain import compiler
    from loopbook.workloads import polybench
    from loopbook.workloads.workload import load_workload

    compiler.activate()
    from docc.python import native

    example = ROOT / "examples" / f"{name}.py"
    workload = load_workload(example) if name in EXAMPLES else polybench.load(name)
    wanted = "L" if name in EXAMPLES and preset == "LARGE" else preset
    ways = {
        "docc": native(target=target)(workload.kernel),
        "remote": native(target=target, remote_tuning=True)(workload.kernel),
        "native": loopbook.native(target=target)(workload.kernel),
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    results: dict[str, list[np.ndarray]] = {}
    compiled = {}
    for way, program in ways.items():
        arguments = workload.arguments(wanted)
        begun = time.perf_counter()
        program.compile(*arguments)
        compiled[way] = time.perf_counter() - begun
        program(*arguments)
        results[way] = [a for a in arguments if isinstance(a, np.ndarray)]
    for _ in range(rounds):
        for way, program in ways.items():
            arguments = workload.arguments(wanted)
            begun = time.perf_counter()
            program(*arguments)
            times[way].append(time.perf_counter() - begun)
    right = all(
        np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True)
        for way in ("remote", "native")
        for a, b in zip(results["docc"], results[way], strict=True)
    )
    best = {way: min(taken) for way, taken in times.items()}
    return {"program": name, "right": right, "compile_s": compiled, "seconds": best}


def main() -> int:
    parser = argparse.ArgumentParser(description="docc with remote tuning, and @loopbook.native.")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--preset", default="LARGE")
    parser.add_argument("--target", default=DEFAULT)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one, options.preset, options.target, options.rounds)))
        return 0
    from loopbook.workloads import polybench

    everything = EXAMPLES if options.demo else (*EXAMPLES, *polybench.names())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "book.db")
        server, url, token = (*demo_serve(), "any") if options.demo else serve(store)
        surroundings = {
            **os.environ,
            "RPC_SERVER": f"{url}/docc",
            "DOCC_ACCESS_TOKEN": token,
            "LOOPBOOK_BOOK": store,
        }
        try:
            for name in options.programs or everything:
                words = [sys.executable, __file__, "--one", name, "--preset", options.preset]
                words += ["--target", options.target, "--rounds", str(options.rounds)]
                row = _run(words, name, surroundings)
                rows.append(row)
                print(json.dumps(row) if options.json else _line(row), flush=True)
        finally:
            server.terminate()
            server.wait(60)
    good = [row["seconds"] for row in rows if "seconds" in row]
    if good and not options.json:
        for way in ("remote", "native"):
            mean = statistics.geometric_mean(s["docc"] / s[way] for s in good)
            print(f"geometric mean over docc: {way} {mean:.2f}x")
        mean = statistics.geometric_mean(s["native"] / s["remote"] for s in good)
        print(f"remote over native: {mean:.2f}x")
    return 0 if len(good) == len(rows) and all(row["right"] for row in rows) else 1


def _run(words: list[str], name: str, surroundings: dict[str, str]) -> dict[str, Any]:
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=SECONDS, env=surroundings, check=False
        )
        return json.loads(done.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return {"program": name, "right": False, "error": "it did not end well"}


def _line(row: dict[str, Any]) -> str:
    if "seconds" not in row:
        return f"{row['program']:<18} {row['error']}"
    own, remote, native = (row["seconds"][way] for way in ("docc", "remote", "native"))
    right = "right" if row["right"] else "WRONG"
    return (
        f"{row['program']:<18} docc {own:9.4f} s  remote {remote:9.4f} s {own / remote:7.2f}x"
        f"  native {native:9.4f} s {own / native:7.2f}x  {right}"
    )


if __name__ == "__main__":
    sys.exit(main())
