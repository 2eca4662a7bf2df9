"""Divisors, multiples and roots of whole numbers: gcd, lcm, isqrt.

Before::

    k = np.gcd(a, b)

After, for each pair of elements::

    while b_0 != 0:
        kept_0 = a_0 % b_0
        a_0 = b_0
        b_0 = kept_0
    k[i0] = a_0
"""

from __future__ import annotations

import math

import numpy as np

from loopbook.frontend.constructs.written import written


@written(math.gcd)
def gcd(a, b):
    a = abs(a)
    b = abs(b)
    while b != 0:
        kept = a % b
        a = b
        b = kept
    return a


def _of_each(a, b, function):
    """A function of two whole numbers, for each pair of elements."""
    if np.ndim(a) == 0 and np.ndim(b) == 0:
        return np.asarray(function(a, b), dtype=np.result_type(a, b))[()]
    one, other = np.broadcast_arrays(a, b)
    found = np.empty(one.shape, dtype=np.result_type(a, b))
    for place in np.ndindex(one.shape):
        found[place] = function(one[place], other[place])
    return found


@written(np.gcd)
def numpys_gcd(x1, x2):
    return _of_each(x1, x2, gcd)


def _multiple(a, b):
    if a == 0 or b == 0:
        return 0 * a
    return abs(a // gcd(a, b) * b)


@written(np.lcm)
def lcm(x1, x2):
    return _of_each(x1, x2, _multiple)


@written(math.isqrt)
def isqrt(n):
    root = int(math.sqrt(n))
    while root * root > n:
        root = root - 1
    while (root + 1) * (root + 1) <= n:
        root = root + 1
    return root
