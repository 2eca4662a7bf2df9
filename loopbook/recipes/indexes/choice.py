"""Which kind of index a book of some size gets, and when it is time for a new one.

Measured on one shared core of an AMD EPYC (Zen 4), 128 dimensions, clustered vectors, ten
neighbours, one query at a time (``benchmarks/search.py --peers``):

========  ======================  ======  ==========  ========
vectors   kind                    recall  median      build
========  ======================  ======  ==========  ========
10 000    flat, here              1.000   0.24 ms     0
10 000    flat, FAISS             1.000   0.10 ms     0
10 000    inverted lists          0.999   0.02 ms     0.3 s
100 000   flat, FAISS             1.000   3 to 7 ms   0
100 000   inverted lists          0.998   0.10 ms     5 s
100 000   HNSW, 32 links          0.994   0.06 ms     30 s
100 000   lists of 8-bit vectors  0.97    0.06 ms     7 s
10^6      inverted lists          0.998   0.25 ms     40 to 70 s
10^6      HNSW, 32 links          0.997   0.15 ms     390 s
10^6      lists of 8-bit vectors  0.96    0.16 ms     45 s
10^7      inverted lists          0.999   1.3 ms      15 min
========  ======================  ======  ==========  ========

Up to ten thousand vectors a full comparison takes less than a look-up takes elsewhere, is exact,
and loads no library. Beyond, HNSW graphs (Malkov and Yashunin, TPAMI 2020) are somewhat faster
than inverted lists, but take six to ten times longer to build and twice the memory (78 against
36 MB for a hundred thousand), and under a filter they walk through nodes that don't count. 8-bit
vectors, also relative to their cell's centre, lose three neighbours in a hundred, whatever the
effort; half-precision ones two in a thousand. Ten million take 3.1 GB, names and tags included.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from loopbook.recipes.indexes.flat import Flat
from loopbook.recipes.indexes.ivf import Ivf, available
from loopbook.recipes.indexes.kind import Blocks, Kind

FLAT_LIMIT = 10_000
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
