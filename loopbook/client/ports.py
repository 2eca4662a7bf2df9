"""What the recipes of a nest's neighbours become on that nest, most promising first.

A recipe can be ported in two ways. *Renamed*, its own steps name the partners of its loops (see
`loopbook.client.port`): right for nests of the same build. *Refitted*, it is built anew by the rule
that makes its sort of recipe (`loopbook.rules.schedule_rule`), with parameters as near
to its own as can be: that also carries over from a product to a triangle, or from two dimensions to
three.

What to expect of a port is a weighted mean over the neighbours (the estimator of Nadaraya and of
Watson, 1964, in logarithms of speedups). Each speaks for recipes like its own by what it gained;
the farther away it is, the less it counts. A neighbour for which no recipe by that rule can be
built says nothing about it; one for which it can, but that gained nothing, speaks against it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from loopbook.client.across import goes_across
from loopbook.client.port import port
from loopbook.client.sketch import Sketch
from loopbook.client.thresholds import (
    CLOSER,
    ENOUGH_RECURRENCES,
    NEGLIGIBLE,
    OTHER_BUILD,
    OTHER_RULES,
    REFITTED,
    RENAMED,
    THOROUGH,
    UNLIKE,
    WAYS,
    WIDTH,
)
from loopbook.program.nest import Nest
from loopbook.program.shape import Shape
from loopbook.recipes.clip import clipped
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.layer import Neighbour
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.rescale import rescaled
from loopbook.recipes.similarity import only_reorders, similarity
from loopbook.rules import TuningContext
from loopbook.rules.schedule_rule import RARE, Built, Firsts, names, with_threads

AS_IT_IS = "renamed"

THREADS = ("parallel", "single")
"""Steps that say which threads run what."""


@dataclass(frozen=True)
class Evidence:
    """A neighbour, and what counts of it for the nest at hand.

    Attributes:
        source: its nest, as far as that matters.
        gain: logarithm of its speedup at about the size at hand, not less than 0.
        strides: whether the nest at hand jumps through memory about as often as this one does. If
            not, there is nothing to gain from another order of its loops.
    """

    near: Neighbour
    source: Sketch
    gain: float
    strides: bool = True

    @property
    def weight(self) -> float:
        """How much it counts, 0 to 1: less where a short search found nothing."""
        trials = self.near.record.provenance.trials
        return 1.0 if self.gain else max(0.1, min(1.0, trials / THOROUGH))

    def speaks_for(self, recipe: Recipe) -> float:
        """How much of its gain to expect of a recipe, 0 to 1."""
        if not self.gain or (not self.strides and only_reorders(recipe)):
            return 0.0
        return max(0.0, (similarity(recipe, self.near.record.recipe) - UNLIKE) / (1 - UNLIKE))


@dataclass(frozen=True)
class Port:
    """One recipe for the nest at hand.

    Attributes:
        evidence: the neighbour that vouches most for it.
        how: `AS_IT_IS`, or the rule that it was refitted by.
        expected: logarithm of the speedup to expect.
    """

    recipe: Recipe
    evidence: Evidence
    how: str
    expected: float


class Ports:
    """The ports for one nest.

    Args:
        evidence: its neighbours, nearest first; at least one.
        hardware: the machine; with the target and the nest's trip counts also in `around`.
        firsts: what can be built for the nest in this context.
    """

    def __init__(
        self,
        nest: Nest,
        embedding: Embedding,
        evidence: Sequence[Evidence],
        hardware: HardwareProfile,
        around: TuningContext,
        firsts: Firsts,
    ) -> None:
        self._nest = nest
        self._embedding = embedding
        self._evidence = evidence
        self._hardware, self._around = hardware, around
        self._firsts = firsts
        self._regressions: dict[str, _Regression] = {}
        self._told: dict[tuple[Recipe, str], tuple[float, Evidence]] = {}
        self._weights = [e.weight for e in evidence]
        own = names(firsts)
        self._apart = [
            e.near.rank
            + OTHER_RULES * (1 - len(own & e.source.rules) / max(1, len(own | e.source.rules)))
            for e in evidence
        ]

    def best(self) -> list[Port]:
        """All ports, those with the highest expectation first; no recipe twice."""
        found: dict[Recipe, Port] = {}
        enough = recurrences(self._nest) >= ENOUGH_RECURRENCES
        for one in (*self._renamed(), *self._refitted()):
            if enough and any(step.op == "strip_and_sink" for step in one.recipe):
                continue
            if goes_across(self._nest, one.recipe):
                continue
            if one.recipe not in found:
                found[one.recipe] = one
        return sorted(found.values(), key=lambda one: -one.expected)

    def changed(self, one: Port, recipe: Recipe) -> Port:
        """The port after some of its steps were refused, with what to expect of it now."""
        return replace(
            one,
            recipe=recipe,
            expected=self.expect(recipe, "" if one.how == AS_IT_IS else one.how)[0],
        )

    def shared(self, one: Port) -> list[Port]:
        """The port with its work shared among threads in other ways; none for one thread."""
        if not self._around.parallel:
            return []
        bare = Recipe(tuple(step for step in one.recipe if step.op not in THREADS))
        ways = with_threads(bare.steps, self._around)[: WAYS + 1] if len(bare) else []
        found = (Recipe(steps) for steps in ways)
        return [self.changed(one, recipe) for recipe in found if recipe != one.recipe][:WAYS]

    def _renamed(self) -> Iterator[Port]:
        for evidence in self._evidence[:RENAMED]:
            near = evidence.near
            recipe = port(
                self._wanted(evidence),
                evidence.source,
                near.embedding,
                self._nest,
                self._embedding,
            )
            if recipe is not None:
                recipe = clipped(recipe, self._around.trips)
                expected = self.expect(recipe)[0]
                if _build(evidence.source) != _build(self._nest):
                    expected *= OTHER_BUILD
                yield Port(recipe, evidence, AS_IT_IS, expected)

    def _refitted(self) -> Iterator[Port]:
        told = [
            (rule, steps, *self.expect(Recipe(steps), rule.name))
            for rule, steps in self._firsts.items()
        ]
        told.sort(key=lambda one: -one[2])
        for number, (rule, first, _, evidence) in enumerate(told):
            if number < REFITTED:
                like = rule.like(self._wanted(evidence).steps, self._nest, self._around)
                yield from self._variants(rule.name, like)
            yield from self._variants(rule.name, first)

    def _wanted(self, evidence: Evidence) -> Recipe:
        """A neighbour's recipe with sizes for this machine."""
        record = evidence.near.record
        return rescaled(record.recipe, record.hardware, self._hardware)

    def _variants(self, how: str, steps: Built) -> Iterator[Port]:
        for variant in with_threads(steps, self._around):
            recipe = clipped(Recipe(variant), self._around.trips)
            expected, evidence = self.expect(recipe, how)
            yield Port(recipe, evidence, how, expected)

    def expect(self, recipe: Recipe, rule: str = "") -> tuple[float, Evidence]:
        """The logarithm of the speedup to expect of a recipe, and the neighbour that says so most.

        Args:
            rule: only neighbours that this rule applies to are asked.
        """
        if (recipe, rule) not in self._told:
            if rule not in self._regressions:
                self._regressions[rule] = self._regression(rule)
            self._told[recipe, rule] = self._regressions[rule].expect(recipe)
        return self._told[recipe, rule]

    def _regression(self, rule: str) -> _Regression:
        closer = CLOSER if rule in RARE else 1.0
        asked = [
            (away * closer, weight, evidence)
            for away, weight, evidence in zip(
                self._apart, self._weights, self._evidence, strict=True
            )
            if not rule or rule in evidence.source.rules
        ]
        if not asked:
            return _Regression(self._evidence[0], 0.0, 1.0, ())
        nearest = min(away for away, _, _ in asked)
        weights = [
            weight * math.exp((nearest**2 - away**2) / WIDTH**2) for away, weight, _ in asked
        ]
        samples = tuple(
            (weight * evidence.gain, evidence)
            for weight, (_, _, evidence) in zip(weights, asked, strict=True)
            if weight > NEGLIGIBLE and evidence.gain
        )
        reach = 1.0 - (min(nearest, 2.0) / 2.0) ** 2
        return _Regression(asked[0][2], reach, math.fsum(weights), samples)


