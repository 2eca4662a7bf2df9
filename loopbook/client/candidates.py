"""The ports of one nest in the order of what they promise, which changes as they are tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

from loopbook.client.decision import Choice
from loopbook.client.estimate import Estimator
from loopbook.client.fit import Fit
from loopbook.client.ports import Port, Ports
from loopbook.client.thresholds import VARIETY
from loopbook.predict.cost_model import Prediction
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.similarity import similarity


@dataclass(frozen=True)
class Candidate:
    """A port and what it promises.

    Attributes:
        legal: whether it has been tried; its recipe is legal then.
        dropped: how many of its steps were refused.
        shared: whether its work has been shared among threads in other ways, too.
    """

    port: Port
    estimate: Prediction
    legal: bool = False
    dropped: int = 0
    shared: bool = False

    def choice(self) -> Choice:
        near = self.port.evidence.near
        return Choice(
            "near",
            near.record,
            near.distance,
            self.port.recipe,
            self.dropped,
            self.estimate.speedup,
            self.estimate.lower,
        )


class Candidates:
    """What is left to try for one nest."""

    def __init__(self, ports: Ports, estimator: Estimator) -> None:
        self._ports, self._estimator = ports, estimator
        found = ports.best()
        self._seen: set[Recipe] = {one.recipe for one in found}
        self._waiting = [
            Candidate(one, estimate) for one, estimate in zip(found, estimator(found), strict=True)
        ]

    def copy(self) -> Candidates:
        """All that is left here, to be tried from here on without taking it from this one."""
        other = copy(self)
        other._seen, other._waiting = set(self._seen), list(self._waiting)
        return other

    @property
    def waiting(self) -> Sequence[Candidate]:
        """Those that are left."""
        return tuple(self._waiting)

    def best(self, beside: Sequence[Recipe] = (), *, tried: bool = False) -> Candidate | None:
        """The most promising one that is left, which is left no more; of equal ones the one that
        `Ports.best` names first. None at the end.

        Args:
            beside: recipes that are measured as well. What is like them would tell little more:
                promise and novelty are weighed against each other (maximal marginal relevance,
                J. Carbonell and J. Goldstein, SIGIR 1998).
            tried: only among those that have been tried and are legal.
        """
        places = [place for place, one in enumerate(self._waiting) if one.legal or not tried]
        if not places:
            return None

        def worth(place: int) -> float:
            one = self._waiting[place]
            known = max((similarity(one.port.recipe, other) for other in beside), default=0.0)
            return math.log(max(one.estimate.speedup, 1e-9)) - VARIETY * known

        return self._waiting.pop(max(places, key=worth))

    def add(self, tried: Candidate, fit: Fit) -> None:
        """Put one back of which `fit` is legal. Now that the nest is known as the recipe leaves it,
        it may promise less; without the other steps, it may be one that is there already."""
        port, dropped = tried.port, len(fit.dropped)
        if fit.dropped:
            if fit.recipe in self._seen:
                return
            self._seen.add(fit.recipe)
            port = self._ports.changed(port, fit.recipe)
        (estimate,) = self._estimator([port], dropped, fit.after)
        # Tried once more at once if it still comes first.
        self._waiting.insert(0, Candidate(port, estimate, True, dropped, tried.shared))

    def shared(self, one: Candidate) -> list[Candidate]:
        """A legal one with its work shared among threads in other ways, to be tried as well; they
        begin with the same steps, so that trying them costs little. It is put back itself. None for
        one thread, nor a second time."""
        if one.shared:
            return []
        ports = [port for port in self._ports.shared(one.port) if port.recipe not in self._seen]
        self._seen.update(port.recipe for port in ports)
        if ports:
            self._waiting.insert(0, replace(one, shared=True))
        return [Candidate(port, one.estimate, shared=True) for port in ports]
