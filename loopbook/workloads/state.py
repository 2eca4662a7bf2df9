"""What docc makes of a workload: does it compile, and are its numbers right?

docc's own code for each target is compared with the workload's reference, on the workload's data
and on the same values in shuffled order: regular data can hide a wrong loop order, and PolyBench's
heat-3d starts from a field that the heat equation leaves as it is. Nothing is cached; a check
compiles and runs in a child process, so whatever docc does there is a reason, not our end.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from loopbook import targets
from loopbook.errors import CompilerError, LoopbookError, WrongResultError
from loopbook.sdfg.frontend import bind, trace
from loopbook.sdfg.passes import build
from loopbook.sdfg.program import baseline
from loopbook.toolchain import scratch
from loopbook.toolchain.compiler import activate
from loopbook.toolchain.sandbox import run_limited
from loopbook.workloads import polybench
from loopbook.workloads.workload import Workload

TARGETS = (targets.UNSCHEDULED, *targets.here())
"""docc's targets that a workload is checked for."""

PRESET = "SMALL"
"""Data set for checks: on smaller ones a thread is often done before the next begins, and races
stay hidden."""

TOLERANCE = 1e-9
"""Largest error that counts as rounding, relative to an array's largest magnitude."""

SINGLE = 1e-4
"""The same where some array is of single precision."""

RUNS = 3
"""Runs on the same data: threads that race are not wrong every time."""

SECONDS = 120.0
"""Time limit for one check, wall clock."""


class State(NamedTuple):
    """Outcome of a check; `reason` is one line, and empty if all is well."""

    ok: bool
    reason: str


def check(
    workload: str | Workload, target: str, preset: str = PRESET, seconds: float = SECONDS
) -> State:
    """Compile `workload` (or the PolyBench kernel of that name) as docc does and check its numbers.

    Args:
        target: one of `TARGETS`.
        preset: the data set; the reference has to run on it too.
        seconds: time limit for compiling and running.

    Raises:
        CompilerError: if there is no C++ compiler at all.
        WorkloadError: if there is no such kernel or preset.
    """
    if target not in TARGETS:
        raise ValueError(f"target {target!r} is none of {', '.join(TARGETS)}")
    if isinstance(workload, str):
        workload = polybench.load(workload)
    arguments = workload.arguments(preset)
    activate()
    try:
        run_limited(_trial, workload, target, arguments, seconds=seconds, what=workload.name)
    except LoopbookError as error:
        return State(False, str(error))
    return State(True, "")


def states(
    names: Iterable[str] | None = None,
    targets: Sequence[str] = TARGETS,
    preset: str = PRESET,
) -> Iterator[tuple[str, str, State]]:
    """Check PolyBench kernels one by one: name, target, state.

    Args:
        names: PolyBench names; default all 30.
    """
    for name in polybench.names() if names is None else names:
        for target in targets:
            yield name, target, check(name, target, preset)


def agree(expected: Sequence[np.ndarray], actual: Sequence[np.ndarray]) -> float:
    """The largest difference, relative to the expected array's largest finite magnitude.

    Infinite if shapes differ, or if one is NaN or infinite where the other is not.
    """
    if len(expected) != len(actual):
        return float("inf")
    worst = 0.0
    for want, got in zip(expected, actual, strict=True):
        if want.shape != got.shape:
            return float("inf")
        finite = np.isfinite(want)
        if not np.array_equal(finite, np.isfinite(got)):
            return float("inf")
        # In double also for integers, which would wrap around.
        want, got = want[finite].astype(np.float64), got[finite].astype(np.float64)
        if want.size:
            scale = float(np.abs(want).max()) or 1.0
            worst = max(worst, float(np.abs(want - got).max()) / scale)
    return worst


def reference_results(workload: Workload, arguments: Sequence[Any]) -> list[np.ndarray] | None:
    """The right results for these arguments, or None where the algorithm does not work on them."""
    function = workload.reference or workload.kernel
    own = copy.deepcopy(list(arguments))
    try:
        with np.errstate(all="ignore"):
            function(*own)
    except (np.linalg.LinAlgError, ArithmeticError):
        return None
    return workload.results(own)


def shuffled(arguments: Sequence[Any]) -> list[Any]:
    """The arguments with the elements of each array in another, always the same, order.

    Integers that only rise stay as they are. They say where the rows of a sparse matrix begin; in
    another order a row would go on through most of the matrix, and a program for minutes.
    """
    random = np.random.default_rng(0)
    return [
        random.permuted(a.ravel()).reshape(a.shape)
        if isinstance(a, np.ndarray) and not _rises(a)
        else a
        for a in arguments
    ]


def _rises(array: np.ndarray) -> bool:
    integers = array.ndim == 1 and np.issubdtype(array.dtype, np.integer)
    return integers and bool(np.all(array[:-1] <= array[1:]))


def stable(workload: Workload, arguments: Sequence[Any], expected: Sequence[np.ndarray]) -> bool:
    """Whether the last bits of the data leave the results as they are, to the tolerance.

    Shuffled matrices are often far from what a decomposition needs; what it makes of them says
    nothing.
    """
    random = np.random.default_rng(1)
    nudged = [
        a * (1.0 + 1e-13 * random.standard_normal(a.shape))
        if isinstance(a, np.ndarray) and np.issubdtype(a.dtype, np.floating)
        else a
        for a in arguments
    ]
    other = reference_results(workload, nudged)
    return other is not None and agree(expected, other) <= tolerance(expected) / 10


def tolerance(expected: Sequence[np.ndarray]) -> float:
    """Largest error of these results that counts as rounding."""
    return SINGLE if any(array.dtype == np.float32 for array in expected) else TOLERANCE


def _trial(workload: Workload, target: str, arguments: list[Any]) -> None:
    """Runs in the child; raises what is wrong."""
    with scratch.folder() as folder:
        sdfg = baseline(trace(workload.kernel, arguments), target)
        library = _build(sdfg, folder, target)
        compiled = bind(workload.kernel, arguments, library)
        for where, data in (("", arguments), (" on shuffled data", shuffled(arguments))):
            expected = reference_results(workload, data)
            if expected is None or (where and not stable(workload, data, expected)):
                continue
            for _ in range(RUNS):
                actual = copy.deepcopy(data)
                compiled(*actual)
                error = agree(expected, workload.results(actual))
                if error > tolerance(expected):
                    raise WrongResultError(
                        f"docc's {target} code is wrong{where}: relative error {error:.1e}"
                    )


def _build(sdfg: Any, folder: Path, target: str) -> Path:
    try:
        return build(sdfg, folder, target)
    except RuntimeError as error:
        if "ompilation failed" in str(error):
            raise CompilerError("docc generates C++ that does not compile") from None
        raise
