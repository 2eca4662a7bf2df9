"""Evolutionary search: the best recipes so far are changed a little and crossed."""

from __future__ import annotations

from random import Random

from loopbook.recipes.step import Step
from loopbook.sdfg.nest import Nest
from loopbook.tuner.moves import ROWS, TILES, Surroundings, openings, propose, random_step

POPULATION = 8
FRESH = 0.35
"""Share of proposals that are new random recipes."""

CROSSED = 0.2
"""Share of proposals that take the beginning of one parent and the end of another."""

FIRST_GENERATION = 16
MAX_STEPS = 60


class Evolution:
    """Keeps the `POPULATION` best distinct recipes; parents are drawn by tournament."""

    def __init__(self, nest: Nest, random: Random, around: Surroundings) -> None:
        self._nest, self._random, self._around = nest, random, around
        self._openings = openings(nest, around)
        self._best: list[tuple[float, tuple[Step, ...]]] = []
        self._seen: set[tuple[Step, ...]] = set()

    def ask(self) -> tuple[Step, ...]:
        if self._openings:
            return self._openings.pop(0)
        for _ in range(20):
            steps = self._breed()
            if steps not in self._seen:
                break
        self._seen.add(steps)
        return steps

    def tell(self, steps: tuple[Step, ...], speedup: float | None) -> None:
        if steps in self._openings:
            self._openings.remove(steps)
        self._seen.add(steps)
        if speedup is None or any(steps == known for _, known in self._best):
            return
        self._best.append((speedup, steps))
        self._best.sort(key=lambda item: -item[0])
        del self._best[POPULATION:]

    def _breed(self) -> tuple[Step, ...]:
        draw = self._random.random()
        if len(self._seen) < FIRST_GENERATION or not self._best or draw < FRESH:
            return propose(self._nest, self._random, self._around)
        if draw < FRESH + CROSSED:
            return self._cross(self._parent(), self._parent())
        return self._mutate(self._parent())

    def _parent(self) -> tuple[Step, ...]:
        rivals = [self._random.choice(self._best) for _ in range(2)]
        return max(rivals)[1]

    def _cross(self, first: tuple[Step, ...], second: tuple[Step, ...]) -> tuple[Step, ...]:
        head = self._random.randint(0, len(first))
        tail = self._random.randint(0, len(second))
        return (first[:head] + second[tail:])[:MAX_STEPS]

    def _mutate(self, parent: tuple[Step, ...]) -> tuple[Step, ...]:
        steps = list(parent)
        for _ in range(self._random.choice((1, 1, 2))):
            sized = [n for n, s in enumerate(steps) if s.op == "tile"]
            draw = self._random.random()
            if sized and draw < 0.5:
                place = self._random.choice(sized)
                steps[place] = self._resize(steps[place])
            elif steps and draw < 0.7:
                del steps[self._random.randrange(len(steps))]
            elif len(steps) < MAX_STEPS:
                fresh = random_step(self._nest, self._random, self._around)
                steps.insert(self._random.randint(0, len(steps)), fresh)
        return tuple(steps)

    def _resize(self, tile: Step) -> Step:
        """A size next to the present one on the ladder of usual sizes."""
        name, size = str(tile.args[0]), int(tile.args[1])
        ladder = sorted({*ROWS, *TILES, 12, 24, 48})
        above = [s for s in ladder if s > size][:2]
        below = [s for s in ladder if s < size][-2:]
        return Step("tile", (name, self._random.choice(above + below)))
