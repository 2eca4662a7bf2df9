"""How much is expected of the nests of a book on this machine, and how much of that is there.

All gains are logarithms of speedups over docc's own compile. Until a nest was measured here, it
counts with what planning would serve it for: the gain on the nearest machine, less what is taken
off for the distance (`loopbook.client.machines.doubt`). What it may come to is the gain there times
the share of gains that came over for the nests measured so far.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loopbook.client.machines import doubt

CARRIED, CARRIED_WEIGHT = 0.9, 5.0
"""The share of gains that carries over from machine to machine, as long as nothing is known of it,
and how many nests' worth of evidence that is."""

NEAR = math.log(1.1)
"""What is missing may be so much and not be worth a search."""

COMPARED, SEARCHED, FAILED = "compared", "searched", "failed"
"""Stages that a nest has reached; before, it has none."""


@dataclass(frozen=True)
class Outlook:
    """One nest's gains.

    Attributes:
        weight: how much it matters beside others.
        there: gain on the machine whose records planning would take.
        away: distance of that machine.
        here: gain measured here; None before.
        stage: "", `COMPARED`, `SEARCHED` or `FAILED`.
    """

    weight: float
    there: float
    away: float
    here: float | None = None
    stage: str = ""

    @property
    def now(self) -> float:
        """What is served now."""
        if self.here is not None:
            return self.here
        return max(0.0, self.there - doubt(self.there, self.away))

    def best(self, carried: float) -> float:
        """What it may come to, never less than it is now.

        Args:
            carried: see `carried_over`.
        """
        if self.stage in (SEARCHED, FAILED):
            return self.now
        return max(self.now, carried * self.there)

    def unsure(self) -> float:
        """What comparing recipes here may gain, or show to be lost: no more than there is."""
        return min(self.there, doubt(self.there, self.away))

    def missing(self, carried: float) -> float:
        """What a search might find, where recipes were compared and fell short; else 0."""
        if self.stage != COMPARED:
            return 0.0
        short = self.best(carried) - self.now
        return short if short > NEAR else 0.0


def carried_over(outlooks: Iterable[Outlook]) -> float:
    """The share of gains elsewhere that is there for the nests measured here, 0 to 1."""
    known = [one for one in outlooks if one.here is not None and one.there > 0]
    here = math.fsum(min(one.here or 0.0, one.there) for one in known)
    there = math.fsum(one.there for one in known)
    typical = there / len(known) if known else 1.0
    more = CARRIED_WEIGHT * typical
    return (here + CARRIED * more) / (there + more)


@dataclass(frozen=True)
class Standing:
    """Where a machine stands.

    Attributes:
        nests, measured, searched, failed: how many there are.
        share: of the expected gain that is there, 0 to 1; 1 where none is expected.
        carried: see `carried_over`.
    """

    nests: int
    measured: int
    searched: int
    failed: int
    share: float
    carried: float


def standing(outlooks: Sequence[Outlook]) -> Standing:
    """Sums up: the share is that of weighted sums, ``Σ weight · now / Σ weight · best``."""
    carried = carried_over(outlooks)
    now = math.fsum(one.weight * one.now for one in outlooks)
    best = math.fsum(one.weight * one.best(carried) for one in outlooks)
    return Standing(
        len(outlooks),
        sum(one.here is not None for one in outlooks),
        sum(one.stage == SEARCHED for one in outlooks),
        sum(one.stage == FAILED for one in outlooks),
        min(1.0, now / best) if best > 0 else 1.0,
        carried,
    )
