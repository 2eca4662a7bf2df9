"""From SDFG text and recipes to a shared library, without risk to our process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from docc.sdfg import AnalysisManager, StructuredSDFG, StructuredSDFGBuilder

from loopbook.sdfg import compiler, program
from loopbook.sdfg.apply import StepPair, Workbench
from loopbook.sdfg.sandbox import run_limited

BUILD_SECONDS = 60.0
BUILD_BYTES = 6 << 30

Recipes = Mapping[int, Iterable[StepPair]]
"""Position of a nest in its program to the steps for it."""


@dataclass(frozen=True)
class Built:
    """A compiled program.

    Attributes:
        library: the shared library.
        code: hash of the generated C++: equal for candidates that are the same in the end.
        owners: element id of each outermost loop in the finished program to the position of the
            nest that it came from, for reading the timers.
    """

    library: Path
    code: str
    owners: Mapping[int, int]


def build_baseline(text: str, target: str, folder: Path, *, timers: bool = False) -> Built:
    """Compile the SDFG exactly as docc itself would, for "none", "sequential" or "openmp".

    Raises:
        LoopbookError: as `build_tuned`.
    """
    compiler.activate()
    return run_limited(
        _baseline,
        text,
        target,
        folder,
        timers,
        seconds=BUILD_SECONDS,
        memory=BUILD_BYTES,
        what="the compile",
    )


def build_tuned(
    text: str, target: str, recipes: Recipes, folder: Path, *, timers: bool = False
) -> Built:
    """Prepare the SDFG, apply recipes to its nests, finish with docc's schedule, and compile.

    Raises:
        SdfgError: docc cannot read or normalise the text.
        IllegalStepError: a step does not fit.
        CompilerError: the generated code does not compile, or there is no compiler.
        RunError: docc or the compiler crashed, hung, or took too much memory.
    """
    compiler.activate()
    fixed = {position: tuple(steps) for position, steps in recipes.items()}
    return run_limited(
        _tuned,
        text,
        target,
        fixed,
        folder,
        timers,
        seconds=BUILD_SECONDS,
        memory=BUILD_BYTES,
        what="the compile",
    )


def transform(text: str, target: str, recipes: Recipes) -> tuple[StructuredSDFG, dict[int, int]]:
    """Prepare the SDFG, apply recipes to its nests, give the rest docc's own schedule.

    Returns:
        The finished SDFG, and its owners (see `Built`).
    """
    sdfg = program.prepare(text)
    owners: dict[int, int] = {}
    for nest in program.nests(sdfg):
        bench = Workbench(sdfg, nest)
        for position, (op, args) in enumerate(recipes.get(nest.position, ())):
            bench.apply(op, args, position)
        owners |= dict.fromkeys(bench.names.values(), nest.position)
    before = [owners.get(element) for element in _outermost(sdfg)]
    program.finish(sdfg, target)
    after = _outermost(sdfg)
    if len(before) != len(after):
        return sdfg, {}
    return sdfg, {e: owner for e, owner in zip(after, before, strict=True) if owner is not None}


def _outermost(sdfg: StructuredSDFG) -> list[int]:
    manager = AnalysisManager(StructuredSDFGBuilder(sdfg))
    return [loop.element_id for loop in manager.loop_analysis().outermost_loops()]


def _baseline(text: str, target: str, folder: Path, timers: bool) -> Built:
    return _compile(program.baseline(text, target), target, {}, folder, timers)


def _tuned(text: str, target: str, recipes: Recipes, folder: Path, timers: bool) -> Built:
    sdfg, owners = transform(text, target, recipes)
    return _compile(sdfg, target, owners, folder, timers)


def _compile(
    sdfg: StructuredSDFG, target: str, owners: dict[int, int], folder: Path, timers: bool
) -> Built:
    code = hashlib.sha256(sdfg.to_cpp().encode()).hexdigest()[:32]
    library = program.build(sdfg, folder, target, timers=timers)
    return Built(library, code, owners)
