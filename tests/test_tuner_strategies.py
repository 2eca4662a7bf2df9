"""Strategies on a made-up landscape: no compiler, no clock, the same every time."""

from __future__ import annotations

from random import Random

import pytest
from client_kit import nests_of, product

from loopbook.recipes.step import Step
from loopbook.tuner.moves import Surroundings, openings
from loopbook.tuner.strategies import STRATEGIES
from loopbook.tuner.strategies.evolution import POPULATION, Evolution

AROUND = Surroundings("sequential", 8)
GOOD = {
    Step("tile", ("L0", 64)): 1.0,
    Step("tile", ("L1", 32)): 1.0,
    Step("tile", ("L2", 128)): 1.0,
    Step("interchange", ("L1", "L2")): 0.5,
    Step("vectorize", ("L1*",)): 1.0,
}


def landscape(steps: tuple[Step, ...]) -> float | None:
    """More good steps are better, sizes near the good ones nearly so; long recipes pay for it."""
    if len(steps) > 30:
        return None
    score = 1.0
    for step in dict.fromkeys(steps):
        score += GOOD.get(step, 0.0)
        for good, worth in GOOD.items():
            if step.op == good.op == "tile" and step.args[0] == good.args[0] and step != good:
                ratio = float(step.args[1]) / float(good.args[1])
                score += 0.4 * worth * min(ratio, 1 / ratio)
    return score - 0.05 * len(steps)


def search(name: str, seed: int, trials: int) -> list[tuple[tuple[Step, ...], float | None]]:
    strategy = STRATEGIES[name](nests_of(product)[0], Random(seed), AROUND)
    told = []
    for _ in range(trials):
        steps = strategy.ask()
        told.append((steps, landscape(steps)))
        strategy.tell(*told[-1])
    return told


def best(told: list[tuple[tuple[Step, ...], float | None]]) -> float:
    return max(score or 0.0 for _, score in told)


def test_evolution_beats_random_search():
    gains = [best(search("evolution", s, 150)) - best(search("random", s, 150)) for s in range(9)]
    assert sorted(gains)[len(gains) // 2] > 0, gains


@pytest.mark.parametrize("name", STRATEGIES)
def test_openings_come_first_and_the_seed_decides_the_rest(name):
    first = search(name, 1, 40)
    assert first == search(name, 1, 40)
    assert first != search(name, 2, 40)
    known = openings(nests_of(product)[0], AROUND)
    assert [steps for steps, _ in first[: len(known)]] == known


def test_evolution_proposes_nothing_twice():
    asked = [steps for steps, _ in search("evolution", 3, 80)]
    assert len(set(asked)) == len(asked)


def test_evolution_proposes_nothing_that_it_was_told_of():
    strategy = Evolution(nests_of(product)[0], Random(4), AROUND)
    known = openings(nests_of(product)[0], AROUND)
    for steps in known:
        strategy.tell(steps, 1.0)
    asked = set()
    for _ in range(40):
        steps = strategy.ask()
        asked.add(steps)
        strategy.tell(steps, 1.0)
    assert not asked & set(known)


@pytest.mark.parametrize("name", STRATEGIES)
def test_failures_alone_stop_no_search(name):
    strategy = STRATEGIES[name](nests_of(product)[0], Random(0), AROUND)
    for _ in range(40):
        strategy.tell(strategy.ask(), None)
    assert isinstance(strategy.ask(), tuple)


def test_only_the_best_are_bred():
    strategy = Evolution(nests_of(product)[0], Random(0), AROUND)
    for size in range(2, 40):
        strategy.tell((Step("tile", ("L0", size)),), float(size))
    assert [score for score, _ in strategy._best] == [
        float(s) for s in range(39, 39 - POPULATION, -1)
    ]
