"""What two versions of loopbook make of PolyBench's kernels, timed in turns.

    python benchmarks/versions.py CHECKOUT --out FILE.jsonl [--preset LARGE]
        [--target sequential openmp] [--only KERNEL …] [--rounds 5] [--cores 1 0]

CHECKOUT is a clone at the older commit. Each version compiles the kernel, with its own book and
nothing measured, in a process of its own, and is stopped while the other runs; their results are
compared. FILE gets a line a kernel as soon as it is done, and a run that was ended goes on there.
The last line printed for a target is the geometric mean of before over after.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
TOLERANCE = 1e-7
"""Relative to the largest element: orders of summation differ."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="the older version")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--preset", default="LARGE")
    parser.add_argument("--target", nargs="+", default=["sequential"])
    parser.add_argument("--only", nargs="+", metavar="KERNEL")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds of runs for a version")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one compilation")
    parser.add_argument("--cores", type=int, nargs="+", help="the last ones, if not given")
    options = parser.parse_args()
    from benchmarks import lines
    from loopbook.workloads import polybench

    done = {(line["target"], line["kernel"]): line for line in lines.read(options.out)}
    for target in options.target:
        for kernel in options.only or polybench.names():
            if (target, kernel) not in done:
                done[target, kernel] = _contest(kernel, target, options)
                lines.append(options.out, done[target, kernel])
            print(_row(done[target, kernel]), flush=True)
        ratios = [r["ratio"] for (t, _), r in done.items() if t == target and "ratio" in r]
        mean = float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")
        print(f"{target}: {len(ratios)} kernels, before / after {mean:.3f}", flush=True)
    return 1 if any("failed" in line for line in done.values()) else 0


def _contest(kernel: str, target: str, options: argparse.Namespace) -> dict[str, Any]:
    """One kernel, both versions in turns."""
    from benchmarks.systems.child import Child, Failed

    cores = options.cores or sorted(os.sched_getaffinity(0), reverse=True)
    cores = cores[:1] if target == "sequential" else cores
    line: dict[str, Any] = {"kernel": kernel, "target": target, "preset": options.preset}
    with tempfile.TemporaryDirectory() as folder:
        children: dict[str, Child] = {}
        try:
            for side, root in (("before", options.checkout.resolve()), ("after", ROOT)):
                place = Path(folder) / side
                place.mkdir()
                job = [kernel, target, options.preset, *map(str, cores)]
                children[side] = child = Child(
                    [sys.executable, str(Path(__file__).resolve()), "--worker", *job],
                    place,
                    len(cores),
                    {"PYTHONPATH": str(root)},
                )
                line[f"{side}_compile_s"] = child.answer(options.limit, "compiling")["seconds"]
                child.pause()
            times = _in_turns(children, options)
            line |= {f"{side}_s": min(seconds) for side, seconds in times.items()}
            line["ratio"] = line["before_s"] / line["after_s"]
            line["difference"] = _difference(*(Path(folder) / side for side in children))
            if line["difference"] > TOLERANCE:
                line["failed"] = f"results differ by {line['difference']:.1e}"
        except Failed as failed:
            line["failed"] = f"{'/'.join(children)}: {failed.reason}"
        finally:
            for child in children.values():
                child.__exit__()
    return line


def _in_turns(children: dict[str, Any], options: argparse.Namespace) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {side: [] for side in children}
    for turn in range(options.rounds):
        for side in list(children)[:: 1 if turn % 2 else -1]:
            if sum(times[side]) < options.budget or not times[side]:
                answer = children[side].ask("run", options.limit, "running")
                times[side].append(answer["seconds"])
    return times


def _difference(before: Path, after: Path) -> float:
    """Greatest difference of two runs' results, relative to the largest element."""
    worst = 0.0
    with np.load(before / "results.npz") as old, np.load(after / "results.npz") as new:
        for name in old.files:
            one, other = old[name], new[name]
            largest = max(float(np.max(np.abs(one), initial=0.0)), 1e-300)
            worst = max(worst, float(np.max(np.abs(one - other), initial=0.0)) / largest)
    return worst


def _row(line: dict[str, Any]) -> str:
    name = f"{line['kernel']:16} {line['target']:10}"
    if "ratio" not in line:
        return f"{name} {line['failed']}"
    return (
        f"{name} before {line['before_s'] * 1e3:9.2f} ms, after {line['after_s'] * 1e3:9.2f} ms, "
        f"ratio {line['ratio']:.3f}  {line.get('failed', '')}"
    )


def worker(kernel: str, target: str, preset: str, *cores: str) -> None:
    """Compiles with the loopbook that is on the path, then times a run for each line it reads."""
    os.sched_setaffinity(0, {int(core) for core in cores})
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    import loopbook
    from loopbook.workloads import polybench

    workload = polybench.load(kernel)
    compiled = loopbook.native(workload.kernel, target=target, strict=True)
    arguments = workload.arguments(preset)
    begun = time.perf_counter()
    compiled(*arguments)
    seconds = time.perf_counter() - begun
    np.savez("results.npz", *workload.results(arguments))
    answers.write(json.dumps({"event": "compiled", "seconds": seconds}) + "\n")
    for _ in sys.stdin:
        arguments = workload.arguments(preset)
        begun = time.perf_counter()
        compiled(*arguments)
        seconds = time.perf_counter() - begun
        answers.write(json.dumps({"event": "ran", "seconds": seconds}) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(*sys.argv[2:])
    else:
        sys.path.insert(0, str(ROOT))
        sys.exit(main())
