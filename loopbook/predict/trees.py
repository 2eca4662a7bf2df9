"""Gradient-boosted regression trees as plain arrays, evaluated with NumPy.

Trees are trained with LightGBM (`loopbook.learn.boosting`); here they only predict, so that looking
a recipe up needs no such library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property

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
        rows = np.ascontiguousarray(rows)
        cells, unknown = rows.ravel(), np.isnan(rows).ravel()
        some_unknown = bool(unknown.any())
        line = np.repeat(np.arange(len(rows)) * rows.shape[1], len(self.roots))
        place = np.tile(self.roots.astype(np.intp), len(rows))
        for _ in range(self._depth):
            cell = line + self._columns.take(place)
            goes_left = cells.take(cell) <= self.threshold.take(place)
            if some_unknown:
                goes_left |= unknown.take(cell) & self.otherwise.take(place)
            place *= 2
            place += goes_left
            place = self._below.take(place)
        found = self.value.take(place).reshape(len(rows), -1)
        return found.sum(axis=1, dtype=np.float64)

    @cached_property
    def _below(self) -> np.ndarray:
        """Where rows go on that do not go left at a node, and where those that do: as NumPy counts,
        which would else translate them at each step."""
        return np.stack([self.right, self.left], axis=1).ravel().astype(np.intp)

    @cached_property
    def _columns(self) -> np.ndarray:
        """`feature` as NumPy counts."""
        return self.feature.astype(np.intp)

    @cached_property
    def _depth(self) -> int:
        """How many nodes a row passes at most before its leaf."""
        depth, place = 0, self.roots
        while len(place := place[self.left[place] != place]):
            place = np.unique(np.concatenate([self.left[place], self.right[place]]))
            depth += 1
        return depth

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
