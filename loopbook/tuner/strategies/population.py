"""What a search remembers: what it asked, what came of it, and who may breed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from loopbook.steps import Step
from loopbook.tuner.strategies.base import Problem
from loopbook.tuner.strategies.explain import explain
from loopbook.tuner.strategies.genome import Genome

Steps = tuple[Step, ...]

PENDING = 64
"""Proposals that wait for their result; older ones are taken to have been lost."""

EQUAL = 0.005
"""Speedups that differ by less are taken for the same."""


@dataclass(frozen=True)
class Individual:
    """One measured recipe.

    Attributes:
        steps: that docc accepted.
        speedup: over docc's own schedule, 0 for a failure.
        genome: the decisions behind it; None for recipes from elsewhere, until they are parents.
    """

    steps: Steps
    speedup: float
    genome: Genome | None = field(default=None, repr=False)


class Population:
    """Measured recipes, each once, proposals under way, and what docc is known to refuse.

    docc is deterministic: what it refused after the same steps once, it refuses again. So
    proposals are known for what they will become, and none is measured in vain.

    Attributes:
        trials: results so far, with repeated ones.
    """

    def __init__(self, problem: Problem) -> None:
        self.trials = 0
        self._problem = problem
        self._explained: set[Steps] = set()
        self._asked: set[Steps] = set()
        self._pending: dict[Steps, Genome | None] = {}
        self._told: dict[Steps, Individual] = {}
        self._refusals = _Refusals()

    @property
    def individuals(self) -> list[Individual]:
        """In the order in which they were first told."""
        return list(self._told.values())

    def accepted(self, steps: Steps) -> Steps:
        """What docc will leave of `steps`, as far as that is known."""
        return self._refusals.accepted(steps)

    def knows(self, steps: Steps) -> bool:
        """Whether `steps` were asked before, or will become something that was told."""
        return steps in self._asked or self.accepted(steps) in self._told

    def ask(self, steps: Steps, genome: Genome | None = None) -> Steps:
        """Note that `steps` are being measured; they are given back."""
        self._asked.add(steps)
        self._pending[steps] = genome
        if len(self._pending) > PENDING:
            del self._pending[next(iter(self._pending))]
        return steps

    def tell(self, steps: Steps, speedup: float | None) -> Individual:
        """Keep a result. Of several of the same recipe the best counts."""
        self.trials += 1
        origins = self._origins(steps)
        genome = self._pending.pop(origins[0], None) if origins else None
        if len(origins) == 1:
            self._refusals.learn(origins[0], steps)
        known = self._told.get(steps)
        if known is None or known.speedup < (speedup or 0.0):
            genome = genome or (known.genome if known else None)
            self._told[steps] = Individual(steps, speedup or 0.0, genome)
        return self._told[steps]

    def best(self, count: int) -> list[Individual]:
        """Those that worked, best first. Of those that are equally fast only one: steps without
        effect make many of them, which would crowd others out."""
        worked = sorted(self._told.values(), key=lambda individual: -individual.speedup)
        chosen: list[Individual] = []
        for one in worked:
            if len(chosen) == count or one.speedup <= 0:
                break
            if not chosen or one.speedup < (1 - EQUAL) * chosen[-1].speedup:
                chosen.append(one)
        return chosen

    def parents(self, count: int) -> list[Individual]:
        """The best, with genomes also for recipes from elsewhere, where some can be found."""
        for one in self.best(count):
            if one.genome is None and one.steps not in self._explained:
                self._explained.add(one.steps)
                genome = explain(self._problem, one.steps)
                self._told[one.steps] = replace(one, genome=genome)
        return self.best(count)

    def _origins(self, steps: Steps) -> list[Steps]:
        """The pending proposals that may have become `steps`, oldest first. With more than one,
        nothing can be learnt of what was refused."""
        if steps in self._pending:
            return [steps]
        return [asked for asked in self._pending if _becomes(asked, steps)]


class _Refusals:
    """Which steps docc refused after which others, as a tree of the steps that it accepted."""

    def __init__(self) -> None:
        self._after: dict[Step, _Refusals] = {}
        self._refused: set[Step] = set()

    def accepted(self, steps: Steps) -> Steps:
        left: list[Step] = []
        place = self
        for number, step in enumerate(steps):
            if step in place._refused:
                continue
            left.append(step)
            if step not in place._after:
                return (*left, *steps[number + 1 :])
            place = place._after[step]
        return tuple(left)

    def learn(self, asked: Steps, accepted: Steps) -> None:
        place, left = self, 0
        for step in asked:
            if left < len(accepted) and accepted[left] == step:
                left += 1
                place = place._after.setdefault(step, _Refusals())
            else:
                place._refused.add(step)


def _becomes(asked: Steps, steps: Steps) -> bool:
    """Whether leaving steps out of `asked` may give `steps`."""
    rest = iter(asked)
    return all(step in rest for step in steps)


def tournament(rivals: Sequence[Individual], random: Random) -> Individual:
    """The better of two drawn at random; `rivals` come best first."""
    return rivals[min(random.randrange(len(rivals)) for _ in range(2))]
