"""Turns what a search has confirmed into records: for each nest, what to use at which size."""

from __future__ import annotations

import datetime
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loopbook.program.nest import Nest
from loopbook.program.trips import trip_counts
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Measurement, Provenance, Record
from loopbook.sdfg import program
from loopbook.steps import Step
from loopbook.tuner.confirmation import Confirmation
from loopbook.tuner.search import versions
from loopbook.tuner.session import Session
from loopbook.tuner.thresholds import BETTER

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Round:
    """One size at which recipes were confirmed.

    Attributes:
        preset: its name.
        sizes: its parameters.
        trips: nest position to loop name to how often the loop runs.
        confirmation: the times.
    """

    preset: str
    sizes: Sizes
    trips: Mapping[int, Mapping[str, int]]
    confirmation: Confirmation

    @classmethod
    def of(cls, preset: str, sizes: Sizes, session: Session, confirmation: Confirmation) -> Round:
        """The round that was run in `session`."""
        trips = {nest.position: trip_counts(nest, session.symbols) for nest in session.nests}
        return cls(preset, sizes, trips, confirmation)

    def speedup(self, position: int, steps: tuple[Step, ...]) -> float:
        """Of a nest with a recipe over docc's own compile; 0 where that was wrong or failed."""
        after = self.confirmation.after(position, steps)
        return self.confirmation.before(position) / after if after else 0.0

    @property
    def times(self) -> tuple[float, float]:
        """Seconds of the whole program, under docc's own compile and with its recipes."""
        return min(self.confirmation.baseline.seconds), self.confirmation.whole


def chosen(rounds: Sequence[Round], position: int) -> list[tuple[Step, ...]]:
    """The recipes of a nest that are worth a record: the one that is best at the last size, and
    one more for each size at which another one is clearly better. One that failed or was wrong at
    any size is not. No steps mean docc's own schedule of the nest.
    """
    tried = [
        [f[position] for f in one.confirmation.programs.values() if position in f] for one in rounds
    ]
    right = [steps for steps in tried[-1] if all(steps in others for others in tried)]
    recipes = list(dict.fromkeys([(), *right]))
    kept: list[tuple[Step, ...]] = []
    for one in reversed(rounds):
        gains = {steps: one.speedup(position, steps) for steps in recipes}
        best = max(recipes, key=lambda steps: gains[steps])
        have = max((gains[steps] for steps in kept), default=0.0)
        if not kept or gains[best] > BETTER * max(have, 1.0):
            kept.append(best if gains[best] > BETTER * gains[()] else ())
    return list(dict.fromkeys(kept))


def confirmed(
    name: str,
    source: str,
    target: str,
    text: str,
    nests: Sequence[Nest],
    rounds: Sequence[Round],
    hardware: HardwareProfile,
    *,
    seed: int,
    trials: int,
) -> list[Record]:
    """One record for each nest and recipe that was chosen, measured at every size.

    Args:
        name, source: of the program, for provenance.
        text: the prepared program's SDFG.
        rounds: of confirmation, smallest size first.
    """
    prepared = program.prepare(text)
    provenance = Provenance(
        kernel=name,
        source=source,
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        seed=seed,
        trials=trials,
        **versions(),
    )
    return [
        Record(
            fingerprint=nest.fingerprint,
            nest=f"{name}:{nest.position}",
            nest_json=program.cut(prepared, nest),
            target=target,
            hardware=hardware,
            recipe=Recipe(steps),
            measurements=tuple(_measurements(rounds, nest.position, steps)),
            provenance=provenance,
        )
        for nest in nests
        for steps in chosen(rounds, nest.position)
    ]


def _measurements(
    rounds: Sequence[Round], position: int, steps: tuple[Step, ...]
) -> list[Measurement]:
    """One for each size at which the recipe is right. Where a nest's time cannot be told from the
    program's (docc may compile it away), the program's stands for it."""
    measured = []
    for one in rounds:
        confirmation = one.confirmation
        before, after = confirmation.before(position), confirmation.after(position, steps)
        if not (before and after):
            if steps:
                continue
            before, after = min(confirmation.baseline.seconds), min(confirmation.plain.seconds)
        runs = next(
            (
                t
                for p, t in confirmation.tuned.items()
                if confirmation.programs[p].get(position) == steps
            ),
            confirmation.plain,
        )
        pairs = zip(confirmation.plain.seconds, runs.seconds, strict=False)
        ratios = [a / b for a, b in pairs]
        measured.append(
            Measurement(
                before,
                after,
                spread(ratios),
                len(runs.seconds),
                _integers(one.sizes),
                dict(one.trips.get(position, {})),
            )
        )
    return measured


def spread(ratios: Sequence[float]) -> float:
    """Interquartile range of ratios over their median."""
    if len(ratios) < 4:
        return (max(ratios) - min(ratios)) / statistics.median(ratios)
    low, middle, high = statistics.quantiles(ratios, n=4)
    return (high - low) / middle


def _integers(sizes: Mapping[str, Any]) -> dict[str, int]:
    return {name: int(value) for name, value in sizes.items()}
