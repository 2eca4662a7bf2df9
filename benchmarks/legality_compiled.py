"""Sequences of steps compiled and run: whether docc, clang and threads make of them what
`loopbook.interpreter` says.

Recipes of one program become one library, compiled by one call of the compiler, each C++ once; with
threads where a step asks for some. It runs on the program's own data and on the same values in
another order, and is compared with the Python function.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from loopbook.errors import IllegalStepError, LoopbookError, RunError, WrongResultError
from loopbook.sdfg import frontend
from loopbook.sdfg.sources import write_tuned
from loopbook.steps.workbench import StepPair
from loopbook.toolchain import batch, compiler, scratch
from loopbook.toolchain.run import Guarded
from loopbook.toolchain.sandbox import run_limited
from loopbook.toolchain.timers import Timers
from loopbook.workloads.state import agree, shuffled, stable, tolerance
from loopbook.workloads.workload import Workload

T = TypeVar("T")

Recipe = tuple[int, Sequence[StepPair]]
"""Place of a nest and steps for it."""

TOGETHER = 64
"""Recipes in one library."""

LEVEL = ("-O1", "-fno-unroll-loops")
"""How hard the compiler tries: legality is no matter of its later passes, which take most of its
time."""

COMPILE_SECONDS = 900.0
RUN_SECONDS = 120.0
"""Of the clock: what else the machine does is in it."""


class Data(NamedTuple):
    """What a program is run on.

    Attributes:
        expected: what must be there after a run.
    """

    arguments: list[Any]
    expected: list[np.ndarray]


def checked(
    workload: Workload, arguments: list[Any], text: str, recipes: Sequence[Recipe]
) -> dict[str, Any]:
    """What compiled recipes are wrong in: ``compiled``, how many were run, ``programs``: of how
    many different C++, ``wrong``: place and fault, ``left``: why others were not.

    Args:
        text: the program as docc makes it of these arguments, prepared.
    """
    said: dict[str, Any] = {"compiled": 0, "programs": 0, "wrong": [], "left": {}}
    given = [_data(workload, one) for one in (arguments, shuffled(arguments))]
    data = [one for one in given if one]
    if not data:
        said["left"]["no numbers to compare with"] = len(recipes)
        return said
    compiler.activate()
    with scratch.folder() as folder:
        silent = batch.silent_compiler(folder / "silent")
        for threads in (False, True):
            own = [
                place
                for place, (_, steps) in enumerate(recipes)
                if any(op in _THREADS for op, _ in steps) == threads
            ]
            target = "openmp" if threads else "sequential"
            for start in range(0, len(own), TOGETHER - 1):
                some = own[start : start + TOGETHER - 1]
                one = _Library(folder / f"{target}{start}", workload, target, data)
                one.check(silent, text, [(p, recipes[p]) for p in some], said)
    return said


_THREADS = ("parallel", "pipelined_time_tile", "wavefront")
"""Steps that make threads."""


def _data(workload: Workload, arguments: list[Any]) -> Data | None:
    """Arguments with what is right for them; None where rounding or overflow decides that."""
    own = copy.deepcopy(arguments)
    try:
        with np.errstate(all="ignore", over="raise"):
            workload.kernel(*own)
    except ArithmeticError:
        return None
    expected = workload.results(own)
    if not all(np.isfinite(array).all() for array in expected if array.dtype.kind == "f"):
        return None
    return Data(arguments, expected) if stable(workload, arguments, expected) else None


class _Library:
    """Some recipes, compiled together and run one after the other."""

    def __init__(self, folder: Path, workload: Workload, target: str, data: Sequence[Data]) -> None:
        self._folder = folder
        self._workload = workload
        self._target = target
        self._data = data

    def check(
        self,
        silent: Path,
        text: str,
        recipes: Sequence[tuple[int, Recipe]],
        said: dict[str, Any],
    ) -> None:
        """Add what is found to `said`. The program without steps comes first: where that is wrong,
        steps have nothing to do with it."""
        sources = [self._written(silent, text, {}, -1)]
        places: dict[str, list[int]] = {sources[0].code: []}
        for place, (nest, steps) in recipes:
            try:
                source = self._written(silent, text, {nest: tuple(steps)}, place)
            except LoopbookError as error:
                kind = "refused" if isinstance(error, IllegalStepError) else str(error)[:80]
                said["left"][kind] = said["left"].get(kind, 0) + 1
                continue
            if source.code not in places:
                sources.append(source)
            places.setdefault(source.code, []).append(place)
        library = self._folder / "all.so"
        batch.compile_together(sources, library, words=LEVEL, seconds=COMPILE_SECONDS)
        names = [source.name for source in sources]
        every = range(len(sources))
        try:
            faults = self._run(library, names, every)
        except RunError:  # one of them crashed or hung
            faults = {n: fault for n in every for fault in self._alone(library, names, n)}
        count = sum(map(len, places.values()))
        if 0 in faults:
            kind = f"wrong without any step: {faults[0]}"
            said["left"][kind] = said["left"].get(kind, 0) + count
            return
        said["compiled"] += count
        said["programs"] += len(sources)
        said["wrong"] += [
            (place, fault)
            for number, fault in faults.items()
            for place in places[sources[number].code]
        ]

    def _written(
        self, silent: Path, text: str, recipes: Mapping[int, Sequence[StepPair]], place: int
    ) -> batch.Source:
        folder = self._folder / f"n{place + 1}"
        return write_tuned(silent, text, self._target, recipes, folder, timers=False)

    def _run(self, library: Path, names: Sequence[str], some: Sequence[int]) -> dict[int, str]:
        return run_limited(
            _faults, self._workload, self._data, library, names, some, seconds=RUN_SECONDS
        )

    def _alone(self, library: Path, names: Sequence[str], number: int) -> list[str]:
        try:
            return [*self._run(library, names, [number]).values()]
        except RunError as error:
            return [str(error)]


def _faults(
    workload: Workload,
    data: Sequence[Data],
    library: Path,
    names: Sequence[str],
    some: Sequence[int],
) -> dict[int, str]:
    """What is wrong with which functions of a library; in a child."""
    _timers = Timers()  # docc's own would want PAPI, or end the process
    first = frontend.bind(workload.kernel, data[0].arguments, library)
    compiled = frontend.functions(first, library, names)
    found: dict[int, str] = {}
    for number in some:
        for arguments, expected in data:
            guarded = Guarded(arguments)
            values = guarded.fresh()
            compiled[number](*values)
            try:
                guarded.check()
            except WrongResultError as error:
                found[number] = str(error)
                break
            error = agree(expected, workload.results(values))
            if error > tolerance(expected):
                found[number] = f"relative error {error:.1e}"
                break
    return found


def chosen(found: Sequence[T], count: int, rng: random.Random) -> list[T]:
    """`count` of so many, in order."""
    return [found[place] for place in sorted(rng.sample(range(len(found)), min(count, len(found))))]
