"""Model-guided search: a ranking model picks from hundreds of proposals what is worth measuring.

After T. Chen et al., "Learning to optimize tensor programs", NeurIPS 2018 (AutoTVM): a model with a
rank loss is trained on the fly, proposals that it likes are improved on the model alone, and of the
best of these a diverse few are measured, with some at random.
"""

from __future__ import annotations

import numpy as np

from loopbook.predict.features import Features
from loopbook.rules import seed_population
from loopbook.steps import Step
from loopbook.tuner.strategies.base import Problem
from loopbook.tuner.strategies.breeding import Child, breed
from loopbook.tuner.strategies.genome import express
from loopbook.tuner.strategies.population import Individual, Population
from loopbook.tuner.strategies.ranker import Ranker

FIRST_GENERATION = 20
"""Recipes to measure before the model is trained."""

POOL = 128
"""New proposals for each batch, half of them random recipes, half children of the best."""

SURVIVORS = 20
"""Of the pool, that are bred on the model's word."""

ROUNDS = 2
"""Of breeding on the model's word."""

BATCH = 8
"""Proposals to measure until the model is trained again."""

RANDOM = 0.15
"""Share of a batch that the model has no say in."""

POPULATION = 8
"""The best recipes, which breed."""

TRIES = 50
"""Samples before something known is proposed again."""


class ModelGuided:
    """Ranks proposals by a model of this nest.

    Raises:
        InputError: if LightGBM is not installed.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem, self._random = problem, problem.random
        self._seeds = seed_population(problem.nest, problem.context)
        self._population = Population(problem)
        self._features = Features(problem.nest, problem.context)
        self._rows: dict[tuple[Step, ...], np.ndarray] = {}
        self._ranker = Ranker(self._random.randrange(2**31))
        self._batch: list[Child] = []

    def ask(self) -> tuple[Step, ...]:
        while self._seeds:
            steps = self._seeds.pop(0)
            if not self._population.knows(steps):
                return self._population.ask(steps)
        return self._population.ask(*self._next())

    def tell(self, steps: tuple[Step, ...], speedup: float | None) -> None:
        self._population.tell(steps, speedup)

    def _next(self) -> Child:
        if self._population.trials < FIRST_GENERATION or not self._population.best(1):
            return self._fresh()
        while self._batch:
            child = self._batch.pop(0)
            if not self._population.knows(child[0]):
                return child
        self._train()
        self._batch = self._choose()
        return self._batch.pop(0) if self._batch else self._fresh()

    def _fresh(self) -> Child:
        child = express(self._problem, self._random)
        for _ in range(TRIES):
            if not self._population.knows(child[0]):
                break
            child = express(self._problem, self._random)
        return child

    def _train(self) -> None:
        measured = self._population.individuals
        self._rows = {individual.steps: self._row(individual.steps) for individual in measured}
        rows = np.stack(list(self._rows.values()))
        self._ranker.fit(rows, [individual.speedup for individual in measured])

    def _row(self, steps: tuple[Step, ...]) -> np.ndarray:
        """The features of what docc will leave of `steps`."""
        steps = self._population.accepted(steps)
        if steps not in self._rows:
            after, _ = self._problem.transformed(steps)
            self._rows[steps] = self._features(after, steps)
        return self._rows[steps]

    def _choose(self) -> list[Child]:
        """The next batch: what the model likes best of a pool that it has improved."""
        best = self._population.parents(POPULATION)
        pool: dict[tuple[Step, ...], Child] = {}
        for number in range(POOL):
            bred = number % 2
            self._add(pool, breed(self._problem, best, self._random) if bred else self._fresh())
        ranked = self._ranked(list(pool.values()))
        for _ in range(ROUNDS):
            liked = [Individual(s, score, genome) for score, (s, genome) in ranked[:SURVIVORS]]
            if not liked:
                break
            fresh: dict[tuple[Step, ...], Child] = {}
            for _ in range(2 * SURVIVORS):
                self._add(fresh, breed(self._problem, liked, self._random))
            children = [child for steps, child in fresh.items() if steps not in pool]
            pool |= fresh
            ranked = sorted(ranked + self._ranked(children), key=lambda item: -item[0])
        return self._diverse([child for _, child in ranked])

    def _add(self, pool: dict[tuple[Step, ...], Child], child: Child) -> None:
        """Put a child into the pool, under what docc will leave of it, unless it is known."""
        if not self._population.knows(child[0]):
            pool.setdefault(self._population.accepted(child[0]), child)

    def _ranked(self, children: list[Child]) -> list[tuple[float, Child]]:
        """Children with the model's scores, best first."""
        if not children:
            return []
        scores = self._ranker.scores(np.stack([self._row(steps) for steps, _ in children]))
        order = np.argsort(-scores, kind="stable")
        return [(float(scores[place]), children[place]) for place in order]

    def _diverse(self, ranked: list[Child]) -> list[Child]:
        """The first few that differ in their features from each other and from what was measured;
        some places go to random others."""
        seen = {self._row(measured.steps).tobytes() for measured in self._population.individuals}
        distinct: list[Child] = []
        for child in ranked:
            row = self._row(child[0]).tobytes()
            if row not in seen:
                seen.add(row)
                distinct.append(child)
        batch, rest = distinct[:BATCH], distinct[BATCH:]
        for place in range(len(batch)):
            if rest and self._random.random() < RANDOM:
                batch[place] = rest.pop(self._random.randrange(len(rest)))
        return batch or ranked[:BATCH]
