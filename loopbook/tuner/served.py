"""What is fastest as it is served.

A search times docc's own code, in which timers tell nests apart. What callers get is mended
further: arrays are told apart, sums are spread (`loopbook.sdfg.transformed`). A recipe may gain in
the one and lose in the other, and a nest of which no book knows anything gets what rules make of it
(`loopbook.client.heuristics`). So whole programs are timed as they are served, and only recipes of
those that are about as fast as the fastest one are confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.errors import LoopbookError
from loopbook.program.trips import trip_counts
from loopbook.recipes.hardware import HardwareProfile
from loopbook.rules import TuningContext
from loopbook.sdfg.build import build_tuned
from loopbook.toolchain.built import Built
from loopbook.tuner.confirmation import CONFIRM, BestRecipes, whole_programs
from loopbook.tuner.neighbours import by_rules_alone
from loopbook.tuner.search import Starts
from loopbook.tuner.session import Candidate, Session
from loopbook.tuner.settings import Settings
from loopbook.tuner.thresholds import BETTER


def fastest_served(
    session: Session,
    best: BestRecipes,
    hardware: HardwareProfile,
    settings: Settings,
    starts: Starts = lambda nest: (),
) -> BestRecipes:
    """The recipes of those programs that are about as fast as the fastest one, as callers get them:
    the best of each nest, the second best, …, and what rules or books would serve where they have
    something.

    Everything stays as it is where none can be compiled.
    """
    candidates = whole_programs(best)
    for served in unasked(session, hardware, settings, starts) if candidates else ():
        if (mixed := {**candidates[0], **served}) not in candidates:
            candidates.append(mixed)
    if len(candidates) < 2:
        return best
    seconds = _seconds(session, candidates)
    if not seconds:
        return best
    limit = BETTER * min(seconds.values())
    kept: BestRecipes = {}
    for place in sorted(seconds, key=lambda place: seconds[place]):
        for position, steps in candidates[place].items() if seconds[place] <= limit else ():
            if steps not in kept.setdefault(position, []):
                kept[position].append(steps)
    return kept


def unasked(
    session: Session, hardware: HardwareProfile, settings: Settings, starts: Starts
) -> tuple[Candidate, Candidate]:
    """What rules make of each nest where no book knows anything, and what a search begins with."""
    ruled: Candidate = {}
    begun: Candidate = {}
    for nest in session.tuned:
        trips = trip_counts(nest, session.symbols)
        around = TuningContext.of(hardware, session.target, trips, libraries=settings.libraries)
        for recipe in by_rules_alone(nest, around)[:1]:
            ruled[nest.position] = recipe.steps
        for recipe in starts(nest)[:1]:
            begun[nest.position] = recipe.steps
    return ruled, begun


def _seconds(session: Session, candidates: Sequence[Candidate]) -> dict[int, float]:
    """Place to the fastest run of each program that compiles and is right."""
    builts: dict[int, Built] = {}
    for place, candidate in enumerate(candidates):
        folder = session.folder / f"served{place}"
        try:
            builts[place] = build_tuned(
                session.text, session.target, candidate, folder, vector_maths=True
            )
        except LoopbookError:
            continue
    try:
        times = session.time([*builts.values()], CONFIRM, tolerant=True) if builts else []
    except LoopbookError:
        return {}
    pairs = zip(builts, times, strict=True)
    return {place: min(taken.seconds) for place, taken in pairs if taken.seconds}
