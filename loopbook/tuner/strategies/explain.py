"""Genomes for recipes from elsewhere: which decisions of our rules would have made them?

Seed populations, neighbours' recipes and results of an earlier run come as steps only. The
decisions behind them are searched by how much the recipe that they make is like the one at hand;
with them, such recipes breed like all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

from loopbook.steps import Step
from loopbook.tuner.strategies.base import Problem
from loopbook.tuner.strategies.genome import Gene, Genome, Locus, express

SAMPLES = 240
"""Random genomes to begin with."""

CLIMBS = 3
"""Of them, the best, that are improved gene by gene."""

BUDGET = 900
"""Recipes made in all: a tenth of a second."""

ALIKE = 0.75
"""Share of equal steps from which a genome is taken for a recipe's."""

MAX_SIZE = 24
"""Decisions among more values are not gone through."""

NUMBERS = (0.02, 0.2, 0.4, 0.6, 0.8, 0.98)

Steps = tuple[Step, ...]


def explain(problem: Problem, steps: Steps) -> Genome | None:
    """The genome that comes nearest to making `steps`; None if none comes near."""
    random = Random(str(steps))
    wanted = Counter(steps)
    tried: list[tuple[float, Genome]] = []
    for _ in range(SAMPLES):
        made, genome = express(problem, random)
        tried.append((_similarity(made, wanted), genome))
        if made == steps:
            return genome
    tried.sort(key=lambda pair: -pair[0])
    best, spent = tried[0], SAMPLES
    for similarity, genome in tried[:CLIMBS]:
        climbed, spent = _climb(problem, wanted, similarity, genome, random, spent)
        if climbed[0] > best[0]:
            best = climbed
    return best[1] if best[0] >= ALIKE else None


def _climb(
    problem: Problem,
    wanted: Counter[Step],
    similarity: float,
    genome: Genome,
    random: Random,
    spent: int,
) -> tuple[tuple[float, Genome], int]:
    """Change one gene after the other while that makes the recipe more alike."""
    improved = True
    while improved and similarity < 1:
        improved = False
        for locus in list(genome):
            for gene in _alternatives(locus):
                if spent >= BUDGET:
                    return (similarity, genome), spent
                spent += 1
                made, full = express(problem, random, {**genome, locus: gene})
                if _similarity(made, wanted) > similarity:
                    similarity, genome, improved = _similarity(made, wanted), full, True
    return (similarity, genome), spent


def _alternatives(locus: Locus) -> Iterator[Gene]:
    if locus.kind == "number":
        yield from NUMBERS
    elif locus.kind == "index" and locus.size <= MAX_SIZE:
        yield from range(locus.size)
    elif locus.kind == "order" and locus.size <= MAX_SIZE:
        order = range(locus.size)
        for shift in range(locus.size):
            turned = [*order[shift:], *order[:shift]]
            yield tuple(turned[: locus.taken])
            yield tuple(reversed(turned))[: locus.taken]


def _similarity(made: Steps, wanted: Counter[Step]) -> float:
    """Share of steps that two recipes have in common; 1 if they have the same ones."""
    total = len(made) + wanted.total()
    return 2 * (Counter(made) & wanted).total() / total if total else 1.0
