"""How good an encoder is on classes of nests, as a rule ones that it was not trained on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from loopbook.embed.corpus import NestClass, View
from loopbook.embed.inference import Encoder


@dataclass(frozen=True)
class Quality:
    """Shares from 0 to 1.

    Attributes:
        top1: queries whose nearest nest is of their class.
        family1: queries whose nearest nest is of their family.
        loops: loops matched to the one that plays the same part in another variant.
        containers: the same for arrays.
        queries: number of queries.
    """

    top1: float
    family1: float
    loops: float
    containers: float
    queries: int


def evaluate(
    encoder: Encoder,
    judged: Sequence[NestClass],
    others: Sequence[NestClass],
    rounds: int = 4,
    seed: int = 0,
) -> Quality:
    """Look one variant of each class in `judged` up among one of each class of both.

    Args:
        rounds: how often, with other variants each time; the shares are means.
    """
    done = [_round(encoder, judged, others, seed + number) for number in range(rounds)]
    means = {
        field.name: float(np.mean([getattr(quality, field.name) for quality in done]))
        for field in fields(Quality)
        if field.name != "queries"
    }
    return Quality(**means, queries=sum(quality.queries for quality in done))


def _round(
    encoder: Encoder, judged: Sequence[NestClass], others: Sequence[NestClass], seed: int
) -> Quality:
    rng = random.Random(seed)
    pairs = [rng.sample(c.views, 2) for c in judged]
    gallery = [pair[1] for pair in pairs] + [rng.choice(c.views) for c in others]
    families = np.array([c.family for c in (*judged, *others)])
    queries, query_parts = _vectors(encoder, [pair[0] for pair in pairs])
    known, known_parts = _vectors(encoder, gallery)
    nearest = np.argmax(queries @ known.T, axis=1)
    right = [0, 0]
    total = [0, 0]
    for number, pair in enumerate(pairs):
        for which in (0, 1):
            a, b = query_parts[number][which], known_parts[number][which]
            names = [(v.loop_parts, v.container_parts)[which] for v in pair]
            hits, tried = _matched(a, b, names[0], names[1])
            right[which] += hits
            total[which] += tried
    return Quality(
        top1=float(np.mean(nearest == np.arange(len(pairs)))),
        family1=float(np.mean(families[nearest] == families[: len(pairs)])),
        loops=right[0] / max(1, total[0]),
        containers=right[1] / max(1, total[1]),
        queries=len(pairs),
    )


def _vectors(
    encoder: Encoder, views: Sequence[View]
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    nests, parts = [], []
    for view in views:
        _, loops, containers = encoder.forward(view.graph)
        nest, _, _ = encoder.forward(view.canonical)
        nests.append(nest[0])
        parts.append((loops, containers))
    return np.array(nests), parts


def _matched(
    a: np.ndarray, b: np.ndarray, names_a: Sequence[str], names_b: Sequence[str]
) -> tuple[int, int]:
    """Right matches and how many there could be, where there is a choice."""
    from scipy.optimize import linear_sum_assignment

    if len(set(names_a)) < 2 or set(names_a) != set(names_b):
        return 0, 0
    rows, columns = linear_sum_assignment(-(a @ b.T))
    hits = sum(names_a[i] == names_b[j] for i, j in zip(rows, columns, strict=True))
    return hits, len(rows)
