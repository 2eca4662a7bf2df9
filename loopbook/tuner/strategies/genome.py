"""Genomes: the random decisions behind a composite recipe, recorded so that they can be bred.

A flat list of steps crosses badly: half of a register tile with half of another is no register
tile. What crosses well are the decisions that made the recipe: which rule for which band, which
sizes, which order. `Tracer` stands in for the rules' `random.Random`, notes every sampled decision
as a gene, and can be made to decide again as a genome says. Decisions are named by where they are
made, so that genes of two genomes that mean the same have the same locus (the naming of random
choices in D. Wingate, A. Stuhlmüller, N. Goodman, "Lightweight implementations of probabilistic
programming languages via transformational compilation", AISTATS 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from loopbook.rules import propose
from loopbook.steps import Step
from loopbook.tuner.strategies.base import Problem

Gene = float | int | tuple[int, ...]
"""What was sampled: a number below 1, an index, or indices in their order."""


class Locus(NamedTuple):
    """Where a decision is made.

    Attributes:
        scope: how many rules had been chosen before, and the last one's name.
        kind: "number", "index" or "order".
        size: among how many values; 0 for a number.
        taken: how many of them an "order" holds.
        turn: how many such decisions came before in this scope.
    """

    scope: tuple[int, str]
    kind: str
    size: int = 0
    taken: int = 0
    turn: int = 0


Genome = Mapping[Locus, Gene]


class Tracer(Random):
    """Decides as a genome says where it says something, else anew, and notes all decisions.

    Choosing a callable is taken for choosing a rule: what it samples belongs to it.

    Attributes:
        genome: all decisions so far.
    """

    def __new__(cls, *_: object) -> Tracer:
        return super().__new__(cls)

    def __init__(self, fresh: Random, given: Genome) -> None:
        super().__init__(0)
        self._fresh, self._given = fresh, given
        self._scope = (0, "")
        self._turns: dict[tuple[tuple[int, str], str, int, int], int] = {}
        self.genome: dict[Locus, Gene] = {}

    def random(self) -> float:
        return self._decide("number", 0, 0, self._fresh.random)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        values = range(start) if stop is None else range(start, stop, step)
        return values[self._index(len(values), lambda: self._fresh.randrange(len(values)))]

    def choice(self, seq: Any) -> Any:
        return self._chosen(seq[self._index(len(seq), lambda: self._fresh.randrange(len(seq)))])

    def choices(
        self,
        population: Any,
        weights: Any = None,
        *,
        cum_weights: Any = None,
        k: int = 1,
    ) -> list[Any]:
        indices = range(len(population))

        def fresh() -> int:
            return self._fresh.choices(indices, weights, cum_weights=cum_weights)[0]

        return [self._chosen(population[self._index(len(indices), fresh)]) for _ in range(k)]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        if counts is not None:
            return super().sample(population, k, counts=counts)
        size = len(population)
        order = self._decide("order", size, k, lambda: tuple(self._fresh.sample(range(size), k)))
        return [population[place] for place in order]

    def shuffle(self, x: Any) -> None:
        x[:] = self.sample(list(x), len(x))

    def _index(self, size: int, fresh: Callable[[], int]) -> int:
        return self._decide("index", size, 0, fresh)

    def _decide(self, kind: str, size: int, taken: int, fresh: Callable[[], Any]) -> Any:
        place = self._scope, kind, size, taken
        turn = self._turns.get(place, 0)
        self._turns[place] = turn + 1
        locus = Locus(*place, turn)
        gene = self._given.get(locus)
        self.genome[locus] = fresh() if gene is None else gene
        return self.genome[locus]

    def _chosen(self, value: Any) -> Any:
        if callable(value):
            self._scope = (self._scope[0] + 1, getattr(value, "__name__", ""))
        return value


def express(
    problem: Problem, random: Random, genome: Genome | None = None
) -> tuple[tuple[Step, ...], Genome]:
    """A whole recipe and the decisions behind it; genes that the genome lacks are sampled from
    `random`, those that the recipe does not need are left out."""
    tracer = Tracer(random, genome or {})
    return propose(problem.nest, tracer, problem.context), tracer.genome


def cross(parents: Sequence[Genome], random: Random) -> Genome:
    """Each gene from any of the parents that has one at its locus.

    With three parents, the crossover of N. Vasilache et al., "Tensor Comprehensions",
    arXiv:1802.04730, section 5.1.
    """
    pools: dict[Locus, list[Gene]] = {}
    for parent in parents:
        for locus, gene in parent.items():
            pools.setdefault(locus, []).append(gene)
    return {locus: random.choice(pool) for locus, pool in pools.items()}


def mutate(genome: Genome, random: Random, genes: int = 1) -> Genome:
    """`genes` of the genes changed: indices and orders by one place or at will."""
    changed = dict(genome)
    for locus in random.sample(list(changed), min(genes, len(changed))):
        changed[locus] = _other(locus, changed[locus], random)
    return changed


def _other(locus: Locus, gene: Gene, random: Random) -> Gene:
    if isinstance(gene, tuple):
        order = list(gene)
        if len(order) > 1 and random.random() < 0.7:
            first, second = random.sample(range(len(order)), 2)
            order[first], order[second] = order[second], order[first]
            return tuple(order)
        return tuple(random.sample(range(locus.size), locus.taken))
    if locus.kind == "number":
        return random.random()
    # Sizes are listed in ascending order: the next ones are alike.
    near = [place for place in (gene - 1, gene + 1) if 0 <= place < locus.size]
    if near and random.random() < 0.6:
        return random.choice(near)  # type: ignore[return-value]
    return random.randrange(locus.size)
