"""A kernel that has no form in loops: Python is what is served, in turn with docc's own compile."""

from __future__ import annotations

from typing import Any

from loopbook.client.baseline import as_written
from loopbook.client.bench_times import PYTHON_SECONDS, Times, given
from loopbook.errors import RunError
from loopbook.toolchain import scratch
from loopbook.toolchain.interleaved import Runnable, Timed, in_turn
from loopbook.toolchain.times import Schedule
from loopbook.workloads import reference
from loopbook.workloads.call import Call


def bench_python(
    call: Call, preset: str, target: str, schedule: Schedule, timeout: float
) -> dict[str, Any]:
    """Time the Python function in turn with docc's own compile of it, where that is right.

    Args:
        call: one that has a refusal.
        timeout: limit for all runs together, seconds.

    Returns:
        As `loopbook.client.bench.bench`.

    Raises:
        RunError: Python raises, or one run takes more than `PYTHON_SECONDS`.
    """
    name = call.workload.name
    try:
        found = reference.answer(call.workload, call.given, PYTHON_SECONDS)
    except RunError as error:
        raise RunError(
            f"{name} fails as Python: {error}; nor has it loops: {call.refusal}"
        ) from None
    with scratch.folder() as folder:
        own = as_written(call, target, found.expected, folder, timeout)
        function = Runnable(lambda: call.workload.kernel, call.given, PYTHON_SECONDS)
        programs = [function] if own.program is None else [function, own.program]
        try:
            python, *docc = in_turn(programs, schedule, seconds=timeout)
        except RunError as error:  # docc's code for arrays keeps memory at each call
            docc = [Timed(error=str(error))]
            (python,) = in_turn([function], schedule, seconds=timeout)
    if python.fastest is None:
        raise RunError(f"{name} {python.error}, and cannot be compiled: {call.refusal}")
    failed = own.failed or next((one.error for one in docc), "")
    taken = next((one.fastest for one in docc), None)
    times = Times(
        baseline_s=taken or python.fastest,
        optimized_s=python.fastest,
        baseline="docc" if taken else "python",
        failed=failed,
        python=python,
    )
    return {
        "kernel": name,
        "preset": preset,
        "target": target,
        "baseline_s": times.baseline_s,
        "optimized_s": times.optimized_s,
        "speedup": times.baseline_s / times.optimized_s,
        "correct": True,
        "nests": [],
        "reference": "python",
        "docc_wrong": bool(own.wrong),
        **given(docc_wrong_reason=own.wrong),
        "lowered": False,
        "not_lowered": str(call.refusal),
        **times.to_json(),
    }
