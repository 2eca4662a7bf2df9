"""``loopbook bench``: docc's own compile, Python and ours, timed in turn."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook import display, targets
from loopbook.cli import options, style
from loopbook.cli.answers import UNSET, Answer, Left, answers, listed
from loopbook.cli.plans import Nest, whence
from loopbook.cli.progress import progress
from loopbook.cli.source import load_workload
from loopbook.errors import LoopbookError
from loopbook.printable import show

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

STEPS = 24
"""Steps that are shown of all nests of a kernel together."""


class Bench(Answer, kw_only=True):
    """A kernel as docc compiles it, as Python, and as the book has it compiled: seconds are those
    of the fastest runs.

    Attributes:
        baseline_s: of docc's own compile, or of what `baseline` says.
        optimized_s: of what the book serves.
        speedup: the one over the other.
        correct: what is served gives the numbers of its unoptimised program at this size, and
            Python's at the largest that Python can do.
        wrong_reason: why not.
        reference: what numbers were compared with: python, or docc where Python takes too long.
        reference_preset, reference_sizes: where.
        docc_wrong: docc's own compile gives other numbers than Python, or is known to.
        docc_wrong_reason: how.
        docc_failed: why docc has no program of the function as it is written.
        lowered: the kernel was turned into loops.
        not_lowered: why it could not be, so that Python is what is served and timed.
        baseline: docc; where docc has no program that is right, loops for docc's schedule of our
            loops, or python.
        python_s: of the Python function; null where it was not timed.
        python_speedup: over it.
        python_skipped: why it was not timed.
        fastest: loopbook, docc or python.
    """

    kernel: str
    preset: str
    target: str
    baseline_s: float
    optimized_s: float
    speedup: float
    correct: bool
    nests: list[Nest]
    reference: str
    reference_preset: str | Left = UNSET
    reference_sizes: dict[str, int] | Left = UNSET
    docc_wrong: bool
    docc_wrong_reason: str | Left = UNSET
    wrong_reason: str | Left = UNSET
    lowered: bool
    not_lowered: str | Left = UNSET
    baseline: str
    docc_failed: str | Left = UNSET
    python_s: float | None
    python_speedup: float | None
    python_skipped: str | Left = UNSET
    fastest: str


@answers(Bench, list[Bench])
def bench(
    files: Annotated[
        list[str], typer.Argument(help="FILE.py[:FUNC]…, PolyBench names, or 'polybench' for all")
    ],
    preset: options.Preset = "",
    target: options.Target = targets.DEFAULT,
    size: options.Size = None,
    book: options.BookPath = None,
    exclude: options.Exclude = None,
    measure: Annotated[
        bool, typer.Option(help="try choices on the spot and keep the fastest")
    ] = True,
    seconds: Annotated[float, typer.Option(help="time for measuring each kernel", min=0.01)] = 4.0,
    timeout: Annotated[float, typer.Option(help="limit for all runs of a kernel, seconds")] = 900.0,
    report: Annotated[
        bool | None,
        typer.Option("--report", help="tell the book and the server how the recipe did"),
    ] = None,
    json: options.Json = False,
) -> int:
    """Time docc, Python and us in turn, and check the numbers.

    A kernel made of arrays is compiled as explicit loops.

    Exit code 1 if some kernel's numbers are wrong or it could not be measured.
    """
    targets.runnable(target)
    sizes = options.read_sizes(size)
    with progress(f"reading {', '.join(files)}"):
        from loopbook.client.bench import bench as bench_one
        from loopbook.client.opening import open_book
        from loopbook.workloads import polybench
        from loopbook.workloads.given import usual_preset

        names = [n for f in files for n in (polybench.names() if f == "polybench" else [f])]
        workloads = [load_workload(name) for name in names]
    failed, alone = False, len(workloads) == 1
    with (
        listed(Bench, json, alone=alone) as found,
        progress("opening the books", len(workloads), "kernel") as shown,
        open_book(book) as layered,
    ):
        heads = [_row(*HEADS, bold=True)]
        for number, workload in enumerate(workloads):
            wanted = preset or usual_preset(workload.parameters)
            shown.job(number)
            shown.stage(f"{workload.name} {wanted} {target}")
            try:
                told = bench_one(
                    workload,
                    wanted,
                    target,
                    layered,
                    exclude=exclude or [],
                    measure=measure,
                    seconds=seconds,
                    sizes=sizes or None,
                    timeout=timeout,
                    report=report,
                    tell=lambda stage, done, total: shown.at(done, total, stage),
                )
            except LoopbookError as error:
                if alone:
                    raise
                failed = True
                show(f"loopbook: {workload.name}: {error}", file=sys.stderr, flush=True)
                continue
            failed |= not told["correct"]
            found.append(told)
            if not json:
                shown.tell(*heads, *_parts(told, alone=alone))
                heads.clear()
    return 1 if failed else 0


HEADS = ("kernel", "size", "docc", "Python", "loopbook", "gain", "numbers")

WIDTHS = (-18, -11, 8, 8, 8, 9, -8)
"""Columns of each; negative for words, which begin at the left."""


def _row(*cells: Text | str, bold: bool = False) -> Text:
    """A line of the table, which grows as kernels are done."""
    made = []
    for cell, width in zip(cells, WIDTHS, strict=True):
        one = style.text(cell, style.HEAD if bold else "") if isinstance(cell, str) else cell.copy()
        one.truncate(abs(width), overflow="ellipsis")
        one.align("left" if width < 0 else "right", abs(width))
        made.append(one)
    return style.joined(*made, between=" ")


def _parts(told: Mapping[str, Any], *, alone: bool) -> Iterator[RenderableType]:
    """The line of a kernel, and what is to be said of it.

    Args:
        alone: of one kernel, what it got is shown as well.
    """
    python, baseline = told["python_s"], told["baseline"]
    yield _row(
        style.text(told["kernel"], style.NAME),
        told["preset"],
        display.seconds(told["baseline_s"]) if baseline != "python" else "-",
        display.seconds(python) if python is not None else "-",
        display.seconds(told["optimized_s"]),
        style.gain(told["speedup"]),
        style.verdict(told["correct"], "right" if told["correct"] else "WRONG"),
    )
    for line in remarks(told):
        yield style.indented(line)
    if not alone or not told["nests"]:
        return
    served = [nest for nest in enumerate(told["nests"]) if nest[1]["tier"] != "none"]
    left = len(told["nests"]) - len(served)
    yield ""
    for number, nest in served:
        yield style.heading(f"nest {number}", " ".join(nest["loops"]), whence(nest))
        steps = nest["recipe"].splitlines() or ["no steps: its program, prepared, is faster"]
        for step in style.some(steps, max(STEPS // len(served), 3), "steps"):
            yield f"    {step}"
    if left:
        count = "the nest has" if left == 1 and not served else f"{left} nests have"
        yield f"{count} docc's own schedule"


def remarks(told: Mapping[str, Any]) -> Iterator[str]:
    """What the times alone do not say."""
    if told["fastest"] == "python":
        yield "Python (NumPy) itself is the fastest here"
    if told["docc_wrong"]:
        at = told["preset"] if told["lowered"] else told["reference_preset"]
        yield f"docc is wrong here, Python says, at {at}: {told['docc_wrong_reason']}"
    elif not told["correct"]:
        yield f"wrong: {told['wrong_reason']}"
    if "docc_failed" in told:
        yield f"docc has no program of its own here: {told['docc_failed']}"
    if told["baseline"] == "loops":
        yield "so it is compared with docc's schedule of the same loops"
    if "not_lowered" in told:
        yield f"it runs as Python: {told['not_lowered']}"
    if "python_skipped" in told:
        yield f"Python was not timed: {told['python_skipped']}"
