"""PolyBench's kernels in both forms, as loops and in NumPy's: the same nests, recipes and times?

    python benchmarks/forms.py CHECKOUT --out FOLDER [--preset MEDIUM] [--only gemm lu …] [--core N]

CHECKOUT is one of github.com/spcl/npbench, whose versions of these kernels are array programs;
nothing of it is kept here. The loops are our workloads. Both are compiled by ``@loopbook.native``
at the loops' sizes, without measuring anything, and timed in turn. What both compute is compared
with Python elsewhere (``benchmarks/npbench.py``, the tests).

``same nests`` counts nests of the array program that the loops have too, by fingerprint; ``same
recipes`` those whose recipe one of the loops' nests has, having none among them, behind steps that
take sums from scalars to their elements as well; ``either`` those of which one is so. FOLDER gets
``forms.jsonl``, one line as soon as a kernel is done, and ``forms.md``.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import loopbook  # noqa: E402
from benchmarks import lines  # noqa: E402
from benchmarks.npbench_suite.programs import find  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from loopbook.client.decision import NestReport  # noqa: E402
from loopbook.errors import LoopbookError  # noqa: E402
from loopbook.toolchain.interleaved import Runnable, in_turn  # noqa: E402
from loopbook.toolchain.sandbox import run_limited  # noqa: E402
from loopbook.toolchain.times import Schedule  # noqa: E402
from loopbook.workloads import polybench  # noqa: E402

SECONDS = 300.0
WITHIN = 1.1
"""Times the other form's time."""

SCHEDULE = Schedule(repeats=40, seconds=1.0, at_least=5)

Result = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--preset", default="MEDIUM")
    parser.add_argument("--only", nargs="+", metavar="KERNEL")
    parser.add_argument("--core", type=int, help="to stay on")
    options = parser.parse_args()
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "forms.jsonl"
    done = {one["kernel"] for one in lines.read(file)}
    for kernel in options.only or polybench.names():
        if kernel in done:
            continue
        try:
            result = run_limited(
                compared, kernel, options.checkout, options.preset, seconds=SECONDS, what=kernel
            )
        except (LoopbookError, KeyError) as error:
            result = {"kernel": kernel, "error": str(error)}
        lines.append(file, result)
        print(result, flush=True)
    text = table(lines.read(file), options.preset)
    (options.out / "forms.md").write_text(text)
    print(text)
    return 0


def compared(kernel: str, checkout: Path, preset: str) -> Result:
    """One kernel in both forms.

    Raises:
        KeyError: NPBench has no such program.
        LoopbookError: it cannot be compiled.
    """
    workload = polybench.load(kernel)
    names = {"2mm": "k2mm", "3mm": "k3mm"}
    program = find(checkout)[names.get(kernel, kernel.replace("-", "_"))]
    sizes = workload.parameters[preset]
    program = replace(program, presets={preset: sizes})
    loops, plan_of_loops = _compiled(workload.kernel, workload.arguments(preset))
    arrays, plan_of_arrays = _compiled(program.load("numpy"), program.arguments(preset))
    timed = in_turn([loops, arrays], SCHEDULE, seconds=SECONDS)
    if errors := [one.error for one in timed if one.error]:
        return {"kernel": kernel, "error": errors[0]}
    fingerprints = Counter(one.fingerprint for one in plan_of_loops)
    recipes = {one.recipe for one in plan_of_loops}
    same = [_of_elements(one.recipe) in recipes for one in plan_of_arrays]
    either = [
        known or one.fingerprint in fingerprints
        for known, one in zip(same, plan_of_arrays, strict=True)
    ]
    return {
        "kernel": kernel,
        "loops": min(timed[0].seconds),
        "arrays": min(timed[1].seconds),
        "nests": len(plan_of_arrays),
        "nests of loops": len(plan_of_loops),
        "same nests": (Counter(one.fingerprint for one in plan_of_arrays) & fingerprints).total(),
        "same recipes": sum(same),
        "either": sum(either),
    }


def _of_elements(recipe: str) -> str:
    """What a recipe does to the nest that sums up in elements."""
    lines = recipe.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("reg2mem"))


def _compiled(
    function: Callable[..., Any], arguments: Sequence[Any]
) -> tuple[Runnable, Sequence[NestReport]]:
    program = loopbook.native(function)
    program.compile(*arguments)
    assert program.plan is not None
    return Runnable(lambda: program, arguments), program.plan.nests


def table(results: Sequence[Result], preset: str) -> str:
    """The results as Markdown."""
    made = ["# PolyBench's kernels as loops and in NumPy's form", "", provenance(), ""]
    made += [f"Preset {preset}, one thread, the least of the times of runs in turn.", ""]
    heads = ("kernel", "loops", "NumPy's form", "its time over the loops'", "its nests")
    heads += ("of these the loops have", "with a recipe of the loops'", "either")
    made += [_row(heads), _row(["---"] * len(heads))]
    good = [one for one in results if "error" not in one]
    for one in good:
        loops, arrays = one["loops"], one["arrays"]
        times = f"{loops * 1e3:.3g} ms", f"{arrays * 1e3:.3g} ms", f"{arrays / loops:.2f}"
        counts = [str(one[name]) for name in ("nests", "same nests", "same recipes", "either")]
        made.append(_row([one["kernel"], *times, *counts]))
    made += [_row([one["kernel"], one["error"]]) for one in results if "error" in one]
    ratios = [one["arrays"] / one["loops"] for one in good]
    if ratios:
        near = sum(1 / WITHIN <= ratio <= WITHIN for ratio in ratios)
        no_slower = sum(ratio <= WITHIN for ratio in ratios)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        alike = sum(one["nests"] == one["either"] for one in good)
        made += [
            "",
            f"Of {len(good)} kernels {near} are within 10 % of each other, {no_slower} are at most"
            f" 10 % slower in NumPy's form (geometric mean {mean:.2f}); of {alike} all nests are"
            " the loops', or have a recipe of the loops'.",
        ]
    return "\n".join(made) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    raise SystemExit(main())
