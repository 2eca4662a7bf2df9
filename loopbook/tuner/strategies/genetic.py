"""Genetic search: genes are the decisions behind a recipe, children have up to three parents.

After N. Vasilache et al., "Tensor Comprehensions", arXiv:1802.04730, section 5.1; in place of
whole generations the worst of the population makes room for each child that is better, so that no
measurement waits for the others.
"""

from __future__ import annotations

from loopbook.rules import seed_population
from loopbook.steps import Step
from loopbook.tuner.strategies.base import Problem
from loopbook.tuner.strategies.breeding import Child, breed
from loopbook.tuner.strategies.genome import express
from loopbook.tuner.strategies.population import Population

POPULATION = 8
"""The best recipes, which breed."""

FIRST_GENERATION = 20
"""Recipes to measure before the first children."""

FRESH = 0.15
"""Share of later proposals that are new random recipes."""

TRIES = 50
"""Samples before something known is proposed again."""


class Genetic:
    """Keeps the `POPULATION` best distinct recipes and breeds them."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self._random = problem, problem.random
        self._seeds = seed_population(problem.nest, problem.context)
        self._population = Population(problem)

    def ask(self) -> tuple[Step, ...]:
        while self._seeds:
            steps = self._seeds.pop(0)
            if not self._population.knows(steps):
                return self._population.ask(steps)
        child = self._child()
        for _ in range(TRIES):
            if not self._population.knows(child[0]):
                break
            child = self._child()
        return self._population.ask(*child)

    def tell(self, steps: tuple[Step, ...], speedup: float | None) -> None:
        self._population.tell(steps, speedup)

    def _child(self) -> Child:
        early = self._population.trials < FIRST_GENERATION
        if not early and self._random.random() >= FRESH:
            parents = self._population.parents(POPULATION)
            if parents:
                return breed(self._problem, parents, self._random)
        return express(self._problem, self._random)
