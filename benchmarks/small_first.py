"""PolyBench's kernels at a large size, where the first call was a small one.

    python benchmarks/small_first.py --out FILE.jsonl [--first MINI] [--preset LARGE]
        [--only KERNEL …] [--loopbook CHECKOUT] [--rounds 5] [--core 1]

Recipes are chosen for the first call's sizes. Each kernel is compiled twice, once for the large
size and once after two calls at the small one; then both are called at the large size, in turns.
CHECKOUT is a clone at an older commit, whose loopbook is asked instead of this one. FILE gets a
line for each kernel; the last line printed is the geometric mean of what the small call costs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--first", default="MINI")
    parser.add_argument("--preset", default="LARGE")
    parser.add_argument("--only", nargs="+", metavar="KERNEL")
    parser.add_argument("--loopbook", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--core", type=int)
    options = parser.parse_args()
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(options.loopbook.resolve()))
    from loopbook.workloads import polybench

    costs = []
    with options.out.open("a") as file:
        for kernel in options.only or polybench.names():
            line = {"kernel": kernel, **compared(polybench.load(kernel), options)}
            file.write(json.dumps(line) + "\n")
            file.flush()
            costs.append(line["after_small_s"] / line["s"])
            print(f"{kernel}: {costs[-1]:.2f} times as long {line}", flush=True)
    print(f"geometric mean of {len(costs)}: {statistics.geometric_mean(costs):.3f}")
    return 0


def compared(workload: Any, options: argparse.Namespace) -> dict[str, float]:
    """Seconds of the fastest call of each, and of the first large one after the small ones."""
    import loopbook

    direct, after = loopbook.native(workload.kernel), loopbook.native(workload.kernel)
    seconds(direct, workload, options.preset)
    for _ in range(2):
        seconds(after, workload, options.first)
    first = seconds(after, workload, options.preset)
    times = [
        [seconds(program, workload, options.preset) for program in (direct, after)]
        for _ in range(options.rounds)
    ]
    one, other = map(min, zip(*times, strict=True))
    return {"s": one, "after_small_s": other, "first_large_s": first}


def seconds(program: Any, workload: Any, preset: str) -> float:
    """How long a call takes, with data of its own."""
    arguments = [
        np.array(value) if isinstance(value, np.ndarray) else value
        for value in workload.arguments(preset)
    ]
    begun = time.perf_counter()
    program(*arguments)
    return time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
