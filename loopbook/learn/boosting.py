"""Trains forests with LightGBM and turns them into plain arrays."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopbook.learn.examples import Table
from loopbook.predict.cost_model import TRUST, CostModel, by_target, expected
from loopbook.predict.trees import Forest
from loopbook.targets import TARGETS
from loopbook.tuner.strategies.ranker import lightgbm

FOLDS = 5
"""Families are dealt into so many folds; each is predicted by forests that have not seen it."""

COVERED = 0.7
"""Share of the held-out rows whose speedup is to be at least the lower bound, of those that promise
to gain: others are not served, and how sure they are does not matter.

Chosen on held-out synthetic families: of what is then served about one in twenty is slower than
docc's own schedule, as with 0.85, which declines twice as often. What is served is what promises
most, and so is safer than rows are on average."""

PROMISING = 0.14
"""What a row promises at least that could be served: base-2 logarithm of a speedup of 1.1."""

PARAMETERS: dict[str, Any] = {
    "learning_rate": 0.05,
    "num_leaves": 12,
    "min_data_in_leaf": 30,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 2.0,
    "max_bin": 127,
    "deterministic": True,
    "force_col_wise": True,
    "verbosity": -1,
}

ROUNDS = 150

OTHERS = {False: 0.0, True: 0.1}
"""Whether a target is for several threads, to the weight of other targets' rows in what its forests
learn from. Of OpenMP there is less to learn from, and most of what is good for one thread is good
for each of several. Chosen on held-out synthetic families."""

OBJECTIVES: dict[str, dict[str, Any]] = {
    "mean": {"objective": "huber", "alpha": 1.0},
    "low": {"objective": "quantile", "alpha": 1.0 - COVERED},
}
"""Forest's name to what it is trained for. Huber's loss: single times may be far off."""


@dataclass(frozen=True)
class Calibration:
    """How the cost model does on families that its forests have not seen.

    Attributes:
        rows: how many were predicted, of recipes that have been tried.
        error: mean absolute error of the mean, in powers of two.
        explained: share of the variance that the mean explains.
        order: Spearman's rank correlation within a nest, averaged over nests.
        covered: share of the promising rows at or above the unshifted low quantile.
        shifts: target to what to take off it so that `COVERED` are.
    """

    rows: int
    error: float
    explained: float
    order: float
    covered: float
    shifts: dict[str, float]


def train(
    table: Table,
    encoder: str,
    *,
    seed: int,
    threads: int,
    rounds: int = ROUNDS,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[CostModel, Calibration]:
    """A cost model without metadata, and how well it does on held-out families.

    Args:
        encoder: version of the encoder whose distances are in the rows.
        progress: called with forests done and in all.
    """
    folds = np.array([zlib.crc32(family.encode()) % FOLDS for family in table.families])
    parts = list(_parted(folds, by_target(table.rows)))
    done, total = 0, len(OBJECTIVES) * (len(parts) + len(TARGETS))
    weights = {target: _weights(table, target) for target in TARGETS}

    def fit(name: str, target: str, wanted: np.ndarray, inside: np.ndarray) -> Forest:
        nonlocal done
        done += 1
        progress(done, total)
        chosen = np.flatnonzero(inside & (weights[target] > 0))
        return _forest(name, table, wanted, chosen, weights[target], seed, threads, rounds)

    start = expected(table.rows)
    mean = start.copy()
    for target, inside, outside in parts:
        forest = fit("mean", target, table.gains - start, inside)
        mean[outside] += TRUST * forest(table.rows[outside])
    # What is left is that of nests not trained on: on others the mean is too good.
    left = table.gains - mean
    low = mean.copy()
    for target, inside, outside in parts:
        low[outside] += fit("low", target, left, inside)(table.rows[outside])
    calibration = _calibration(table, {"mean": mean, "low": low})
    everything = np.ones(len(table), bool)
    forests = {
        target: {
            "mean": fit("mean", target, table.gains - start, everything),
            "low": fit("low", target, left, everything),
        }
        for target in TARGETS
    }
    return CostModel(forests, calibration.shifts, encoder, {}), calibration


def _parted(
    folds: np.ndarray, own: Mapping[str, np.ndarray]
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """For each target and fold that has any rows: which to train on and which to predict."""
    for target, rows in own.items():
        for fold in range(FOLDS):
            inside, outside = folds != fold, rows & (folds == fold)
            if (inside & rows).any() and outside.any():
                yield target, inside, outside


def _weights(table: Table, target: str) -> np.ndarray:
    """A nest with many rows counts more than one with few, but not as much more."""
    _, place, counts = np.unique(table.nests, return_inverse=True, return_counts=True)
    own = by_target(table.rows)[target]
    others = OTHERS[TARGETS[target].parallel]
    weights = (counts**-0.5)[place] * np.where(own | ~own.any(), 1.0, others)
    return weights * len(weights) / weights.sum()


def _forest(
    name: str,
    table: Table,
    wanted: np.ndarray,
    chosen: np.ndarray,
    weights: np.ndarray,
    seed: int,
    threads: int,
    rounds: int,
) -> Forest:
    package = lightgbm()
    data = package.Dataset(table.rows[chosen], wanted[chosen], weight=weights[chosen])
    parameters = {**PARAMETERS, **OBJECTIVES[name], "seed": seed, "num_threads": threads}
    model = package.train(parameters, data, num_boost_round=rounds)
    return exported(model.dump_model())


def exported(dump: dict[str, Any]) -> Forest:
    """A model of LightGBM, as `Booster.dump_model` tells it, as arrays.

    What a split has never missed while it was learnt counts as 0 where it is missing later.
    """
    roots: list[int] = []
    nodes: list[list[float]] = []

    def add(node: dict[str, Any]) -> int:
        number = len(nodes)
        if "split_feature" not in node:
            nodes.append([0, 0.0, False, number, number, node["leaf_value"]])
            return number
        threshold = node["threshold"]
        missed = node["missing_type"] == "NaN"
        otherwise = node["default_left"] if missed else threshold >= 0
        nodes.append([node["split_feature"], threshold, otherwise, number, number, 0.0])
        nodes[number][3] = add(node["left_child"])
        nodes[number][4] = add(node["right_child"])
        return number

    for tree in dump["tree_info"]:
        roots.append(add(tree["tree_structure"]))
    parts = (np.array(part) for part in zip(*nodes, strict=True))
    feature, threshold, otherwise, left, right, value = parts
    return Forest(
        np.array(roots, np.int32),
        feature.astype(np.int16),
        _rounded_down(threshold),
        otherwise.astype(bool),
        left.astype(np.int32),
        right.astype(np.int32),
        value.astype(np.float32),
    )


def _rounded_down(threshold: np.ndarray) -> np.ndarray:
    """In float32, such that rows in float32 go where they would go in float64."""
    # A split between what is known and what is not has a threshold beyond all numbers.
    most = float(np.finfo(np.float32).max)
    rounded = np.clip(threshold, -most, most).astype(np.float32)
    above = rounded.astype(np.float64) > threshold
    return np.where(above, np.nextafter(rounded, np.float32(-np.inf)), rounded).astype(np.float32)


def _calibration(table: Table, predicted: dict[str, np.ndarray]) -> Calibration:
    from scipy.stats import spearmanr

    tried = table.tried  # nothing else is served
    gains, mean, low = table.gains[tried], predicted["mean"][tried], predicted["low"][tried]
    promising = mean >= PROMISING
    own = by_target(table.rows[tried])
    shifts = {target: _shift(low - gains, promising & rows) for target, rows in own.items()}
    served = promising if promising.any() else np.ones(len(mean), bool)
    orders = []
    names = np.array(table.nests)[tried]
    for name in np.unique(names):
        here = names == name
        if here.sum() >= 5 and np.ptp(gains[here]) > 0 and np.ptp(mean[here]) > 0:
            orders.append(spearmanr(gains[here], mean[here]).statistic)
    return Calibration(
        rows=len(gains),
        error=float(np.abs(mean - gains).mean()),
        explained=float(1 - ((mean - gains) ** 2).sum() / ((gains - gains.mean()) ** 2).sum()),
        order=float(np.mean(orders)) if orders else 0.0,
        covered=float((low <= gains)[served].mean()),
        shifts=shifts,
    )


def _shift(over: np.ndarray, chosen: np.ndarray) -> float:
    """What to take off so that `COVERED` of the chosen rows are not over; 0 if none is chosen."""
    if not chosen.any():
        return 0.0
    # Split conformal: the quantile's rank is of one more than there are rows.
    rank = min(1.0, COVERED * (1 + 1 / int(chosen.sum())))
    return float(np.quantile(over[chosen], rank))
