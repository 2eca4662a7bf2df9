"""Compares with the Python function itself, at a size at which that is affordable.

docc's unoptimised code shares its front end with everything else that docc compiles: where that
misunderstands a function, all of it agrees on the same wrong numbers. Only Python says what the
function means.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.errors import LoopbookError, WrongResultError
from loopbook.sdfg.build import build_baseline
from loopbook.toolchain import scratch
from loopbook.toolchain.run import compare, returned_arrays
from loopbook.toolchain.sandbox import run_limited
from loopbook.workloads.call import Call
from loopbook.workloads.workload import Workload

PYTHON_SECONDS = 20.0
"""How long plain Python may take over the smallest size to say what is right."""

AFFORDABLE = 2.0
"""A larger size is taken where Python is expected to take no more than so many seconds."""

SMALLER = (2, 4, 8)
"""What the smallest sizes are divided by where Python takes too long even for them."""

Sizes = dict[str, int]


@dataclass(frozen=True)
class Reference:
    """What Python says of a workload.

    Attributes:
        preset: at which it was asked; with "/4" if its sizes were divided; empty if Python takes
            too long, or raises, at all that were tried.
        sizes: of that.
        call: what docc is given at these sizes.
        expected: the arguments that must be right, and what it returned.
        wrong: why the unoptimised code of `call` is wrong there; empty if it is right.
        seconds: that Python took.
    """

    preset: str = ""
    sizes: Mapping[str, int] | None = None
    call: Call | None = None
    expected: tuple[np.ndarray, ...] | None = None
    wrong: str = ""
    seconds: float = 0.0

    def fault(self, text: str, library: Path) -> str | None:
        """What Python says is wrong with a library built from `text`; empty if nothing, None if
        it is made for other sizes than these (docc gives extents that are equal one symbol)."""
        if self.call is None or self.expected is None or text != self.call.text:
            return None
        return _fault(self.call, self.expected, library)

    def to_json(self) -> dict[str, Any]:
        """What ``bench --json`` says of it."""
        told: dict[str, Any] = {"reference": "python" if self.preset else "docc"}
        if self.preset:
            told |= {"reference_preset": self.preset, "reference_sizes": dict(self.sizes or {})}
        return told


def ask(
    workload: Workload, presets: Mapping[str, Mapping[str, int]], wanted: str = ""
) -> Reference:
    """Run the Python function and the unoptimised code of what docc is given, and compare.

    Args:
        presets: sizes to choose from: the smallest, and `wanted` where Python can do that.

    Raises:
        LoopbookError: docc cannot trace, compile or run the function.
    """
    smallest = min(presets, key=lambda preset: math.prod(presets[preset].values()))
    found = _python(workload, presets[smallest], PYTHON_SECONDS)
    preset, sizes = smallest, dict(presets[smallest])
    for divisor in SMALLER if found is None else ():
        sizes = {name: max(value // divisor, 2) for name, value in presets[smallest].items()}
        preset = f"{smallest}/{divisor}"
        found = _python(workload, sizes, PYTHON_SECONDS / 4)
        if found is not None:
            break
    if found is None:
        return Reference()
    if wanted in presets and wanted != smallest:
        growth = math.prod(presets[wanted].values()) / math.prod(presets[smallest].values())
        if preset == smallest and found.seconds * growth <= AFFORDABLE:
            larger = _python(workload, presets[wanted], PYTHON_SECONDS)
            if larger is not None:
                found, preset, sizes = larger, wanted, dict(presets[wanted])
    return _compared(workload, preset, sizes, found)


def check(workload: Workload, presets: Mapping[str, Mapping[str, int]]) -> None:
    """Make sure that the unoptimised code, which candidates are compared with, is right.

    Nothing is said where Python takes too long, or raises.

    Raises:
        WrongResultError: it is not.
        LoopbookError: docc cannot trace, compile or run the function.
    """
    said = ask(workload, presets)
    if said.wrong:
        whose = "docc's own compile"
        if said.call is not None and said.call.lowered is not None:
            whose = "docc's compile of the loops"
        raise WrongResultError(
            f"{whose} of {workload.name} is wrong, so nothing can be compared with it: {said.wrong}"
        )


@dataclass(frozen=True)
class Answer:
    """What Python makes of arguments.

    Attributes:
        expected: the arguments that must be right, and what it returned.
        seconds: that it took.
    """

    arguments: Sequence[Any]
    expected: list[np.ndarray]
    seconds: float


def answer(workload: Workload, arguments: Sequence[Any], seconds: float) -> Answer:
    """Run the Python function, in a child.

    Raises:
        RunError: it raises, or takes longer than `seconds`.
    """
    expected, taken = run_limited(
        _run, workload, list(arguments), seconds=seconds, what=workload.name
    )
    return Answer(arguments, expected, taken)


def _python(workload: Workload, sizes: Mapping[str, int], seconds: float) -> Answer | None:
    """What Python makes of these sizes; None if it takes too long or does not work on them."""
    try:
        arguments = workload.arguments(next(iter(workload.parameters)), sizes)
        return answer(workload, arguments, seconds)
    except LoopbookError:
        return None


def _run(workload: Workload, arguments: list[Any]) -> tuple[list[np.ndarray], float]:
    own = copy.deepcopy(arguments)
    begun = time.perf_counter()
    with np.errstate(all="ignore"):
        returned = workload.kernel(*own)
    taken = time.perf_counter() - begun
    return [*workload.results(own), *returned_arrays(returned)], taken


def _compared(workload: Workload, preset: str, sizes: Sizes, found: Answer) -> Reference:
    call, expected = Call.of(workload, found.arguments), tuple(found.expected)
    with scratch.folder() as folder:
        built = build_baseline(call.text, "none", folder)
        wrong = _fault(call, expected, built.library)
    return Reference(preset, sizes, call, expected, wrong, found.seconds)


def _fault(call: Call, expected: Sequence[np.ndarray], library: Path) -> str:
    own = call.binding().results(library)
    try:
        compare(own, expected, "Python's")
    except WrongResultError as error:
        return str(error)
    return ""
