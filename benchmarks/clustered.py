"""Unit vectors in families, as an encoder gives them to nests; made in blocks, from a seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

DIMENSION = 128
"""What the encoder that comes with loopbook gives."""

BLOCK = 1 << 16
_KINDS = 64
_FAMILY_SIZE = 100


class Families:
    """``n`` vectors: kinds of programs, families of nests in each, members of each family.

    A family holds a hundred members on average, but sizes are log-normal: some hold thousands.
    Members lie 0.03 to 0.5 from the family's middle, families about 0.7 from their kind's. In
    every cloud the i-th principal component has variance 1/i, so 16 of 128 hold 62 % of it: more
    spread out, hence harder to search, than the starter book's nests, where 16 hold 90 %.

    Args:
        seed: equal seeds and sizes give equal vectors.
    """

    def __init__(self, n: int, seed: int = 0, dimension: int = DIMENSION) -> None:
        self.n, self.seed, self.dimension = n, seed, dimension
        rng = np.random.default_rng([seed, n])
        self._turn = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0].astype(np.float32)
        scale = 1 / np.sqrt(np.arange(1, dimension + 1))
        self._scale = (scale / np.linalg.norm(scale)).astype(np.float32)
        count = max(4, n // _FAMILY_SIZE)
        kinds = _unit(self._cloud(rng, _KINDS))
        centres = kinds[rng.integers(_KINDS, size=count)] + 0.7 * self._cloud(rng, count)
        self._centres = _unit(centres)
        sizes = rng.lognormal(sigma=1.0, size=count)
        self._bounds = np.cumsum(sizes / sizes.sum())
        self._spread = np.exp(rng.uniform(np.log(0.03), np.log(0.5), count)).astype(np.float32)

    def blocks(self) -> Iterator[np.ndarray]:
        """All vectors, at most :data:`BLOCK` at a time."""
        for number, start in enumerate(range(0, self.n, BLOCK)):
            rng = np.random.default_rng([self.seed, self.n, number])
            yield self._members(rng, min(BLOCK, self.n - start))

    def queries(self, count: int) -> np.ndarray:
        """Further members of the families, big families more often; none is among the blocks."""
        return self._members(np.random.default_rng([self.seed, self.n, 1 << 32]), count)

    def _members(self, rng: np.random.Generator, count: int) -> np.ndarray:
        family = np.searchsorted(self._bounds, rng.random(count)).clip(max=len(self._bounds) - 1)
        away = self._spread[family, None] * self._cloud(rng, count)
        return _unit(self._centres[family] + away)

    def _cloud(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Points about 1 from the origin."""
        normal = rng.standard_normal((count, self.dimension), dtype=np.float32)
        return (normal * self._scale) @ self._turn


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
