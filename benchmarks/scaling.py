"""How much faster are the book's recipes with two threads than with one?

    python benchmarks/scaling.py [--preset LARGE] [--only KERNEL…] [--book PATH]

Builds every kernel for ``sequential`` and ``openmp`` as ``@loopbook.native`` would, with nothing
measured before, and runs the two in turn. Prints the fastest run of each, and the ratio.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from loopbook.client.opening import open_book
from loopbook.client.plan import build_plan, make_plan
from loopbook.errors import LoopbookError
from loopbook.sdfg import frontend
from loopbook.targets import TARGETS
from loopbook.toolchain.times import Schedule
from loopbook.workloads import polybench

SCHEDULE = Schedule(repeats=9, seconds=2.0, at_least=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--preset", default="LARGE", choices=polybench.PRESETS)
    parser.add_argument("--only", nargs="+", default=polybench.names())
    parser.add_argument("--book", type=Path)
    options = parser.parse_args()
    with open_book(options.book) as layered, tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            workload = polybench.load(name)
            arguments = workload.arguments(options.preset)
            text = frontend.trace(workload.kernel, arguments)
            sizes = frontend.size_symbols(workload.kernel, arguments)
            binding = frontend.binding(workload.kernel, arguments, workload.results)
            try:
                builts = [
                    build_plan(
                        text,
                        make_plan(text, target, layered, sizes=sizes),
                        Path(folder) / f"{name}-{target}",
                    )
                    for target in TARGETS
                ]
                one, two = (min(t.seconds) for t in binding.measure(builts, SCHEDULE))
            except LoopbookError as error:
                print(f"{name:<16} {error}", flush=True)
                continue
            print(f"{name:<16} {one:9.5f} s {two:9.5f} s {one / two:6.2f}x", flush=True)


if __name__ == "__main__":
    main()
