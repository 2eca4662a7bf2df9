"""How long one look-up takes: JSON → nests → embedding → neighbours → ported, legal steps.

    python benchmarks/lookup.py [--book PATH] [--rounds 50] [--json]

Runs on one core. For every example and PolyBench kernel, the kernel's own records left out, it
times the look-up of the whole prepared program and divides by its nests:

* ``first``: with nothing remembered but the loaded book and encoder; docc is asked step by step
  whether the ported recipe is legal.
* ``again``: the same program in the same process, as a service meets it: what docc allows on a nest
  with this fingerprint, and what each ported recipe promises there, is remembered.

It also times two cold processes: ``import loopbook`` and ``loopbook nearest FILE.json``.
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

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def programs() -> dict[str, str]:
    """Prepared SDFGs by name."""
    from loopbook.sdfg import program
    from loopbook.sdfg.frontend import trace
    from loopbook.workloads import polybench
    from loopbook.workloads.workload import load_workload

    workloads = [load_workload(EXAMPLES / f"{n}.py") for n in ("contraction", "transposed_chain")]
    workloads += [polybench.load(name) for name in polybench.names()]
    texts = {}
    for workload in workloads:
        preset = next(iter(workload.parameters))
        texts[workload.name] = program.prepare(
            trace(workload.kernel, workload.arguments(preset))
        ).to_json()
    return texts


def measure(book: str | None, rounds: int) -> list[dict[str, Any]]:
    from loopbook.client.opening import open_book
    from loopbook.client.plan import make_plan
    from loopbook.targets import DEFAULT

    rows = []
    with open_book(book) as layered:
        for name, text in programs().items():
            times: dict[str, list[float]] = {"first": [], "again": []}
            plan = make_plan(text, DEFAULT, layered, exclude=[name])
            for _ in range(rounds):
                layered.forget()
                for kind in times:
                    begun = time.perf_counter()
                    plan = make_plan(text, DEFAULT, layered, exclude=[name])
                    times[kind].append((time.perf_counter() - begun) * 1e3 / len(plan.nests))
            served = sum(nest.tier != "none" for nest in plan.nests)
            rows.append(
                {
                    "program": name,
                    "nests": len(plan.nests),
                    "served": served,
                    **{f"{kind}_ms": statistics.median(taken) for kind, taken in times.items()},
                }
            )
    return rows


def cold(book: str | None) -> dict[str, float]:
    """Seconds of whole processes, fastest of five."""
    from loopbook.sdfg.frontend import trace
    from loopbook.workloads.workload import load_workload

    workload = load_workload(EXAMPLES / "contraction.py")
    preset = next(iter(workload.parameters))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "contraction.json"
        file.write_text(trace(workload.kernel, workload.arguments(preset)))
        command = [str(Path(sys.executable).with_name("loopbook")), "nearest", str(file)]
        if book:
            command += ["--book", book]
        return {
            "import loopbook": _fastest([sys.executable, "-c", "import loopbook"])
            - _fastest([sys.executable, "-c", "pass"]),
            "loopbook nearest FILE.json": _fastest(command),
        }


def _fastest(command: list[str]) -> float:
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time look-ups, warm and cold.")
    parser.add_argument("--book")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows, processes = measure(options.book, options.rounds), cold(options.book)
    medians = {
        kind: statistics.median(r[f"{kind}_ms"] for r in rows) for kind in ("first", "again")
    }
    if options.json:
        print(json.dumps({"programs": rows, "median_ms": medians, "processes_s": processes}))
        return
    print("program             nests  served  first ms/nest  again ms/nest")
    for row in rows:
        print(
            f"{row['program']:<19} {row['nests']:>5} {row['served']:>7}"
            f" {row['first_ms']:>14.2f} {row['again_ms']:>14.2f}"
        )
    print(f"median over programs: first {medians['first']:.2f} ms, again {medians['again']:.2f} ms")
    for name, taken in processes.items():
        print(f"{name}: {taken:.2f} s (fastest of five processes)")


if __name__ == "__main__":
    main()
