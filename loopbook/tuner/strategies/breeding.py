"""New recipes from measured ones."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from loopbook.tuner.strategies.base import Problem
from loopbook.tuner.strategies.editing import Steps, edited, grafted
from loopbook.tuner.strategies.genome import Genome, cross, express, mutate
from loopbook.tuner.strategies.population import Individual, tournament

CROSSED = 0.6
"""Share of children with several parents."""

MUTATED = 0.5
"""Share of crossed children of which a gene is changed as well."""

EDITED = 0.15
"""Share of children of a parent with a genome whose steps are changed instead."""

PARENTS = 3

Child = tuple[Steps, Genome | None]


def breed(problem: Problem, rivals: Sequence[Individual], random: Random) -> Child:
    """A child of parents drawn from `rivals`, which come best first.

    Parents with genomes are crossed gene by gene; recipes of which only the steps are known give
    the steps of whole bands, or are changed a little.
    """
    parents = [tournament(rivals, random) for _ in range(PARENTS)]
    genomes = [parent.genome for parent in parents if parent.genome is not None]
    if random.random() < CROSSED:
        if len(genomes) > 1:
            genome = cross(genomes, random)
            if random.random() < MUTATED:
                genome = mutate(genome, random)
            return express(problem, random, genome)
        if parents[0].steps != parents[1].steps:
            steps = grafted(problem.nest, parents[0].steps, parents[1].steps, random)
            if steps not in (parents[0].steps, parents[1].steps):
                return steps, None
    return changed(problem, parents[0], random)


def changed(problem: Problem, parent: Individual, random: Random) -> Child:
    """The recipe with a decision or two taken otherwise, or with a step or two changed."""
    if parent.genome is None or random.random() < EDITED:
        return edited(problem, parent.steps, random), None
    return express(problem, random, mutate(parent.genome, random, random.choice((1, 1, 2))))
