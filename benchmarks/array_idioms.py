"""Short programs in NumPy's form that nobody has tuned, compiled and as NumPy runs them.

    python benchmarks/array_idioms.py --out FILE.jsonl [--only PROGRAM …] [--core 1] [--seconds 1.5]
        [--loopbook CHECKOUT] [--programs in_part]

Each is compiled by `@loopbook.native` for one thread and called in turns with the Python function;
results, arguments afterwards and types are compared. CHECKOUT is a clone at an older commit, whose
loopbook is asked instead of this one. Times are those of the thread's processor, so that other
processes count less. FILE gets a line for each program; the last lines printed are the geometric
mean of NumPy's time over ours, and how many programs are slower than in NumPy. The programs of
``in_part`` hold something without a form in loops, which stays Python: transforms, eigenvalues,
dicts, texts, generators of random numbers.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported

import beside
import numpy as np

FEWEST, MOST = 7, 60
"""Calls that either is timed in."""

WARM = 4
"""Calls before these, in which loopbook itself finds out whether Python is faster."""

SLOWER = 0.95
"""Of NumPy's speed; what has less is counted."""


def main() -> int:
    parser = beside.parser(__doc__, "PROGRAM")
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--programs", choices=("array_idioms", "in_part"), default="array_idioms")
    options = parser.parse_args()
    cases, programs = beside.modules(options, options.programs, "cases", "programs")
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
    expected, ours = beside.copied(arguments), beside.copied(arguments)
    begun = time.perf_counter()
    got = native(*ours)
    first = time.perf_counter() - begun
    right = agree([program(*expected), expected], [got, ours])
    for _ in range(WARM):
        native(*beside.copied(arguments))
    times: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds
    while len(times) < FEWEST or (len(times) < MOST and time.perf_counter() < end):
        times.append(
            (timed(native, beside.copied(arguments)), timed(program, beside.copied(arguments)))
        )
    least, numpy = map(min, zip(*times, strict=True))
    return {"s": least, "numpy_s": numpy, "first_s": first, "right": right}


def timed(call: Callable[..., Any], arguments: list[Any]) -> float:
    begun = time.thread_time()
    call(*arguments)
    return time.thread_time() - begun


def agree(expected: Any, got: Any) -> bool:
    if isinstance(expected, tuple | list):
        return len(expected) == len(got) and all(map(agree, expected, got))
    if expected is None or isinstance(expected, str):
        return expected == got
    same = np.asarray(expected).dtype == np.asarray(got).dtype
    return same and np.allclose(expected, got, rtol=1e-9, atol=1e-12, equal_nan=True)


if __name__ == "__main__":
    raise SystemExit(main())
