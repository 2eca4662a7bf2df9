"""Numbers in bins, and sums of the parts between places: written as Python, and inlined.

Before::

    counts, edges = np.histogram(x, edges)          totals = np.add.reduceat(x, starts)

After, as if it had been written::

    counts = np.zeros(len(edges) - 1, np.int64)     for k in range(len(starts)):
    for v in x:                                         totals[k] = x[starts[k]]
        if edges[0] <= v <= edges[-1]:                  for i in range(starts[k] + 1, …):
            counts[…] += 1                                  totals[k] = totals[k] + x[i]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from loopbook.frontend.constructs.written import written


def histogram_of_edges(a, bins):
    """`np.histogram` with edges: the last bin holds its right one, too."""
    edges = np.asarray(bins)
    counts = np.zeros(len(edges) - 1, np.int64)
    for x in np.ravel(a):
        if edges[0] <= x and x <= edges[-1]:
            place = np.searchsorted(edges, x, side="right") - 1
            counts[min(place, len(counts) - 1)] += 1
    return counts, edges


def in_shares(counts, edges):
    """`np.histogram` with ``density``: how much of all is in a bin, for its width."""
    widths = (edges[1:] - edges[:-1]).astype(np.float64)
    return counts / widths / counts.sum(), edges


def _reduceat(ufunc: np.ufunc) -> Callable[..., object]:
    """``ufunc.reduceat``: from each place to the next one, or the element alone where that is no
    later."""

    def reduceat(array, indices, axis=0):
        starts, rows = np.asarray(indices), np.moveaxis(array, axis, 0)
        made = np.zeros((len(starts), *rows.shape[1:]), ufunc.reduce(rows[:1]).dtype)
        for k in range(len(starts)):
            end = len(rows) if k == len(starts) - 1 else starts[k + 1]
            made[k] = rows[starts[k]]
            for i in range(starts[k] + 1, end):
                made[k] = ufunc(made[k], rows[i])
        return np.moveaxis(made, 0, axis)

    return reduceat


for _ufunc in (np.add, np.multiply, np.maximum, np.minimum):
    written(_ufunc.reduceat)(_reduceat(_ufunc))


__all__ = ["histogram_of_edges", "in_shares"]
