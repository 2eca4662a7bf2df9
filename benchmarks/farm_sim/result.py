"""What a simulation found."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Result:
    """Of one run; times are seconds.

    Attributes:
        begun, ended: when the first ask came, and the last task that was done ended.
        horizon_s: over which asks came.
        created, done, dead, open: tasks; every one that was created is one of the other three.
        without_room: programs that were asked for and got no task, since the queue was full.
        lost: leases whose worker died.
        transactions: by kind; see `benchmarks.farm_sim.measured.OPERATIONS`.
        busy_s, away_s, offered_s: seconds that workers worked, that they were dead, and all.
        shares: of the asks: tuned (exactly, for this class), ported, missed.
        late_shares: the same over the last tenth of the horizon.
        waits: from a task's first ask until a server has its record; infinite where it has none.
        weights: how many tasks each wait stands for.
    """

    begun: float = 0.0
    ended: float = 0.0
    horizon_s: float = 0.0
    created: float = 0.0
    done: float = 0.0
    dead: float = 0.0
    open: float = 0.0
    without_room: float = 0.0
    lost: float = 0.0
    transactions: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    busy_s: float = 0.0
    away_s: float = 0.0
    offered_s: float = 0.0
    shares: dict[str, float] = field(default_factory=dict)
    late_shares: dict[str, float] = field(default_factory=dict)
    waits: np.ndarray = field(default_factory=lambda: np.empty(0))
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def makespan_s(self) -> float:
        return max(self.ended - self.begun, 0.0)

    @property
    def utilisation(self) -> float:
        """Share of the time that workers were at work or dead."""
        return (self.busy_s + self.away_s) / self.offered_s if self.offered_s else 0.0

    @property
    def span_s(self) -> float:
        """What figures per second are taken over: until asks end and their tasks, too."""
        return max(self.horizon_s, self.makespan_s) or 1.0

    def wait(self, share: float) -> float:
        """A quantile of the waits."""
        if not len(self.waits):
            return float("nan")
        order = np.argsort(self.waits)
        reached = np.cumsum(self.weights[order])
        place = int(np.searchsorted(reached, share * reached[-1]))
        return float(self.waits[order][min(place, len(order) - 1)])

    def told(self) -> dict[str, Any]:
        """Figures for people and programs."""
        found: dict[str, Any] = {
            "makespan_s": self.makespan_s,
            "tasks_per_hour": 3600 * self.done / (self.makespan_s or 1.0),
            "wait_median_s": self.wait(0.5),
            "wait_p95_s": self.wait(0.95),
            "transactions_per_s": sum(self.transactions.values()) / self.span_s,
        }
        for name in ("created", "done", "dead", "open", "without_room", "lost"):
            found[name] = getattr(self, name)
        found["utilisation"] = self.utilisation
        found["transactions"] = dict(self.transactions)
        return found | {"shares": self.shares, "late_shares": self.late_shares}


def shares_of(tally: np.ndarray) -> dict[str, float]:
    """Tuned, ported and missed asks as shares of all."""
    total = float(tally.sum()) or 1.0
    return dict(zip(("tuned", "ported", "missed"), (float(n) / total for n in tally), strict=True))
