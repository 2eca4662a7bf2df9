"""Trains the cost model on examples, by the distances of an encoder."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.embed.inference import Encoder
from loopbook.errors import CorpusError
from loopbook.learn import boosting
from loopbook.learn.boosting import Calibration
from loopbook.learn.examples import Distances, Examples, tabulate
from loopbook.program.nest import Nest

LEAST = 50
"""Fewer examples teach nothing."""


@dataclass(frozen=True)
class CostModelReport:
    """What came out.

    Attributes:
        version: the cost model's.
        examples: how many it learnt from, two of each recipe where records of other families were
            heard apart (see `loopbook.learn.train`); `transfers` of these were ported.
        calibration: on families that it was not trained on.
    """

    path: Path
    version: str
    examples: int
    transfers: int
    calibration: Calibration


def train_cost_model(
    out: Path,
    examples: Examples,
    encoder: Encoder,
    *,
    seed: int = 0,
    threads: int = 1,
    rounds: int = boosting.ROUNDS,
    origin: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> CostModelReport:
    """Train a cost model and write it to `out`. The same arguments give the same one.

    Args:
        origin: where the examples come from, for the metadata.
        progress: called with forests done and in all.

    Raises:
        CorpusError: there are hardly any examples.
    """
    table = tabulate(examples, distances(examples.nests, encoder))
    count = int(table.tried.sum())
    if count < LEAST:
        raise CorpusError(f"{count} measured recipes are too few to learn from")
    trained, calibration = boosting.train(
        table, encoder.version, seed=seed, threads=threads, rounds=rounds, progress=progress
    )
    trained.metadata = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seed": seed,
        "rounds": rounds,
        "examples": count,
        "transfers": examples.transfers,
        "calibration": asdict(calibration),
        "programs": sorted(examples.programs),
        "fingerprints": sorted(examples.fingerprints),
        **(origin or {}),
    }
    kept = trained.save(out)
    return CostModelReport(out, kept.version, count, examples.transfers, calibration)


def distances(nests: dict[str, Nest], encoder: Encoder) -> Distances:
    """Distances between these nests' vectors, from fingerprint to fingerprint."""
    names = list(nests)
    vectors = [made.nest for made in encoder.encode_many([nests[name] for name in names])]
    by_name = dict(zip(names, vectors, strict=True))

    def distance(one: str, other: str) -> float:
        return float(np.linalg.norm(by_name[one] - by_name[other]))

    return distance
