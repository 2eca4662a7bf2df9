"""A gradient-boosted ranking model of one nest's recipes, trained while the search runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from loopbook.errors import InputError

GRADES = 24
"""Levels of relevance that speedups are told apart in; 0 is for failures."""

ROUNDS = 60

PARAMETERS: dict[str, Any] = {
    "objective": "lambdarank",
    "learning_rate": 0.12,
    "num_leaves": 12,
    "min_data_in_leaf": 3,
    "min_data_in_bin": 1,
    "feature_fraction": 0.6,
    "lambda_l2": 1.0,
    "lambdarank_truncation_level": 200,
    "label_gain": list(range(GRADES)),
    "feature_pre_filter": False,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "verbosity": -1,
}
"""Few samples: small trees, small leaves. The gain is linear in the grade, so that the order below
the very best counts as well. One thread, because the other cores build and measure."""


def lightgbm() -> Any:
    """The package, imported when it is first needed.

    Raises:
        InputError: if it is not installed.
    """
    try:
        import lightgbm
    except (ImportError, OSError) as error:  # OSError: the wheel without GNU's OpenMP library
        reason = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
        raise InputError(
            "the strategy 'model' needs LightGBM: pip install 'loopbook[tune]', and the system's "
            f"libgomp{reason}; or choose another strategy"
        ) from None
    return lightgbm


class Ranker:
    """Orders recipes by how fast they promise to be.

    After T. Chen et al., "Learning to optimize tensor programs", NeurIPS 2018, with their rank
    loss; here LambdaMART (C. Burges, MSR-TR-2010-82), which LightGBM has.
    """

    def __init__(self, seed: int) -> None:
        self._package = lightgbm()
        self._seed = seed
        self._model: Any = None

    def fit(self, features: np.ndarray, speedups: Sequence[float]) -> None:
        """Train anew on all that was measured.

        Args:
            features: one row for each recipe.
            speedups: 0 for failures.
        """
        data = self._package.Dataset(features, grades(speedups), group=[len(features)])
        parameters = PARAMETERS | {"seed": self._seed}
        self._model = self._package.train(parameters, data, num_boost_round=ROUNDS)

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Higher is better; all equal before the first training."""
        if self._model is None or not len(features):
            return np.zeros(len(features))
        return np.asarray(self._model.predict(features, num_threads=1))


def grades(speedups: Sequence[float]) -> np.ndarray:
    """Whole numbers below `GRADES` in the order of the speedups, finest near the best.

    The grade falls with the logarithm of how far a recipe is from the best one; four times slower
    is as bad as worse.
    """
    values = np.asarray(speedups, dtype=np.float64)
    best = values.max(initial=0.0)
    if best <= 0:
        return np.zeros(len(values), dtype=np.int32)
    behind = np.log2(best / np.maximum(values, best / 4)) / 2
    graded = 1 + np.rint((GRADES - 2) * (1 - behind))
    return np.where(values > 0, graded, 0).astype(np.int32)
