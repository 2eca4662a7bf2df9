"""What the encoder learns nearness from: whose recipes worked on a nest, and whose did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loopbook.embed.graph import NestGraph


@dataclass(frozen=True, eq=False)
class Lesson:
    """One nest with the records that were tried on it.

    Attributes:
        target: the nest's graph.
        donors: graphs of the nests whose recipes were ported to it.
        regrets: ``(len(donors),)``, 1 - speedup got / best speedup known of the target; 1 where the
            recipe could not be ported or failed.
        facts: ``(f,)`` what else the target's vector should tell, NaN where unknown: static
            features, the logarithm of the time of an iteration.
    """

    target: NestGraph
    donors: Sequence[NestGraph]
    regrets: np.ndarray
    facts: np.ndarray


def standardised(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The same lessons with facts of mean 0 and deviation 1; what never varies becomes 0."""
    if not lessons:
        return []
    table = np.stack([lesson.facts for lesson in lessons])
    known = ~np.isnan(table)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, table, 0.0).sum(axis=0) / counts
    apart = np.where(known, table - mean, 0.0)
    deviation = np.sqrt((apart * apart).sum(axis=0) / counts)
    scaled = np.where(known, (table - mean) / np.where(deviation > 1e-6, deviation, 1.0), np.nan)
    return [
        Lesson(lesson.target, lesson.donors, lesson.regrets, row.astype(np.float32))
        for lesson, row in zip(lessons, scaled, strict=True)
    ]
