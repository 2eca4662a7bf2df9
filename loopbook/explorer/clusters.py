"""Names for the crowds on a map."""

from __future__ import annotations

import numpy as np

from loopbook.explorer.documents import Cluster

CELLS = 24
"""The map is looked at in so many cells in each direction."""

MOST = 60
SMALLEST = 5


def clusters(places: np.ndarray, groups: np.ndarray, names: list[str]) -> list[Cluster]:
    """A name for each crowd: cells side by side in which one group is the most frequent.

    Args:
        places: shape ``(n, 2)``, from -1 to 1.
        groups: shape ``(n,)``, places in `names`.
    """
    if not len(places):
        return []
    from scipy import ndimage

    cells = np.clip(((places + 1) / 2 * CELLS).astype(int), 0, CELLS - 1)
    flat = cells[:, 0] * CELLS + cells[:, 1]
    counts = np.zeros((CELLS * CELLS, len(names)), np.int64)
    np.add.at(counts, (flat, groups), 1)
    leading = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), -1)
    least = max(SMALLEST, len(places) // 200)
    found = []
    for group, name in enumerate(names):
        cells_of = (leading == group).reshape(CELLS, CELLS)
        regions = np.zeros((CELLS, CELLS), np.int32)
        ndimage.label(cells_of, structure=np.ones((3, 3)), output=regions)
        region_of = regions.ravel()[flat]
        for region in range(1, int(regions.max()) + 1):
            own = (region_of == region) & (groups == group)
            size = int(own.sum())
            if size >= least:
                x, y = np.median(places[own], axis=0)
                found.append(Cluster(round(float(x), 4), round(float(y), 4), name, size))
    return sorted(found, key=lambda one: -one.size)[:MOST]
