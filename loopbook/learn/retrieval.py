"""How well nearness finds what works, by transfers that were measured: no compiler is asked.

Of all records that were tried on a nest, which does a method put first, and how much of the best
one's speedup do its first k give?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loopbook.errors import InputError
from loopbook.learn.cost_model import distances
from loopbook.learn.examples import Example, Examples, Table, tabulate
from loopbook.learn.expectations import with_expectations
from loopbook.learn.lessons import LEAST_DONORS, regret
from loopbook.learn.methods import Method
from loopbook.recipes.book import Book
from loopbook.workloads import polybench

CUTS = (1, 3, 5, 10)
"""How many of the first records are looked at."""

USEFUL = 1.05
"""A nest on which no record was this many times faster has nothing to find."""

SAME = 0.05
"""A record whose regret is at most this counts as the best one."""


@dataclass(frozen=True)
class Retrieval:
    """Means over nests.

    Attributes:
        recall: number of records looked at to the share of nests whose best record is among them.
        regret: the same to the regret of the best of them.
        nests: how many were looked at.
    """

    recall: dict[int, float]
    regret: dict[int, float]
    nests: int


def retrieval(examples: Examples, distances: Sequence[float]) -> Retrieval:
    """Judge an order of records.

    Args:
        distances: one for each example; the least comes first among those of a nest.
    """
    groups: dict[tuple[object, ...], list[tuple[float, float]]] = {}
    gains: dict[tuple[object, ...], float] = {}
    for one, distance in zip(examples.examples, distances, strict=True):
        key = (one.fingerprint, one.target, one.hardware, tuple(one.trips.items()))
        groups.setdefault(key, []).append((distance, regret(one)))
        gains[key] = max(gains.get(key, 0.0), _gain(one))
    recall = {cut: [] for cut in CUTS}
    regrets = {cut: [] for cut in CUTS}
    for key, group in groups.items():
        if len(group) < LEAST_DONORS or 2 ** gains[key] < USEFUL:
            continue
        ordered = [lost for _, lost in sorted(group)]
        least = min(ordered)
        for cut in CUTS:
            found = min(ordered[:cut])
            recall[cut].append(float(found <= least + SAME))
            regrets[cut].append(found)
    count = len(recall[CUTS[0]])
    return Retrieval(
        {cut: float(np.mean(values)) if values else 0.0 for cut, values in recall.items()},
        {cut: float(np.mean(values)) if values else 0.0 for cut, values in regrets.items()},
        count,
    )


def _gain(one: Example) -> float:
    return one.gain if one.fits else 0.0


def judge(examples: Examples, method: Method, books: Sequence[Book]) -> Retrieval:
    """How a method would have ordered the records that were tried on PolyBench's nests.

    With a cost model, the higher the predicted speedup the nearer; records of the same kernel are
    left out, as they are when the kernel is served.

    Args:
        books: whose records say what to expect of a recipe, as far as the method asks them.
    """
    names = polybench.names()

    def honest(one: Example) -> bool:
        source = examples.sources.get(one.donor)
        return source is not None and one.program in names and source.kernel != one.program

    asked = examples.keep(honest)
    distance = distances(asked.nests, method.encoder)
    if method.cost_model is None:
        far = [distance(o.fingerprint, asked.sources[o.donor].fingerprint) for o in asked.examples]
        return retrieval(asked, far)
    runnable = asked.keep(lambda one: one.fits)
    runnable = with_expectations(runnable, books, method.encoder, exclude=(), without=())
    table = tabulate(runnable, distance)
    told = zip(table.examples, _speedups(method, table), table.tried, strict=True)
    expected = {_key(one): speedup for one, speedup, tried in told if tried}
    # What cannot be applied is never served: it comes last.
    return retrieval(asked, [-expected.get(_key(one), 0.0) for one in asked.examples])


def _key(one: Example) -> tuple[object, ...]:
    """Which transfer it is, whatever was found out about it."""
    trips = tuple(one.trips.items())
    return one.program, one.fingerprint, one.target, one.hardware, trips, one.donor, one.steps


def _speedups(method: Method, table: Table) -> list[float]:
    if method.cost_model is None:
        raise InputError(f"the method {method.name} has no cost model")
    return [one.speedup for one in method.cost_model.predict(list(table.rows))]
