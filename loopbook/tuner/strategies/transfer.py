"""Transfer-seeded search: begins with the recipes of near neighbours.

After "Performance embeddings" (L. Trümper et al., ICS 2023), which measures the recipes of the
nearest neighbours only: here small changes of those that did best come next, in turn with the
proposals of a search that is told of all results.
"""

from __future__ import annotations

from collections.abc import Callable

from loopbook.steps import Step
from loopbook.tuner.strategies.base import Problem, Strategy
from loopbook.tuner.strategies.breeding import changed
from loopbook.tuner.strategies.genetic import Genetic
from loopbook.tuner.strategies.population import Population

VARIANTS = 6
"""Changed copies tried after each recipe that is faster than docc's own schedule and all before."""

BEST = 3
"""Of the recipes measured so far, that are changed further."""

TRIES = 20
"""Changes drawn before it is left to the search."""

BETTER = 1.02
"""What is faster by less may be noise."""


class Transfer:
    """Without neighbours it is the search that it hands over to."""

    def __init__(self, problem: Problem, search: Callable[[Problem], Strategy] = Genetic) -> None:
        self._problem = problem
        self._search = search(problem)
        self._population = Population(problem)
        self._waiting = list(dict.fromkeys(problem.starts))
        self._seeded = bool(self._waiting)
        self._variants = 0
        self._turn = False

    def ask(self) -> tuple[Step, ...]:
        while self._waiting:
            steps = self._waiting.pop(0)
            if not self._population.knows(steps):
                return self._population.ask(steps)
        self._turn = not self._turn
        if self._turn and self._variants > 0:
            variant = self._variant()
            if variant is not None:
                return variant
        return self._population.ask(self._search.ask())

    def tell(self, steps: tuple[Step, ...], speedup: float | None) -> None:
        before = self._population.best(1)
        found = self._population.tell(steps, speedup)
        beaten = max(1.0, before[0].speedup) if before else 1.0
        if self._seeded and found.speedup > BETTER * beaten:
            self._variants += VARIANTS
        self._search.tell(steps, speedup)

    def _variant(self) -> tuple[Step, ...] | None:
        """A new change of one of the best recipes; None if there seems to be none."""
        self._variants -= 1
        problem, parents = self._problem, self._population.parents(BEST)
        for _ in range(TRIES if parents else 0):
            variant = changed(problem, problem.random.choice(parents), problem.random)
            if not self._population.knows(variant[0]):
                return self._population.ask(*variant)
        return None
