"""Random search: the usual seed population, then one random composite recipe after the other."""

from __future__ import annotations

from loopbook.rules import propose, seed_population
from loopbook.steps import Step
from loopbook.tuner.strategies.base import Problem


class RandomSearch:
    """Learns nothing from what it is told."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._seeds = seed_population(problem.nest, problem.context)

    def ask(self) -> tuple[Step, ...]:
        if self._seeds:
            return self._seeds.pop(0)
        return propose(self._problem.nest, self._problem.random, self._problem.context)

    def tell(self, steps: tuple[Step, ...], speedup: float | None) -> None:
        if steps in self._seeds:
            self._seeds.remove(steps)
