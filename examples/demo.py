"""The main job: kernels that the book has never met become faster. Run by ``make demo``.

    python examples/demo.py [--preset L] [--target sequential] [--book PATH]

For each example: the neighbour found and its distance, the recipe ported from it, the time of
docc's own schedule and of ours, run in turn, the speedup, and whether the numbers agree with those
of the unoptimised program. Two of the examples are products, which would be calls of BLAS where
there is a tuned one: what the book knows of them is shown.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import loopbook
from loopbook.workloads.workload import load_workload

EXAMPLES = ("contraction", "transposed_chain", "stencil")


def show(told: dict[str, Any], took: float) -> None:
    sizes = f"preset {told['preset']}, {told['target']}"
    print(f"\n{told['kernel']} ({sizes})")
    for number, nest in enumerate(told["nests"]):
        found = "nothing near in the book"
        if nest["neighbour"]:
            found = f"nearest {nest['neighbour']} at distance {nest['distance']:.3f}"
        print(f"  nest {number} ({' '.join(nest['loops'])}): {found}")
        if nest["recipe"]:
            print("".join(f"      {step}\n" for step in nest["recipe"].splitlines()), end="")
        elif nest["tier"] == "none":
            print("      docc's own schedule")
    print(
        f"  docc {told['baseline_s']:.4g} s, loopbook {told['optimized_s']:.4g} s:"
        f" {told['speedup']:.2f}× faster; numbers {'agree' if told['correct'] else 'DIFFER'}"
        f"  (all of this took {took:.0f} s)",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--preset", default="L")
    parser.add_argument("--target", default="sequential", choices=("sequential", "openmp"))
    parser.add_argument("--book", help="default: the user's book over the starter book")
    options = parser.parse_args()
    os.environ.setdefault("LOOPBOOK_LIBRARIES", "0")
    right = True
    with loopbook.open(options.book) as book:
        print("Compiling kernels that are not in the book; timing takes about two minutes.")
        for name in EXAMPLES:
            workload = load_workload(Path(__file__).with_name(f"{name}.py"))
            begun = time.monotonic()
            told = loopbook.bench(workload, preset=options.preset, target=options.target, book=book)
            show(told, time.monotonic() - begun)
            right &= told["correct"]
    return 0 if right else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except loopbook.LoopbookError as error:
        sys.exit(f"demo: {error}")
