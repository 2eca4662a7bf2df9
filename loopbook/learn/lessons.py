"""Turns measured transfers into lessons for the encoder."""

from __future__ import annotations

import math

import numpy as np

from loopbook.embed.corpus import MAX_NODES
from loopbook.embed.graph import NestGraph, canonical_graph
from loopbook.embed.lessons import Lesson
from loopbook.learn.examples import Example, Examples
from loopbook.predict.features import SITE, Features
from loopbook.program.trips import iterations
from loopbook.rules import TuningContext
from loopbook.steps.workbench import Transformed

LEAST_DONORS = 3
"""With fewer, there is nothing to compare."""


def lessons(examples: Examples) -> list[Lesson]:
    """One lesson for each nest, size and machine on which several records were tried.

    Of several recipes of one nest the best counts: who finds that nest can use it.
    """
    graphs: dict[str, NestGraph] = {}

    def graph(fingerprint: str) -> NestGraph:
        if fingerprint not in graphs:
            graphs[fingerprint] = canonical_graph(examples.nests[fingerprint])
        return graphs[fingerprint]

    made = []
    for group in _targets(examples).values():
        first = group[0]
        if graph(first.fingerprint).nodes > MAX_NODES:
            continue
        regrets: dict[str, float] = {}
        for one in group:
            donor = examples.sources[one.donor].fingerprint
            if graph(donor).nodes <= MAX_NODES:
                regrets[donor] = min(regrets.get(donor, 1.0), regret(one))
        if len(regrets) >= LEAST_DONORS:
            made.append(
                Lesson(
                    graph(first.fingerprint),
                    [graph(donor) for donor in regrets],
                    np.array(list(regrets.values()), np.float32),
                    _facts(examples, first),
                )
            )
    return made


def regret(one: Example) -> float:
    """1 - speedup got / best known: 0 for the best, 1 for what cannot be used at all.

    docc's own schedule is always there to fall back on, so that no recipe is worse than useless.
    """
    if not one.fits:
        return 1.0
    best = max(one.best, one.gain)
    return min(max(1.0 - 2.0 ** (one.gain - best), 0.0), 1.0)


def _targets(examples: Examples) -> dict[tuple[object, ...], list[Example]]:
    groups: dict[tuple[object, ...], list[Example]] = {}
    for one in examples.examples:
        source = examples.sources.get(one.donor)
        known = source is not None and source.fingerprint in examples.nests
        if known and one.fingerprint in examples.nests:
            key = (one.fingerprint, one.target, one.hardware, tuple(one.trips.items()))
            groups.setdefault(key, []).append(one)
    return groups


def _facts(examples: Examples, one: Example) -> np.ndarray:
    """Static features of the nest, with what they say of reuse in the machine's caches, and the
    logarithm of the seconds that one iteration takes by docc's own schedule."""
    nest = examples.nests[one.fingerprint]
    around = TuningContext.of(examples.hardware[one.hardware], one.target, one.trips)
    told = Features(nest, around)(Transformed.of(nest))[: len(SITE)]
    count = iterations(nest, one.trips)
    known = bool(count) and one.baseline_s > 0
    seconds = math.log2(one.baseline_s / count) if known and count else math.nan
    return np.append(told, seconds).astype(np.float32)