@dataclass(frozen=True)
class _Regression:
    """A kernel regression over the neighbours that are asked about recipes by one rule.

    Attributes:
        first: speaks where nobody has anything to say.
        reach: how much of what they say carries over, 0 to 1.
        total: the weight of all, those that gained nothing included.
        samples: those that gained and count, each with its gain times its weight.
    """

    first: Evidence
    reach: float
    total: float
    samples: tuple[tuple[float, Evidence], ...]

    def expect(self, recipe: Recipe) -> tuple[float, Evidence]:
        """As `Ports.expect`."""
        shares = [gain * evidence.speaks_for(recipe) for gain, evidence in self.samples]
        most = max(range(len(shares)), key=shares.__getitem__, default=0)
        strongest = self.samples[most][1] if shares and shares[most] > 0 else self.first
        return self.reach * math.fsum(shares) / self.total, strongest


def recurrences(nest: Nest) -> int:
    """The most scalars that one loop carries from each of its iterations to the next."""
    read_first: dict[tuple[int, int], bool] = {}
    carried: set[tuple[int, int]] = set()
    for access in nest.accesses:
        if not nest.containers[access.container].is_array:
            place = nest.blocks[access.block].parent, access.container
            if read_first.setdefault(place, not access.write) and access.write:
                carried.add(place)
    return max(Counter(loop for loop, _ in carried).values(), default=0)


def _build(nest: Shape) -> list[int]:
    """How the nest's loops stand inside each other."""
    return [loop.parent for loop in nest.loops]
