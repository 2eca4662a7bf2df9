"""What the prediction of a speedup starts from: one row of numbers for each candidate recipe.

A row holds the features of the nest before the recipe and, once it has been tried, after it, how
the two differ, what sort of nest it is, the machine, and, for a recipe that comes from a record,
how much it gained there, how far away that nest and machine are, and in what the two nests differ
before and after.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from loopbook.predict import features
from loopbook.predict.context import CONTEXT, context
from loopbook.predict.features import SITE, Features
from loopbook.program.nest import Nest
from loopbook.recipes.hardware import HardwareProfile
from loopbook.rules import TuningContext
from loopbook.steps import STEPS, Step, expanded, name_of
from loopbook.steps.workbench import Transformed
from loopbook.targets import TARGETS

_MACHINE = ("openmp", "threads", "vector bits", "l1", "l2", "l3", "peak", "bandwidth")
_DONOR = ("known", "expected", "speedup", "distance", "hardware distance", "dropped")
_STEPS = tuple(sorted(STEPS))
_CYCLES = [features.NAMES.index("cycles")]

COLUMNS = (
    *features.NAMES,
    *(f"step {name}" for name in _STEPS),
    *(f"before {name}" for name in SITE),
    *(f"change {name}" for name in SITE),
    "change cycles",
    *(f"nest {name}" for name in CONTEXT),
    *(f"machine {name}" for name in _MACHINE),
    *(f"donor {name}" for name in _DONOR),
    *(f"donor before {name}" for name in SITE),
    *(f"donor after {name}" for name in SITE),
)
"""What each place of a row holds. Speedups are base-2 logarithms. Without a donor its columns are
`NO_DONOR`."""

NO_DONOR = -100.0


def column_of(name: str) -> str:
    """A column by the name that it had when weights were written: steps are called otherwise now
    and then."""
    kind, _, op = name.partition(" ")
    return f"{kind} {name_of(op)}" if kind == "step" else name


@dataclass(frozen=True, eq=False)
class Donor:
    """A record as a row sees it.

    Attributes:
        before, after: features of the body that runs most often, without the recipe and with it.
        expected: what all neighbours together say of the recipe, as a speedup (see
            `loopbook.client.ports`).
        speedup: the record's, over all sizes measured.
        distance: between the nests' vectors; `hardware_distance` between the machines.
    """

    before: np.ndarray
    after: np.ndarray
    expected: float
    speedup: float
    distance: float
    hardware_distance: float


class Rows:
    """Makes the rows of one nest's candidates.

    Args:
        trips: loop name to how often it runs, as far as that is known.
        rules: names of the rules that apply to the nest (`schedule_rule.applicable`).
    """

    def __init__(
        self,
        nest: Nest,
        hardware: HardwareProfile,
        target: str,
        trips: Mapping[str, int],
        rules: Collection[str] = (),
    ) -> None:
        self._features = Features(nest, TuningContext.of(hardware, target, trips))
        told = self._features(Transformed.of(nest))
        self._before, self._cycles = told[: len(SITE)], told[_CYCLES]
        self._around = np.concatenate([context(nest, rules), _machine(hardware, target)])

    def __call__(
        self,
        steps: Sequence[Step],
        after: Transformed | None = None,
        donor: Donor | None = None,
        dropped: int = 0,
    ) -> np.ndarray:
        """A row in the order of `COLUMNS`, float32. What follows from the tree after the recipe is
        NaN where that is not known.

        Args:
            steps: the recipe in the nest's own words.
            after: the nest as they have left it; None before they have been tried on it.
            donor: the record that it comes from.
            dropped: how many of the record's steps are left out.
        """
        told = self._features(after, steps)
        tuned = told[: len(SITE)]
        if donor is None:
            known = np.full(len(_DONOR) + 2 * len(SITE), NO_DONOR, np.float32)
            known[0] = 0.0
        else:
            said = [
                1.0,
                _log(donor.expected),
                _log(donor.speedup),
                donor.distance,
                donor.hardware_distance,
                dropped,
            ]
            known = np.concatenate([said, self._before - donor.before, tuned - donor.after])
        changes = [self._before, tuned - self._before, told[_CYCLES] - self._cycles]
        parts = [told, _operations(tuple(steps)), *changes, self._around, known]
        return np.concatenate(parts, dtype=np.float32)

    def bodies(self, after: Transformed) -> tuple[np.ndarray, np.ndarray]:
        """What a `Donor` tells of this nest, with what a recipe has made of it."""
        return self._before, self._features(after)[: len(SITE)]


@lru_cache(maxsize=4096)
def _operations(steps: tuple[Step, ...]) -> np.ndarray:
    """How often each of `_STEPS` is among some steps, remembered as their features are."""
    counts = Counter(step.op for step in expanded(steps))
    return np.array([counts[name] for name in _STEPS], np.float32)


def _machine(hardware: HardwareProfile, target: str) -> np.ndarray:
    figures = (
        hardware.threads,
        hardware.vector_bits,
        hardware.l1d_bytes,
        hardware.l2_bytes,
        hardware.l3_bytes,
        hardware.peak_gflops,
        hardware.bandwidth_gbs,
    )
    logs = [math.log2(figure) if figure > 0 else 0.0 for figure in figures]
    return np.array([float(TARGETS[target].parallel), *logs], np.float32)


def _log(speedup: float) -> float:
    return math.log2(min(max(speedup, 1e-3), 1e4))
