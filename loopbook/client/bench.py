"""docc's own compile against ours, and against Python, for one workload, timed in turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from loopbook.client import field
from loopbook.client.baseline import Baseline, as_written
from loopbook.client.bench_python import bench_python
from loopbook.client.bench_times import PYTHON_SECONDS, Times, given
from loopbook.client.layered import LayeredBook
from loopbook.client.plan import make_plan
from loopbook.client.thresholds import TRIES
from loopbook.client.verify import RUN_SECONDS, Verifier
from loopbook.errors import RunError, WrongResultError
from loopbook.targets import runnable
from loopbook.toolchain import scratch
from loopbook.toolchain.built import Built
from loopbook.toolchain.interleaved import Runnable, Timed, in_turn
from loopbook.toolchain.times import Schedule
from loopbook.workloads import reference
from loopbook.workloads.call import Call
from loopbook.workloads.reference import Reference

if TYPE_CHECKING:
    from loopbook.workloads.workload import Workload

ROUNDS = 41
"""At most; short kernels get all of them within `SECONDS`."""

SECONDS = 4.0

STAGES = 7
"""Of one kernel, beside one for each choice that is tried."""

Tell = Callable[[str, int, int], None]


def bench(
    workload: Workload,
    preset: str,
    target: str,
    layered: LayeredBook,
    *,
    exclude: Collection[str] = (),
    measure: bool = True,
    seconds: float = SECONDS,
    sizes: Mapping[str, int] | None = None,
    timeout: float = RUN_SECONDS,
    report: bool | None = None,
    tell: Tell = lambda stage, done, total: None,
) -> dict[str, Any]:
    """Compile a workload as docc does and as the book says, check the numbers, and time both, and
    the Python function itself.

    A kernel made of arrays is turned into explicit loops (`loopbook.workloads.call`), of which the
    book is asked; docc's compile of it as it is written is what that is compared with. Where it has
    no form in loops, Python is what is served, as `loopbook.native` does.

    Args:
        exclude: kernels whose records are ignored.
        measure: try several choices on the spot and keep the fastest, or docc's own; False takes
            what the book says, unless its numbers are wrong.
        seconds: for the timing; two rounds are run in any case, three where runs are long.
        sizes: replaces some of the preset's.
        timeout: limit for all runs of one comparison together, seconds.
        report: tell the book, and the server that was asked, how the recipe did (see
            `loopbook.client.field`); default what ``LOOPBOOK_REPORT`` says, else nothing is told.
        tell: called with each stage, how many came before, and about how many there are.

    Returns:
        What ``loopbook bench --json`` prints; seconds are those of the fastest runs.

        - ``kernel, preset, target, baseline_s, optimized_s, speedup, correct, nests``: `correct`
          says that the program as served gives the unoptimised program's numbers at this size, and
          that Python's numbers are the same, at the largest size that it can do; ``wrong_reason``
          why not.
        - ``reference`` ("python", or "docc" where Python takes too long), ``reference_preset``,
          ``reference_sizes``: what numbers were compared with.
        - ``docc_wrong``, ``docc_wrong_reason``: docc's own compile gives other numbers than Python.
        - ``lowered``: whether the kernel was turned into loops; ``not_lowered``: why not, so that
          it runs as Python.
        - ``baseline``: "docc"; where docc's own compile of the kernel is wrong, or fails, as
          ``docc_failed`` says, "loops" for docc's schedule of our loops, or "python".
        - ``python_s, python_speedup``: of the Python function and over it; null where it was not
          timed, as ``python_skipped`` says.
        - ``fastest``: "loopbook", "docc" or "python".

    Raises:
        LoopbookError: if the workload cannot be traced, compiled or run.
    """
    runnable(target)
    steps = _Steps(tell, STAGES + TRIES * measure)
    steps("reading the kernel")
    call = Call.of(workload, workload.arguments(preset, sizes))
    schedule = Schedule(repeats=ROUNDS, seconds=seconds, at_least=2)
    if call.refusal is not None:
        steps("Python in turn with docc's own compile")
        return bench_python(call, preset, target, schedule, timeout)
    with scratch.folder() as folder:
        verifier = Verifier(call.text, call.binding(), target, folder, timeout, steps)
        steps("what the book says")
        plan = make_plan(
            verifier.text,
            target,
            layered,
            exclude=exclude,
            choices=TRIES if measure else 1,
            sizes=call.symbols,
            expressions=call.lowered is not None,
            libraries=True,
        )
        layered.note_misses(plan.normalised, plan.missed, target, call.symbols)
        if field.wanted(report):
            field.tell_of_bench(verifier, plan, layered)
        if measure:
            verdict = verifier.choose(plan)
            plan, built = verdict.plan, verdict.built
        else:
            steps("compiling what the book says")
            built = verifier.build(plan)
        steps("numbers, compared with Python's")
        wrong = _fault(verifier, built)
        if wrong and built is not verifier.baseline:
            plan, built = plan.without_recipes(wrong), verifier.baseline
            wrong = _fault(verifier, built)
        said = _asked(workload, preset, sizes)
        served = said.fault(verifier.text, built.library)
        if served is not None:
            wrong = served  # Python has the last word, where it can be asked about this very code
        elif said.wrong:
            wrong = said.wrong
        own = Baseline(wrong=said.wrong)
        if call.lowered is not None:
            own = as_written(call, target, verifier.expected, folder / "written", timeout)
        steps("timing, in turn", last=True)
        times = _timed(call, verifier, built, own, _known(call, said, preset), schedule)
    return {
        "kernel": workload.name,
        "preset": preset,
        "target": target,
        "baseline_s": times.baseline_s,
        "optimized_s": times.optimized_s,
        "speedup": times.baseline_s / times.optimized_s,
        "correct": not wrong,
        "nests": [nest.to_json() for nest in plan.nests],
        **said.to_json(),
        "docc_wrong": bool(own.wrong),
        **given(docc_wrong_reason=own.wrong, wrong_reason=wrong),
        "lowered": call.lowered is not None,
        **times.to_json(),
    }


class _Steps:
    """Counts the stages of one kernel as they begin."""

    def __init__(self, tell: Tell, total: int) -> None:
        self._tell, self._total, self._begun = tell, total, 0

    def __call__(self, stage: str, *, last: bool = False) -> None:
        if last:  # fewer choices were to be tried than might have been
            self._begun = self._total - 1
        self._tell(stage, min(self._begun, self._total - 1), self._total)
        self._begun += 1


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


def _known(call: Call, said: Reference, preset: str) -> Timed | None:
    """What is known of the Python function's time without timing it; None if it should be timed.

    Loops take Python so long that the run which said what is right tells enough.
    """
    if said.preset == preset:
        if said.seconds > PYTHON_SECONDS:
            return Timed(error=f"takes {said.seconds:.0f} s")
        return Timed([said.seconds]) if call.is_loops else None
    return Timed(error="loops in Python would take too long") if call.is_loops else None


def _timed(
    call: Call,
    verifier: Verifier,
    built: Built,
    own: Baseline,
    python: Timed | None,
    schedule: Schedule,
) -> Times:
    """Time what is served in turn with its baseline and with Python.

    Args:
        own: docc's compile of an array program.
        python: what is known of it; None has it timed as well.

    Raises:
        RunError: a run crashed or hung.
    """
    programs = [call.runnable(built.library)]
    if own.program is not None:
        programs.append(own.program)
    elif built is not verifier.baseline:  # else it is timed once, and both are that
        programs.append(call.runnable(verifier.baseline.library))
    function = Runnable(lambda: call.workload.kernel, call.given, PYTHON_SECONDS)
    functions = [function] if python is None else []
    try:
        times = in_turn([*programs, *functions], schedule, seconds=verifier.seconds)
    except RunError as error:
        if own.program is None:
            raise
        # docc's code for arrays keeps memory at each call.
        failed = Baseline(failed=str(error))
        return _timed(call, verifier, built, failed, python, schedule)
    compiled = times[: len(programs)]
    for one in compiled:
        if one.error:
            raise RunError(f"{call.workload.name} {one.error}")
    return Times(
        min(compiled[-1].seconds),
        min(compiled[0].seconds),
        "docc" if call.lowered is None or own.program is not None else "loops",
        own.failed,
        python or times[-1],
    )
