"""The end of a search: its best recipes against docc's own compile, at several sizes.

At the size of the search, sizes may happen to be multiples of tiles, data may fit a cache, and the
benchmark's own data may hide what is wrong. So the best recipes' numbers are checked on other data,
and their times are taken at every size asked for. What is best may differ from size to size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from loopbook.errors import LoopbookError, WrongResultError
from loopbook.sdfg.build import build_baseline, build_tuned
from loopbook.steps import Step
from loopbook.toolchain import scratch
from loopbook.toolchain.built import Built
from loopbook.toolchain.times import Schedule, Times
from loopbook.tuner.log import TrialLog
from loopbook.tuner.search import ranking
from loopbook.tuner.session import Candidate, Session
from loopbook.tuner.task import TuningTask
from loopbook.tuner.thresholds import PLACES, WORTH_A_TRY

CONFIRM = Schedule(repeats=15, seconds=1.5, at_least=1)

CHECKED_AT = ("SMALL", "S")
"""Presets small enough for a slow reference, whose sizes are no round numbers."""

ONCE = Schedule(repeats=0, at_least=0)

BestRecipes = dict[int, list[tuple[Step, ...]]]
"""Nest position to its recipes, best first."""


@dataclass(frozen=True)
class Confirmation:
    """The best recipes at one size, timed in turn with docc's own compile.

    Attributes:
        baseline: docc's own compile.
        plain: the prepared program without recipes.
        tuned: place to times, when every nest has its recipe of that place.
        programs: place to the recipes used.
        nests: how many nests the prepared program has.
        whole: seconds of the fastest program as a whole: with the recipes that are best for each
            nest, or without any, or docc's own compile.
    """

    baseline: Times
    plain: Times
    tuned: Mapping[int, Times]
    programs: Mapping[int, Candidate]
    nests: int
    whole: float

    def before(self, position: int) -> float:
        """Seconds of a nest under docc's own compile.

        docc's own compile fuses nests. Where it keeps as many as we have, they are compared one by
        one; else the nest's part of docc's time is estimated by its part of the prepared program's.
        """
        if len(self.baseline.nests) == self.nests:
            return fastest(self.baseline, position)
        whole = min(self.baseline.seconds) / min(self.plain.seconds)
        return fastest(self.plain, position) * whole

    def after(self, position: int, steps: tuple[Step, ...]) -> float:
        """Seconds of a nest with a recipe, 0 if that failed; no steps mean docc's own schedule."""
        if not steps:
            return fastest(self.plain, position)
        times = [
            fastest(times, position)
            for place, times in self.tuned.items()
            if self.programs[place].get(position) == steps
        ]
        return min(times, default=0.0)

    def combination(self) -> Candidate:
        """The fastest recipe of each nest, where one is faster than docc's own schedule of it."""
        best: dict[int, tuple[float, tuple[Step, ...]]] = {}
        for program in self.programs.values():
            for position, steps in program.items():
                seconds = self.after(position, steps)
                limit = best[position][0] if position in best else fastest(self.plain, position)
                if 0 < seconds < limit:
                    best[position] = seconds, steps
        return {position: steps for position, (_, steps) in best.items()}


def best_recipes(session: Session, log: TrialLog, task: TuningTask) -> BestRecipes:
    """The best recipes of every nest whose numbers are right on other data too."""
    chosen: BestRecipes = {}
    for nest in session.nests:
        best = [t.recipe.steps for t in ranking(log, nest.position) if t.speedup > WORTH_A_TRY]
        if best:
            chosen[nest.position] = best[: PLACES + 2]
    right = right_elsewhere(task, session.target, chosen)
    return {position: kept[:PLACES] for position, kept in right.items() if kept}


def whole_programs(best: BestRecipes) -> list[Candidate]:
    """Whole programs: the best recipe of every nest, then the second best…"""
    longest = max(map(len, best.values()), default=0)
    return [
        {position: recipes[min(place, len(recipes) - 1)] for position, recipes in best.items()}
        for place in range(longest)
    ]


def confirm(
    session: Session, candidates: Sequence[Candidate], schedule: Schedule = CONFIRM
) -> Confirmation:
    """Time `candidates` in turn with docc's own compile; those that fail are left out."""
    builts = _builts(session, candidates)
    baseline, plain, tuned = session.race([*builts.values()], schedule)
    if not plain.seconds:
        raise WrongResultError("the prepared program's numbers differ from docc's own compile's")
    found = Confirmation(baseline, plain, {}, {}, len(session.nests), 0.0)
    return _together(session, _with(found, candidates, builts, tuned), builts)


