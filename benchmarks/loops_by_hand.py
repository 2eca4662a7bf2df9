"""Kernels that nobody has tuned, written as loops in Python and by hand in C.

    python benchmarks/loops_by_hand.py --out FILE.jsonl [--only KERNEL …] [--core 1] [--rounds 40]
        [--loopbook CHECKOUT]

None of them is in a book. Each is compiled by `@loopbook.native` and by clang, for one thread, and
called in turns; the numbers of both are compared with those of the Python function. CHECKOUT is a
clone at an older commit, whose loopbook is asked instead of this one. FILE gets a line for each
kernel; the last lines printed are the geometric mean of C's time over ours, and how many kernels
have at least 0.7 and 0.95 of C's speed.
"""

from __future__ import annotations

import ctypes
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import beside
import numpy as np

SOURCES = beside.HERE / "loops_by_hand"

FLAGS = "-O3 -march=native -fno-math-errno -fveclib=libmvec -shared -fPIC -lmvec -lm"

ENOUGH = 1e-9
"""Relative difference of two numbers that are taken for the same."""


def main() -> int:
    parser = beside.parser(__doc__, "KERNEL")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    cases, kernels = beside.modules(options, "loops_by_hand", "cases", "kernels")
    library = compiled()
    found = []
    with options.out.open("a") as file:
        for name in options.only or cases.CASES:
            line = compared(
                getattr(kernels, name), library[name], cases.CASES[name], options.rounds
            )
            file.write(json.dumps({"kernel": name, **line}) + "\n")
            file.flush()
            found.append(line["c_s"] / line["s"])
            print(f"{name:15} {found[-1]:5.2f} of C {line}", flush=True)
    print(f"geometric mean of {len(found)}: {statistics.geometric_mean(found):.3f}")
    for share in (0.7, 0.95):
        print(f"at least {share} of C: {sum(one >= share for one in found)}")
    return 0


def compiled() -> ctypes.CDLL:
    """The kernels in C."""
    folder = tempfile.mkdtemp()
    library = f"{folder}/kernels.so"
    clang = os.environ.get("CC", "clang-19")
    subprocess.run([clang, str(SOURCES / "kernels.c"), *FLAGS.split(), "-o", library], check=True)
    return ctypes.CDLL(library)


def compared(
    kernel: Callable[..., Any], by_hand: Any, case: Any, rounds: int
) -> dict[str, float | bool]:
    """Seconds of the fastest call of each, of our first one, and whether numbers are Python's."""
    import loopbook

    make, sizes = case
    arguments = make()
    native = loopbook.native(kernel)
    expected, ours, theirs = (beside.copied(arguments) for _ in range(3))
    kernel(*expected)
    begun = time.perf_counter()
    native(*ours)
    first = time.perf_counter() - begun
    by_hand.restype = None
    words = [*map(word, theirs), *map(ctypes.c_long, sizes)]
    by_hand(*words)
    right = agree(expected, ours)
    if not agree(expected, theirs):
        raise SystemExit(f"{kernel.__name__}: C has other numbers than Python")
    for _ in range(4):  # in which Python is timed as well
        native(*beside.copied(arguments))
    times = []
    for _ in range(rounds):
        pair = []
        for call, values in ((lambda: by_hand(*words), theirs), (lambda: native(*ours), ours)):
            fill(values, arguments)
            begun = time.perf_counter()
            call()
            pair.append(time.perf_counter() - begun)
        times.append(pair)
    c, s = map(min, zip(*times, strict=True))
    return {"s": s, "c_s": c, "first_s": first, "right": right}


def fill(values: Sequence[Any], originals: Sequence[Any]) -> None:
    """Give arrays what they held to begin with."""
    for value, original in zip(values, originals, strict=True):
        if isinstance(value, np.ndarray):
            value[...] = original


def agree(expected: Sequence[Any], got: Sequence[Any]) -> bool:
    return all(
        np.allclose(one, other, rtol=ENOUGH) for one, other in zip(expected, got, strict=True)
    )


def word(value: Any) -> Any:
    """An argument as C takes it."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_double(value)


if __name__ == "__main__":
    raise SystemExit(main())
