"""What to do with each nest of a program."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from loopbook.client.decision import Choice, NestReport, Plan
from loopbook.client.fit import Trials
from loopbook.client.layered import LayeredBook
from loopbook.client.planner import Planner
from loopbook.client.regions import joined
from loopbook.client.sizes import Trips
from loopbook.client.thresholds import TRYING_SECONDS
from loopbook.client.weighing import Weighing
from loopbook.program.nest import Nest
from loopbook.program.tree import Program
from loopbook.program.trips import iterations, trip_counts
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Measurement
from loopbook.sdfg import marks, program
from loopbook.sdfg.build import build_baseline, build_tuned, finish
from loopbook.targets import TARGETS
from loopbook.toolchain.built import Built

TOO_LARGE = "in a program too large for docc to work on all of it"
"""Why a nest is left as it is, but perhaps for what it holds."""


def make_plan(
    text: str,
    target: str,
    layered: LayeredBook,
    *,
    exclude: Collection[str] = (),
    max_distance: float | None = None,
    choices: int = 1,
    sizes: Mapping[str, int] | None = None,
    expressions: bool = False,
    libraries: bool = False,
) -> Plan:
    """Look every nest of a program up and port what is found.

    ::

        with loopbook.open() as book:
            plan = loopbook.make_plan(sdfg.to_json(), "sequential", book)

    Args:
        text: the program's SDFG as JSON text, as docc's frontend makes it or later.
        target: a name in `loopbook.targets.TARGETS`.
        exclude: kernels whose records are ignored.
        max_distance: neighbours farther away are not used. By default a cost model decides, which
            knows what distance means; without one it is `loopbook.client.thresholds.MAX_DISTANCE`.
        choices: recipes to find for each nest; with more than one they are taken to be tried out,
            and riskier ones are among them.
        sizes: values of the program's size symbols, as far as they are known: each nest gets what
            was fastest at about its size. Where a nest's size is unknown, it gets no recipe that
            lost at any size measured.
        expressions: the program was written as array expressions, and docc has not seen its loops
            before: put those that the book has nothing for in the order in which arrays lie in
            memory.
        libraries: the program runs on this machine: hand products to its BLAS and multiply some
            rows of a matrix by a vector at a time, whatever the starter book has for them, and
            array expressions whatever any book has.

    Raises:
        SdfgError: if the text is no usable SDFG.
        BookError: if a book cannot be read.
        RunError: if docc crashes or hangs.
    """
    normalised, nests = program.prepare_apart(text)

    def planned(nests: list[Nest], text: str, tree: Program | None = None) -> Plan:
        return plan_nests(
            nests,
            text,
            target,
            layered,
            exclude=exclude,
            max_distance=max_distance,
            choices=choices,
            sizes=sizes,
            expressions=expressions,
            libraries=libraries,
            tree=tree,
        )

    plan = planned(nests, normalised)
    whole = joined(normalised, nests, plan, layered, exclude=exclude, sizes=sizes)
    return plan if whole is None else planned(whole.nests, whole.text, whole.tree)


def plan_nests(
    nests: list[Nest],
    normalised: str,
    target: str,
    layered: LayeredBook,
    *,
    exclude: Collection[str] = (),
    max_distance: float | None = None,
    choices: int = 1,
    sizes: Mapping[str, int] | None = None,
    expressions: bool = False,
    libraries: bool = False,
    tree: Program | None = None,
    weighing: Weighing | None = None,
) -> Plan:
    """`make_plan` for the nests of an SDFG that is normalised already, given as JSON text.

    Args:
        tree: what the text says, where it has been read.
        weighing: is told what was weighed.
    """
    different = {nest.fingerprint: nest for nest in nests}

    @cache
    def embeddings() -> dict[str, Embedding]:
        """All at once, as soon as one is asked for: nests that the book knows need none."""
        encoded = layered.encoder.encode_many([*different.values()])
        return dict(zip(different, encoded, strict=True))

    reports: list[NestReport] = []
    found: dict[int, tuple[Choice, ...]] = {}
    times: list[Measurement | None] = []
    counted = [trip_counts(nest, sizes or {}) for nest in nests]
    hottest = _hottest(nests, counted)
    frames = marks.frames(normalised)
    patience = math.inf if frames is None or choices > 1 else TRYING_SECONDS
    trials = Trials(normalised, tree)
    planner = Planner(
        layered,
        target,
        exclude,
        max_distance,
        choices,
        trials,
        patience,
        expressions=expressions,
        libraries=libraries,
        weighing=weighing,
    )
    for nest, trips in zip(nests, counted, strict=True):
        if frames and nest.loops[0].element_id in frames:
            report, usable = planner.without_books(nest, TOO_LARGE)
        else:
            report, usable = planner.plan(nest, embeddings, trips, hot=nest is hottest)
        reports.append(report)
        if usable:
            found[nest.position] = usable
        times.append(planner.measured(nest, usable, trips))
    plan = Plan(target, tuple(reports), found, normalised=normalised)
    wrong = marks.misordered(normalised)
    if TARGETS[target].parallel:
        wrong |= marks.raced(normalised)
    if frames is not None or marks.formed(normalised):
        plan = replace(plan, prepared=True)
    if wrong:
        doubtful = (n for n in nests if not wrong.isdisjoint(loop.element_id for loop in n.loops))
        return plan.distrusting({n.position for n in doubtful})
    if choices == 1 and not plan.prepared and lose_together(times):
        return plan.without_recipes("docc's own compile, which fuses nests, is faster as a whole")
    return plan


def _hottest(nests: Sequence[Nest], trips: Sequence[Trips]) -> Nest | None:
    """The nest whose body runs most often, as far as that is known."""
    if not nests:
        return None
    runs = [iterations(nest, known) or 0 for nest, known in zip(nests, trips, strict=True)]
    return max(zip(runs, nests, strict=True), key=lambda one: (one[0], len(one[1].loops)))[1]


def lose_together(times: list[Measurement | None]) -> bool:
    """Whether nests that were all measured take longer together than under docc's own compile. A
    recipe wants its nest on its own, and what that costs other nests may be more than it gains."""
    known = [one for one in times if one is not None]
    if len(known) < len(times):
        return False
    return sum(one.baseline_s for one in known) < sum(one.tuned_s for one in known)


def finish_plan(text: str, plan: Plan) -> str:
    """A program's SDFG as planned, scheduled but not compiled: JSON text.

    Raises:
        LoopbookError: see `loopbook.sdfg.build.build_tuned`.
    """
    return finish(*_planned(text, plan))


def _planned(text: str, plan: Plan) -> tuple[str, str, Mapping[int, Recipe] | None]:
    """The program that a plan is carried out on, for which target, and with which recipes: none
    where it is to be docc's own compile."""
    if not plan.active:
        return text, plan.target, None
    return plan.normalised or text, plan.target, plan.recipes


def build_plan(
    text: str, plan: Plan, folder: Path, *, timers: bool = False, arena: bool = False
) -> Built:
    """Compile a program as planned: with docc's own schedule where nothing is better.

    ::

        built = loopbook.build_plan(sdfg.to_json(), plan, Path("built"))
        built.library                  # a shared library

    Args:
        timers: time each nest.
        arena: see `loopbook.sdfg.build.build_baseline`; whoever calls the library must then call
            `loopbook.toolchain.memory.RELEASE` after each call.

    Raises:
        LoopbookError: see `loopbook.sdfg.build.build_tuned`.
    """
    text, target, recipes = _planned(text, plan)
    if recipes is None:
        return build_baseline(text, target, folder, timers=timers, vector_maths=True, arena=arena)
    return build_tuned(text, target, recipes, folder, timers=timers, vector_maths=True, arena=arena)
