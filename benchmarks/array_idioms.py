"""Short programs in NumPy's form that nobody has tuned, compiled and as NumPy runs them.

    python benchmarks/array_idioms.py --out FILE.jsonl [--only PROGRAM …] [--core 1] [--seconds 1.5]
        [--loopbook CHECKOUT]

Each is compiled by `@loopbook.native` for one thread and called in turns with the Python function;
results, arguments afterwards and types are compared. CHECKOUT is a clone at an older commit, whose
loopbook is asked instead of this one. Times are those of the thread's processor, so that other
processes count less. FILE gets a line for each program; the last lines printed are the geometric
mean of NumPy's time over ours, and how many programs are slower than in NumPy.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np

HERE = Path(__file__).resolve().parent

FEWEST, MOST = 7, 60
"""Calls that either is timed in."""

WARM = 4
"""Calls before these, in which loopbook itself finds out whether Python is faster."""

SLOWER = 0.95
"""Of NumPy's speed; what has less is counted."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", metavar="PROGRAM")
    parser.add_argument("--core", type=int)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--loopbook", type=Path, default=HERE.parent)
    options = parser.parse_args()
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    warnings.simplefilter("ignore")
    sys.path[:0] = [str(options.loopbook.resolve()), str(HERE / "array_idioms")]
    cases, programs = map(importlib.import_module, ("cases", "programs"))
    found = []
    with options.out.open("a") as file:
        for name in options.only or cases.CASES:
            line = compared(getattr(programs, name), cases.CASES[name](), options.seconds)
            file.write(json.dumps({"program": name, **line}) + "\n")
            file.flush()
            found.append(line["numpy_s"] / line["s"])
            print(f"{name:22} {found[-1]:7.2f} times NumPy {line}", flush=True)
    print(f"geometric mean of {len(found)}: {statistics.geometric_mean(found):.3f}")
    print(f"slower than NumPy by over 5 %: {sum(one < SLOWER for one in found)}")
    return 0


def compared(program: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> Any:
    """Seconds of the fastest call of each, of our first one, and whether numbers are Python's."""
    import loopbook

    native = loopbook.native(program)
    expected, ours = copied(arguments), copied(arguments)
    begun = time.perf_counter()
    got = native(*ours)
    first = time.perf_counter() - begun
    right = agree([program(*expected), expected], [got, ours])
    for _ in range(WARM):
        native(*copied(arguments))
    times: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds
    while len(times) < FEWEST or (len(times) < MOST and time.perf_counter() < end):
        times.append((timed(native, copied(arguments)), timed(program, copied(arguments))))
    least, numpy = map(min, zip(*times, strict=True))
    return {"s": least, "numpy_s": numpy, "first_s": first, "right": right}


def timed(call: Callable[..., Any], arguments: list[Any]) -> float:
    begun = time.thread_time()
    call(*arguments)
    return time.thread_time() - begun


def copied(values: tuple[Any, ...]) -> list[Any]:
    return [value.copy() if isinstance(value, np.ndarray) else value for value in values]


def agree(expected: Any, got: Any) -> bool:
    if isinstance(expected, tuple | list):
        return len(expected) == len(got) and all(map(agree, expected, got))
    if expected is None:
        return got is None
    same = np.asarray(expected).dtype == np.asarray(got).dtype
    return same and np.allclose(expected, got, rtol=1e-9, atol=1e-12, equal_nan=True)


if __name__ == "__main__":
    raise SystemExit(main())
