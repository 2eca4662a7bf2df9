"""Random search: the usual openings, then one random composite recipe after the other."""

from __future__ import annotations

from loopbook.moves import openings, propose
from loopbook.steps import Step
from loopbook.tuner.strategies.base import Problem


class RandomSearch:
    """Learns nothing from what it is told."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._openings = openings(problem.nest, problem.around)

    def ask(self) -> tuple[Step, ...]:
        if self._openings:
            return self._openings.pop(0)
        return propose(self._problem.nest, self._problem.random, self._problem.around)

    def tell(self, steps: tuple[Step, ...], speedup: float | None) -> None:
        if steps in self._openings:
            self._openings.remove(steps)
