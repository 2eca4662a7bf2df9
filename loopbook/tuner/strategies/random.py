"""Random search: the usual openings, then one random composite recipe after the other."""

from __future__ import annotations

from random import Random

from loopbook.recipes.step import Step
from loopbook.sdfg.nest import Nest
from loopbook.tuner.moves import Surroundings, openings, propose


class RandomSearch:
    """Learns nothing from what it is told."""

    def __init__(self, nest: Nest, random: Random, around: Surroundings) -> None:
        self._nest, self._random, self._around = nest, random, around
        self._openings = openings(nest, around)

    def ask(self) -> tuple[Step, ...]:
        if self._openings:
            return self._openings.pop(0)
        return propose(self._nest, self._random, self._around)

    def tell(self, steps: tuple[Step, ...], speedup: float | None) -> None:
        if steps in self._openings:
            self._openings.remove(steps)
