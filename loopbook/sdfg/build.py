"""From SDFG text and recipes to a shared library, without risk to our process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from docc.sdfg import AnalysisManager, StructuredSDFG, StructuredSDFGBuilder

from loopbook.errors import IllegalStepError
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
            nest that it came from, for reading the timers. For docc's own schedule: its place.
        recipes: the steps that were applied to each nest.
    """

    library: Path
    code: str
    owners: Mapping[int, int]
    recipes: Mapping[int, tuple[StepPair, ...]]


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
    text: str,
    target: str,
    recipes: Recipes,
    folder: Path,
    *,
    timers: bool = False,
    lenient: bool = False,
    known: frozenset[str] = frozenset(),
) -> Built:
    """Prepare the SDFG, apply recipes to its nests, finish with docc's schedule, and compile.

    Args:
        lenient: leave out steps that do not fit instead of raising `IllegalStepError`.
        known: codes (see `Built`) that need no compile any more: their `library` comes back as a
            path that does not exist.

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
        lenient,
        known,
        seconds=BUILD_SECONDS,
        memory=BUILD_BYTES,
        what="the compile",
    )


Transformed = tuple[StructuredSDFG, dict[int, int], dict[int, tuple[StepPair, ...]]]


def transform(text: str, target: str, recipes: Recipes, *, lenient: bool = False) -> Transformed:
    """Prepare the SDFG, apply recipes to its nests, give the rest docc's own schedule.

    Returns:
        The finished SDFG, its owners and the steps that were applied (see `Built`).
    """
    sdfg, found = program.prepare_nests(text)
    owners: dict[int, int] = {}
    applied: dict[int, tuple[StepPair, ...]] = {}
    for nest in found:
        bench = Workbench(sdfg, nest)
        steps = recipes.get(nest.position, ())
        applied[nest.position] = _apply(bench, steps, lenient)
        owners |= dict.fromkeys(bench.names.values(), nest.position)
    before = [owners.get(element) for element in _outermost(sdfg)]
    program.finish(sdfg, target)
    after = _outermost(sdfg)
    if len(before) != len(after):
        return sdfg, {}, applied
    kept = {e: owner for e, owner in zip(after, before, strict=True) if owner is not None}
    return sdfg, kept, applied


def _apply(bench: Workbench, steps: Iterable[StepPair], lenient: bool) -> tuple[StepPair, ...]:
    applied = []
    for position, (op, args) in enumerate(steps):
        try:
            bench.apply(op, args, position)
        except IllegalStepError:
            if not lenient:
                raise
        else:
            applied.append((op, args))
    return tuple(applied)


def _outermost(sdfg: StructuredSDFG) -> list[int]:
    builder = StructuredSDFGBuilder(sdfg)  # must live as long as the manager
    manager = AnalysisManager(builder)
    return [loop.element_id for loop in manager.loop_analysis().outermost_loops()]


def _baseline(text: str, target: str, folder: Path, timers: bool) -> Built:
    sdfg = program.baseline(text, target)
    owners = {element: place for place, element in enumerate(_outermost(sdfg))}
    return Built(program.build(sdfg, folder, target, timers=timers), _code(sdfg), owners, {})


def _tuned(
    text: str,
    target: str,
    recipes: Recipes,
    folder: Path,
    timers: bool,
    lenient: bool,
    known: frozenset[str],
) -> Built:
    sdfg, owners, applied = transform(text, target, recipes, lenient=lenient)
    code = _code(sdfg)
    if code in known:
        return Built(folder / "known", code, owners, applied)
    return Built(program.build(sdfg, folder, target, timers=timers), code, owners, applied)


def _code(sdfg: StructuredSDFG) -> str:
    return hashlib.sha256(sdfg.to_cpp().encode()).hexdigest()[:32]
