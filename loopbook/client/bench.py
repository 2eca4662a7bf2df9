"""docc's own compile against ours, for one workload, timed in turn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from loopbook.client.plan import make_plan
from loopbook.client.shelf import Shelf
from loopbook.client.verify import RUN_SECONDS, TRIES, Verifier
from loopbook.errors import WorkloadError, WrongResultError
from loopbook.sdfg import scratch
from loopbook.sdfg.build import Built
from loopbook.sdfg.frontend import size_symbols
from loopbook.sdfg.program import TARGETS
from loopbook.sdfg.times import Schedule
from loopbook.workloads import reference
from loopbook.workloads.reference import Reference

if TYPE_CHECKING:
    from loopbook.workloads.workload import Workload

ROUNDS = 41
"""At most; short kernels get all of them within `SECONDS`."""

SECONDS = 4.0


def bench(
    workload: Workload,
    preset: str,
    target: str,
    shelf: Shelf,
    *,
    exclude: Collection[str] = (),
    measure: bool = True,
    seconds: float = SECONDS,
    sizes: Mapping[str, int] | None = None,
    timeout: float = RUN_SECONDS,
) -> dict[str, Any]:
    """Compile a workload as docc does and as the book says, check the numbers, and time both.

    Args:
        exclude: kernels whose records are ignored.
        measure: try several choices on the spot and keep the fastest, or docc's own; False takes
            what the book says, unless its numbers are wrong.
        seconds: for the timing; two rounds are run in any case, three where runs are long.
        sizes: replaces some of the preset's.
        timeout: limit for all runs of one comparison together, seconds.

    Returns:
        What ``loopbook bench --json`` prints: ``kernel, preset, target, baseline_s, optimized_s,
        speedup, correct, nests``, and what it was compared with: ``reference`` ("python", or "docc"
        where Python takes too long), ``reference_preset``, ``reference_sizes``, ``docc_wrong`` and
        ``docc_wrong_reason``. Seconds are those of the fastest runs. `correct` says that the
        program as served gives the unoptimised program's numbers at this size, and that Python's
        numbers are the same, at the largest size that it can do.

    Raises:
        LoopbookError: if the workload cannot be traced, compiled or run.
    """
    if target not in TARGETS:
        raise WorkloadError(f"there is no target {target!r}; take {' or '.join(TARGETS)}")
    arguments = workload.arguments(preset, sizes)
    schedule = Schedule(repeats=ROUNDS, seconds=seconds, at_least=2)
    with scratch.folder() as folder:
        verifier = Verifier(
            workload.kernel,
            arguments,
            target,
            folder,
            results=workload.results,
            seconds=timeout,
        )
        plan = make_plan(
            verifier.text,
            target,
            shelf,
            exclude=exclude,
            choices=TRIES if measure else 1,
            sizes=size_symbols(workload.kernel, arguments),
        )
        shelf.note_misses(plan.missed, target)
        if measure:
            verdict = verifier.choose(plan)
            plan, built = verdict.plan, verdict.built
        else:
            built = verifier.build(plan)
        wrong = _fault(verifier, built)
        if wrong and built is not verifier.baseline:
            plan, built = plan.without_recipes(wrong), verifier.baseline
            wrong = _fault(verifier, built)
        said = _asked(workload, preset, sizes)
        served = said.fault(workload, verifier.text, built.library)
        if served is not None:
            wrong = served  # Python has the last word, where it can be asked about this very code
        elif said.docc_wrong:
            wrong = said.docc_wrong
        before, after = verifier.time(built, schedule)
    return {
        "kernel": workload.name,
        "preset": preset,
        "target": target,
        "baseline_s": before,
        "optimized_s": after,
        "speedup": before / after,
        "correct": not wrong,
        "nests": [nest.to_json() for nest in plan.nests],
        **said.to_json(),
    }


def _asked(workload: Workload, preset: str, sizes: Mapping[str, int] | None) -> Reference:
    """What Python says, at sizes of this workload in which `sizes` are fixed."""
    presets = {name: workload.sizes(name, sizes) for name in workload.parameters}
    return reference.ask(workload, presets, preset)


def _fault(verifier: Verifier, built: Built) -> str:
    """What is wrong with a library's numbers; empty if nothing is."""
    try:
        verifier.check(built)
    except WrongResultError as error:
        return str(error)
    return ""
