"""Decisions that are chosen instead of sampled: a rule applied so that it is like some recipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from random import Random
from typing import Any

_NUMBERS = (0.5, 0.0, 0.999)
"""What stands for a number between 0 and 1: rules only ask whether it is below some share."""

_ORDERS = 24
"""Orders tried at most, of four loops all."""


class SampledDecisions(Random):
    """Makes decisions by a script: the n-th with the choice that stands there, with the first of
    all where the script has ended.

    Attributes:
        sizes: among how many choices each decision was made, so far.
    """

    def __new__(cls, *_: object) -> SampledDecisions:
        # Without a seed it would ask the system for one; typeshed does not know of any.
        return super().__new__(cls, 0)  # pyright: ignore[reportCallIssue]

    def __init__(self, script: Sequence[int] = ()) -> None:
        self._script = script
        self.sizes: list[int] = []

    def random(self) -> float:
        return _NUMBERS[self._decide(len(_NUMBERS))]

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        values = range(start) if stop is None else range(start, stop, step)
        return values[self._decide(len(values))]

    def choice(self, seq: Any) -> Any:
        values = list(dict.fromkeys(seq))
        return values[self._decide(len(values))]

    def choices(
        self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> list[Any]:
        return [self.choice(population) for _ in range(k)]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        left = list(population)
        orders = min(_ORDERS, factorial(len(left)) // factorial(len(left) - k))
        number = self._decide(orders)
        taken = []
        for _ in range(k):
            number, place = divmod(number, len(left))
            taken.append(left.pop(place))
        return taken

    def shuffle(self, x: Any) -> None:
        x[:] = self.sample(list(x), len(x))

    def _decide(self, size: int) -> int:
        place = len(self.sizes)
        self.sizes.append(size)
        return self._script[place] % size if place < len(self._script) else 0


def best_decisions(
    build: Callable[[Random], Any], score: Callable[[Any], float], *, limit: int = 48
) -> Any:
    """What `build` makes with the decisions that give the highest score, found one by one.

    Each decision in turn is given the best of its choices, with the others as they are, until no
    change of one decision is for the better. Decisions of which no choice matters stay at their
    first.

    Args:
        limit: how often to build at most.
    """
    decisions = SampledDecisions()
    best = build(decisions)
    top, built, place, settled = score(best), 1, 0, 0
    script: list[int] = []
    while settled < len(decisions.sizes):
        improved = False
        for choice in range(decisions.sizes[place]):
            tried = [*script, *[0] * (place + 1 - len(script))]
            if tried[place] == choice:
                continue
            if built == limit:
                return best
            tried[place] = choice
            fresh = SampledDecisions(tried)
            made, built = build(fresh), built + 1
            if (reached := score(made)) > top:
                best, top, script, decisions, improved = made, reached, tried, fresh, True
        settled = 1 if improved else settled + 1
        place = (place + 1) % len(decisions.sizes)
    return best
