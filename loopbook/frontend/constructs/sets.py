"""What is in one or in both of two arrays: union1d, intersect1d, setdiff1d, setxor1d.

Before::

    both = np.intersect1d(a, b)

After, as if it had been written::

    one, other = np.sort(a.ravel()), np.sort(b.ravel())
    both = one[...]  # first of its like, and found in `other`
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend.constructs.written import written


def _firsts(ordered):
    """Which of a line's numbers, which is in order, are others than the one before."""
    found = np.ones(len(ordered), dtype=bool)
    found[1:] = ordered[1:] != ordered[:-1]
    return found


def _among(some, ordered):
    """Which of a line's numbers are in another line, which is in order."""
    if len(ordered) == 0:
        return np.zeros(len(some), dtype=bool)
    place = np.minimum(np.searchsorted(ordered, some), len(ordered) - 1)
    return ordered[place] == some


@written(np.union1d)
def union1d(ar1, ar2):
    return np.unique(np.concatenate((ar1.ravel(), ar2.ravel())))


@written(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False):
    one = np.sort(ar1.ravel())
    return one[_firsts(one) & _among(one, np.sort(ar2.ravel()))]


@written(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    if assume_unique:
        return ar1.ravel()[~_among(ar1.ravel(), np.sort(ar2.ravel()))]
    one = np.sort(ar1.ravel())
    return one[_firsts(one) & ~_among(one, np.sort(ar2.ravel()))]


@written(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    one, other = np.sort(ar1.ravel()), np.sort(ar2.ravel())
    only, others = _firsts(one) & ~_among(one, other), _firsts(other) & ~_among(other, one)
    return np.sort(np.concatenate((one[only], other[others])))
