"""``loopbook.bench``: what is compared may be a path, a name, a workload or a function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopbook import targets
from loopbook.client import bench as one
from loopbook.client.served import Book, opened
from loopbook.client.verify import RUN_SECONDS
from loopbook.display import brief, seconds, table, times
from loopbook.workloads.given import usual_preset, workload_of

if TYPE_CHECKING:
    from loopbook.workloads.workload import Workload


class BenchReport(dict[str, Any]):
    """What ``loopbook bench --json`` prints of one kernel; its keys are told by
    `loopbook.client.bench.bench`.

    ::

        told = loopbook.bench("gemm", preset="S")
        told["speedup"], told["correct"]
    """

    def __repr__(self) -> str:
        right = "right" if self["correct"] else "WRONG"
        told = f"{self['kernel']} {self['preset']} {self['target']}: {times(self['speedup'])}"
        return brief(self, f"{told} over {self['baseline']}, {right}")

    def _repr_html_(self) -> str:
        base, mine = self["baseline"], self["optimized_s"]
        rows = [(base, seconds(self["baseline_s"]), times(self["baseline_s"] / mine))]
        if self["python_s"] is not None and base != "python":
            rows.append(("python", seconds(self["python_s"]), times(self["python_speedup"])))
        rows.append(("loopbook", seconds(mine), "right" if self["correct"] else "WRONG"))
        what = f"{self['kernel']} {self['preset']} {self['target']}"
        found = [
            (" ".join(n["loops"]), n["tier"], n["neighbour"], "; ".join(n["recipe"].splitlines()))
            for n in self["nests"]
        ]
        compared = table(("what", "fastest run", "loopbook is faster by"), rows, what)
        return compared + table(("loops", "tier", "neighbour", "recipe"), found)


def bench(
    program: Workload | str | Path | Callable[..., Any],
    *arguments: Any,
    preset: str | None = None,
    target: str = targets.DEFAULT,
    book: Book = None,
    exclude: Collection[str] = (),
    measure: bool = True,
    seconds: float = one.SECONDS,
    sizes: Mapping[str, int] | None = None,
    timeout: float = RUN_SECONDS,
    report: bool | None = None,
) -> BenchReport:
    """Compile a program as docc does and as the book says, check the numbers, and time both, and
    Python, in turn.

    ::

        loopbook.bench("kernel.py", preset="L")    # a workload file
        loopbook.bench("gemm")                     # a kernel of PolyBench
        loopbook.bench(kernel, A, B, C)            # a function, decorated or not, and its arguments

    Args:
        program: a workload file (``FILE.py`` or ``FILE.py:FUNC``, which is run), the name of a
            kernel, a `loopbook.workloads.workload.Workload`, or a function.
        arguments: of a function; what is run are copies.
        preset: of a workload; default a quick one, "M" or "S".
        target: a name in `loopbook.targets.TARGETS`.
        book: an open `LayeredBook`, or the path of one to put over the starter book; default the
            user's.
        exclude, measure, seconds, sizes, timeout, report: see `loopbook.client.bench.bench`.

    Raises:
        InputError: there is no such program, preset or target.
        LoopbookError: it cannot be traced, compiled or run.
    """
    workload = workload_of(program, arguments)
    with opened(book) as layered:
        return BenchReport(
            one.bench(
                workload,
                preset or usual_preset(workload.parameters),
                target,
                layered,
                exclude=exclude,
                measure=measure,
                seconds=seconds,
                sizes=sizes,
                timeout=timeout,
                report=report,
            )
        )
