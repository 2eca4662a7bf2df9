"""Gradient-boosted regression trees as plain arrays, evaluated with NumPy.

Trees are trained with LightGBM (`loopbook.learn.boosting`); here they only predict, so that looking
a recipe up needs no such library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

MAX_NODES = 1 << 22


@dataclass(frozen=True, eq=False)
class Forest:
    """Regression trees whose leaves are summed up. Node numbers count through all trees.

    Attributes:
        roots: ``(t,)`` int32, each tree's first node.
        feature: ``(n,)`` int16, the column that a node asks about; 0 in a leaf.
        threshold: ``(n,)`` float32, a row goes left if its value is at most this.
        otherwise: ``(n,)`` bool, whether it goes left if its value is not known (NaN).
        left, right: ``(n,)`` int32, where a row goes on; a leaf names itself.
        value: ``(n,)`` float32, what a leaf adds; 0 elsewhere.
    """

    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    otherwise: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """The predictions for `rows`, ``(r, columns)`` float32: ``(r,)`` float64."""
        if not len(rows):
            return np.zeros(0)
        unknown = np.isnan(rows)
        some_unknown = bool(unknown.any())
        lines = np.arange(len(rows))[:, None]
        place = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        while True:
            goes_left = rows[lines, self.feature[place]] <= self.threshold[place]
            if some_unknown:
                goes_left |= unknown[lines, self.feature[place]] & self.otherwise[place]
            below = np.where(goes_left, self.left[place], self.right[place])
            if np.array_equal(below, place):
                return self.value[place].sum(axis=1, dtype=np.float64)
            place = below

    def fits(self, columns: int) -> bool:
        """Whether every number in it names something: nodes, and columns below `columns`."""
        count = len(self.feature)
        parts = [getattr(self, field.name) for field in fields(self)]
        if any(part.ndim != 1 for part in parts) or not 0 < count <= MAX_NODES:
            return False
        if any(len(part) != count for part in parts[1:]) or not len(self.roots):
            return False
        within = all(
            part.min() >= 0 and part.max() < count for part in (self.roots, self.left, self.right)
        )
        ahead = np.arange(count)
        # Children come after their parents, so that every walk ends.
        ends = bool(((self.left >= ahead) & (self.right >= ahead)).all())
        known = bool(self.feature.min() >= 0 and self.feature.max() < columns)
        finite = bool(np.isfinite(self.value).all() and not np.isnan(self.threshold).any())
        return within and ends and known and finite

    def arrays(self, prefix: str) -> dict[str, np.ndarray]:
        """Its arrays, named ``prefix.field``."""
        return {f"{prefix}.{field.name}": getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], prefix: str) -> Forest:
        """Undo `arrays`. Those written before values could be missing take 0 for them, as LightGBM
        does where it has never missed any.

        Raises:
            KeyError: one of them is missing.
        """
        parts = {"otherwise": arrays[f"{prefix}.threshold"] >= 0}
        for field in fields(cls):
            name = f"{prefix}.{field.name}"
            if field.name not in parts or name in arrays:
                parts[field.name] = arrays[name]
        return cls(**parts)
