"""The ports of one nest in the order of what they promise, which changes as docc is asked."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from loopbook.client.appraisal import Appraisal
from loopbook.client.decision import Choice
from loopbook.client.fit import Fit
from loopbook.client.ports import Port, Ports
from loopbook.predict.head import Prediction
from loopbook.recipes.recipe import Recipe


@dataclass(frozen=True)
class Prospect:
    """A port and what it promises.

    Attributes:
        legal: whether docc has been asked; its recipe is legal then.
        dropped: how many of its steps docc refused.
    """

    port: Port
    promise: Prediction
    legal: bool = False
    dropped: int = 0

    def choice(self) -> Choice:
        near = self.port.evidence.near
        return Choice(
            "near",
            near.record,
            near.distance,
            self.port.recipe,
            self.dropped,
            self.promise.speedup,
            self.promise.lower,
        )


class Prospects:
    """What is left to try for one nest."""

    def __init__(self, ports: Ports, appraise: Appraisal) -> None:
        self._ports, self._appraise = ports, appraise
        found = ports.best()
        self._seen: set[Recipe] = {one.recipe for one in found}
        self._waiting = [
            (-promise.speedup, place, Prospect(one, promise))
            for place, (one, promise) in enumerate(zip(found, appraise(found), strict=True))
        ]
        heapify(self._waiting)

    def copy(self) -> Prospects:
        """All that is left here, to be tried from here on without taking it from this one."""
        other = copy(self)
        other._seen, other._waiting = set(self._seen), list(self._waiting)
        return other

    def best(self) -> Prospect | None:
        """The most promising one that is left, which is left no more; of equal ones the one that
        `Ports.best` names first. None at the end."""
        return heappop(self._waiting)[-1] if self._waiting else None

    def add(self, tried: Prospect, fit: Fit) -> None:
        """Put one back of which docc accepts `fit`; without the steps that it refuses, it may
        promise less, or be another one that is there already."""
        port, promise, dropped = tried.port, tried.promise, len(fit.dropped)
        if fit.dropped:
            if fit.recipe in self._seen:
                return
            self._seen.add(fit.recipe)
            port = self._ports.changed(port, fit.recipe)
            (promise,) = self._appraise([port], dropped)
        # Tried once more at once if it still comes first.
        heappush(self._waiting, (-promise.speedup, -1, Prospect(port, promise, True, dropped)))
