"""Which kind of index a book of some size gets, and when it is time for a new one.

Measured on one core of an AMD EPYC (Zen 4), 128 dimensions, clustered vectors, ten neighbours
(``benchmarks/search.py``; HNSW with ``--peers``):

PLACEHOLDER
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from loopbook.recipes.indexes.flat import Flat
from loopbook.recipes.indexes.ivf import Ivf, available
from loopbook.recipes.indexes.kind import Blocks, Kind

FLAT_LIMIT = 20_000
"""Up to so many vectors, every one is compared."""

KINDS: dict[str, type[Flat] | type[Ivf]] = {kind.name: kind for kind in (Flat, Ivf)}

_FORCED = 4
"""How many times too big an index may get before a search waits for its successor."""

_FEW = 64


def build(blocks: Blocks, count: int, dimension: int) -> Kind:
    """A new index over so many vectors; ``blocks`` may be called several times."""
    if count > FLAT_LIMIT and available():
        return Ivf.build(blocks, count)
    parts = [np.asarray(block, np.float32) for block in blocks()]
    return Flat(np.concatenate(parts) if parts else np.zeros((0, dimension), np.float32))


def outgrown(kind: Kind, built: int, gone: int) -> Literal["no", "soon", "now"]:
    """Whether a new index is due.

    Args:
        built: rows when it was built.
        gone: rows that searches leave out.
    """
    rows = len(kind)
    if kind.name == Flat.name:
        # Made again in milliseconds.
        if 4 * gone > rows + _FEW:
            return "now"
        limit = FLAT_LIMIT if available() else math.inf
    else:
        # The number of cells fits the size that it was built for, within a factor of two.
        limit = 2 * built
        if 2 * gone > rows:
            return "soon"
    if rows <= limit:
        return "no"
    return "now" if rows > _FORCED * limit else "soon"
