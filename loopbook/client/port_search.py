"""Recipes of neighbours, ported to a nest: which are tried, and which of them are worth it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from loopbook.client.candidates import Candidates
from loopbook.client.decision import (
    Choice,
    distinct,
)
from loopbook.client.estimate import Estimator
from loopbook.client.evidence import evidence_of
from loopbook.client.fit import Fit, Refusal, Refusals
from loopbook.client.layered import LayeredBook
from loopbook.client.ports import Evidence, Ports
from loopbook.client.sizes import Trips, near_speedup
from loopbook.client.thresholds import (
    RARE_ONES,
    REMEMBERED,
    SURE,
    TRIED,
    WORTH_MEASURING,
    WORTH_TRYING,
)
from loopbook.client.weighing import LESS, Weighing
from loopbook.program.nest import Nest
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.layer import Neighbour
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.similarity import keeps_order
from loopbook.rules import TuningContext
from loopbook.rules.schedule_rule import RARE, Firsts, firsts, names
from loopbook.targets import TARGETS

NO_TIME = "no time left to try recipes in so large a program"


@dataclass(frozen=True)
class PortSearch:
    """Looks for what a nest can have from its neighbours.

    Attributes:
        exclude: kernels of which the records are left out.
        max_distance: of the nearest neighbour, beyond which nothing is ported.
        count: recipes to find.
        fit: what is legal of a recipe for a nest, or why it is not.
        weighing: is told what was weighed.
    """

    layered: LayeredBook
    target: str
    exclude: Collection[str]
    max_distance: float
    count: int
    fit: Callable[[Nest, Recipe], Fit | Refusal]
    weighing: Weighing

    def choices(
        self,
        nest: Nest,
        embedding: Embedding,
        trips: Trips,
        neighbours: list[Neighbour],
        hot: bool,
    ) -> tuple[tuple[Choice, ...], str]:
        """Usable choices, best first; and why there are none where there are none."""
        nearest = neighbours[0]
        if nearest.distance > self.max_distance:
            far = f"too far away: {nearest.distance:.2f}, over {self.max_distance:.2f}"
            return (), far
        evidence = evidence_of(self.layered, neighbours, nest, trips)
        hardware = self.layered.hardware(self.target)
        around = TuningContext.of(hardware, self.target, trips)
        built = firsts(nest, around)
        rare = self._rare(nest, embedding, built, evidence)
        evidence += evidence_of(self.layered, rare, nest, trips)
        if self.count == 1 and not any(one.gain for one in evidence):
            best = near_speedup(nearest.record, evidence[0].source, nest, trips)
            return (), f"{nearest.record.nest} gained too little at this size: {best:.2f}×"
        ports = Ports(nest, embedding, evidence, hardware, around, built)
        near = [one.near for one in evidence]
        candidates = self._candidates(nest, ports, trips, near, names(built))
        least = WORTH_TRYING if self.count == 1 else WORTH_MEASURING
        choices: list[Choice] = []
        reasons: list[str] = []
        refusals = Refusals()
        told = partial(self.weighing.weighed, nest.fingerprint)
        fits = 0
        enough = TRIED[TARGETS[self.target].parallel] * self.count
        while len(choices) < self.count:
            beside = [choice.recipe for choice in choices]
            best = candidates.best(beside, tried=fits >= enough)
            if best is None:
                break
            name = best.port.evidence.near.record.nest
            if best.estimate.speedup < least:
                reasons.append(f"{best.estimate.speedup:.2f}× is all that {name} promises")
                told(best, reasons[-1])
                if not choices:  # the others promise less
                    break
                continue
            if not self._changes(best.port.recipe, hot):
                told(best, "it does nothing that docc would not do by itself")
                continue
            if best.legal:
                if others := candidates.shared(best):
                    for other in others:
                        fit = self.fit(nest, other.port.recipe)
                        if isinstance(fit, Fit):
                            candidates.add(other, fit)
                    continue
                if self.count == 1 and best.estimate.lower * best.estimate.speedup < SURE:
                    span = f"{best.estimate.lower:.2f} to {best.estimate.speedup:.2f}×"
                    reasons.append(f"the recipe of {name} may make it slower: {span}")
                    told(best, reasons[-1])
                else:
                    choices.append(best.choice())
                    told(best, f"{best.estimate.speedup:.2f}× is expected", taken=True)
                continue
            if refusals.cover(best.port.recipe.steps):
                told(best, "steps like those that were refused")
                continue
            fits += 1
            fit = self.fit(nest, best.port.recipe)
            if isinstance(fit, Fit):
                self.weighing.dropped(fit.recipe, fit.dropped)
                candidates.add(best, fit)
                continue
            if fit.reason == NO_TIME:
                return distinct(choices), NO_TIME
            reasons.append(f"the recipe of {name} is illegal here: {fit.reason}")
            told(best, reasons[-1], refused=(fit.reason,))
            refusals.add(best.port.recipe.steps, fit)
        for one in candidates.waiting:
            told(one, LESS)
        return distinct(choices), reasons[0] if reasons else ""

    def _changes(self, recipe: Recipe, hot: bool) -> bool:
        """Whether a port does what docc would not. With OpenMP it gives its threads to outermost
        loops itself; for one thread, tiles alone run what they did in the same order. A recipe
        without steps gained elsewhere because its program was prepared: the hottest nest may speak
        for that. It is measured in any case."""
        if not len(recipe):
            return self.count == 1 and hot
        parallel = TARGETS[self.target].parallel
        if keeps_order(recipe, parallel=parallel):
            return False
        return not parallel or any(step.op != "parallel" for step in recipe)

    def _candidates(
        self,
        nest: Nest,
        ports: Ports,
        trips: Trips,
        neighbours: list[Neighbour],
        rules: Collection[str],
    ) -> Candidates:
        """The ports with their promises. They are the same for nests with one fingerprint, as long
        as sizes and neighbours are."""
        key = (
            nest.fingerprint,
            self.target,
            self.layered.hardware(self.target),
            tuple(sorted(trips.items())),
            tuple((n.record.id, n.distance, n.hardware_distance) for n in neighbours),
        )
        known = self.layered.candidates
        if key not in known:
            if len(known) >= REMEMBERED:
                known.clear()
            estimator = Estimator(self.layered, nest, self.target, trips, rules)
            known[key] = Candidates(ports, estimator)
        return known[key].copy()

    def _rare(
        self, nest: Nest, embedding: Embedding, built: Firsts, evidence: list[Evidence]
    ) -> list[Neighbour]:
        """Farther neighbours with recipes of the rare rules that fit the nest, but none so far."""
        known = {step.op for one in evidence if one.gain for step in one.near.record.recipe}
        signs = {RARE[rule] for rule in names(built) & RARE.keys()} - known
        if not signs:
            return []
        seen = {one.near.record.id for one in evidence}
        found = self.layered.neighbours(
            nest, embedding, RARE_ONES, self.target, self.exclude, steps=signs
        )
        return [near for near in found if near.record.id not in seen]