def confirm_more(
    session: Session, earlier: Confirmation, candidates: Sequence[Candidate]
) -> Confirmation:
    """Time `candidates` in turn with the best of an earlier one of the same session: docc's own
    compile, which may take long, is not run again."""
    place, times = min(earlier.tuned.items(), key=lambda item: min(item[1].seconds))
    builts = _builts(session, [earlier.programs[place], *candidates])
    if 0 not in builts:
        return earlier
    again, *tuned = session.time([*builts.values()], CONFIRM, tolerant=True)
    pace = min(again.seconds) / min(times.seconds)
    found = Confirmation(
        earlier.baseline.scaled(pace), earlier.plain.scaled(pace), {}, {}, earlier.nests, 0.0
    )
    programs = [earlier.programs[place], *candidates]
    return _together(session, _with(found, programs, builts, [again, *tuned]), builts)


def _builts(session: Session, candidates: Sequence[Candidate]) -> dict[int, Built]:
    """Place to library, for those candidates that compile and run."""
    builts = (_built(session, candidate) for candidate in candidates)
    return {place: built for place, built in enumerate(builts) if built is not None}


def _built(session: Session, candidate: Candidate) -> Built | None:
    """A candidate's library, None if it does not compile or run or gives wrong numbers."""
    try:
        built = session.build(candidate)
        session.check(built)
    except LoopbookError:
        return None
    return built


def _with(
    confirmation: Confirmation,
    programs: Sequence[Candidate],
    builts: Mapping[int, Built],
    times: Sequence[Times],
) -> Confirmation:
    """The confirmation with times of `builts`; those without any were wrong."""
    tuned = {place: t for place, t in zip(builts, times, strict=True) if t.seconds}
    whole = min(
        min(t.seconds) for t in (confirmation.baseline, confirmation.plain, *tuned.values())
    )
    return replace(
        confirmation, tuned=tuned, programs={place: programs[place] for place in tuned}, whole=whole
    )


def _together(
    session: Session, confirmation: Confirmation, builts: Mapping[int, Built]
) -> Confirmation:
    """The confirmation with the best of every nest in one program, confirmed as a whole."""
    best = confirmation.combination()
    if not best or best in confirmation.programs.values():
        return confirmation
    together = _built(session, best)
    if together is None:
        return confirmation
    place, times = min(confirmation.tuned.items(), key=lambda item: min(item[1].seconds))
    again, mixed = session.time([builts[place], together], CONFIRM, tolerant=True)
    if not mixed.seconds:
        return confirmation
    pace = min(times.seconds) / min(again.seconds)
    mixed = mixed.scaled(pace)
    number = max(confirmation.tuned) + 1
    return replace(
        confirmation,
        tuned={**confirmation.tuned, number: mixed},
        programs={**confirmation.programs, number: best},
        whole=min(confirmation.whole, min(mixed.seconds)),
    )


def right_elsewhere(task: TuningTask, target: str, recipes: BestRecipes) -> BestRecipes:
    """Those of `recipes` whose numbers are the unoptimised program's on other data too.

    The data are the task's own at a small size, and where it has any, its second ones.
    """
    preset = next((p for p in CHECKED_AT if p in task.parameters), None)
    if preset is None:
        return recipes
    arguments = task.arguments(preset)
    text = task.text(arguments)
    with scratch.folder() as folder:
        unoptimised = build_baseline(text, "none", folder / "none")
        bindings = [task.binding(arguments)]
        if (second := task.second_data(arguments)) is not None:
            bindings.append(task.binding(second))
        checks = [(b, b.results(unoptimised.library)) for b in bindings]

        def right(candidate: Candidate) -> bool:
            try:
                built = build_tuned(text, target, candidate, folder / "tried", lenient=True)
                for binding, expected in checks:
                    binding.measure([built], ONCE, expected)
            except LoopbookError:
                return False
            return True

        kept: BestRecipes = {position: [] for position in recipes}
        for candidate in whole_programs(recipes):
            whole = right(candidate)
            for position, steps in candidate.items():
                if steps not in kept[position] and (whole or right({position: steps})):
                    kept[position].append(steps)
        return kept


def fastest(times: Times, position: int) -> float:
    """A nest's fastest run, 0 if there is none."""
    runs = times.nests.get(position)
    return min(runs) if runs else 0.0
