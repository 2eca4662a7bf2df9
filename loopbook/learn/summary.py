"""Figures from an evaluation: shares of the tuner's gain, slowdowns, what was declined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loopbook.learn.comparison import SLOWER
from loopbook.learn.evaluate import Result

TUNED = 1.02
"""A kernel on which the tuner gains less has nothing to lose by declining."""


@dataclass(frozen=True)
class Score:
    """One method, serving in one way, on all kernels held out in one way.

    Attributes:
        kernels: how many, both targets counted.
        share: of the tuner's gain: the mean logarithm of the speedups over docc's own compile,
            against the mean logarithm of the tuner's.
        speedup, tuned: geometric means.
        regret: mean over kernels of 1 - speedup / the tuner's, where that is more than 0.
        slowdowns: kernels that got something that is over 5 % slower.
        declined: kernels that got nothing at all, of those on which the tuner gains.
        lost: share of the tuner's whole gain that these kernels have.
    """

    method: str
    way: int
    kernels: int
    share: float
    speedup: float
    tuned: float
    regret: float
    slowdowns: tuple[str, ...]
    declined: tuple[str, ...]
    lost: float

    def to_json(self) -> dict[str, Any]:
        return {
            "kernels": self.kernels,
            "share_of_gain": round(self.share, 4),
            "speedup": round(self.speedup, 4),
            "tuner": round(self.tuned, 4),
            "regret": round(self.regret, 4),
            "slowdowns": list(self.slowdowns),
            "declined": list(self.declined),
            "lost_by_declining": round(self.lost, 4),
        }


def score(results: Sequence[Result], method: str, way: int) -> Score:
    """The score of a method; nothing counts where it did not take part."""
    name = f"{method} {way}"
    rows = [one.comparison for one in results if name in one.comparison.served]
    tuned = [row.served["tuner"].speedup for row in rows]
    served = [row.served[name] for row in rows]
    whole = math.fsum(map(math.log, tuned))
    gained = [one.speedup for one in served]
    slow, declined, lost = [], [], 0.0
    for row, one, best in zip(rows, served, tuned, strict=True):
        label = f"{row.kernel} {row.target}"
        if one.speedup < 1 / SLOWER:
            slow.append(label)
        nothing = all(nest["tier"] == "none" for nest in one.nests) and one.speedup < TUNED
        if nothing and best > TUNED:
            declined.append(label)
            lost += math.log(best)
    regrets = [max(0.0, 1 - a / b) for a, b in zip(gained, tuned, strict=True)]
    count = max(1, len(rows))
    return Score(
        method,
        way,
        len(rows),
        math.fsum(map(math.log, gained)) / whole if whole else math.nan,
        math.exp(math.fsum(map(math.log, gained)) / count),
        math.exp(whole / count),
        math.fsum(regrets) / count,
        tuple(slow),
        tuple(declined),
        lost / whole if whole else 0.0,
    )


def headline(results: Sequence[Result]) -> dict[str, Any]:
    """The figures by which the book's nearness is judged."""
    one, five = score(results, "ours", 1), score(results, "ours", 5)
    return {
        "share_of_gain_1": round(one.share, 4),
        "share_of_gain_5": round(five.share, 4),
        "slowdowns": len(one.slowdowns) + len(five.slowdowns),
        "declined": len(one.declined),
        "lost_by_declining": round(one.lost, 4),
        "kernels": one.kernels,
    }
