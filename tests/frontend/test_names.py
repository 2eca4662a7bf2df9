"""Arguments that are called like what the loops, or the function around them, are written with."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import loopbook
from loopbook.errors import InterpretedWarning

from .kit import check, data, function

BODIES = {
    "kernel, img": "out = np.zeros((3, 3))\nfor (i, j), c in np.ndenumerate(kernel[:3, :3]):\n"
    "    out += c * img[i : i + 3, j : j + 3]\nreturn out",
    "original, room, shapes, kept": "t = (original + 1) @ room\nu = t @ room\nshapes[:] = u\n"
    "kept += u.sum()\nreturn np.sort(u, axis=0) @ t",
    "original, kept_x, x": "for i in range(5):\n    if x[i].sum() > 9:\n        raise ValueError\n"
    "    x[i] += kept_x[i]\nreturn x - original",
    "min, max, x": "return np.clip(x, min, max), np.maximum(x, max).max() + min.sum()",
    "range, float, int, bool": "for k in (0, 1):\n    range[k] += float[k].astype(np.int64) * 2\n"
    "return range.max() + int, bool @ float",
    "abs, np_0, max_0, max": "return np.abs(abs - np_0), max_0 @ max, np.where(max > 0, max, abs)",
}


@pytest.mark.parametrize("names", BODIES)
def test_any_word_may_be_an_arguments_name(names):
    given = [data(5, 5, seed=number) for number, _ in enumerate(names.split(","))]
    check(function(BODIES[names], names), *given)


def clipped(x, min=0.0, *, max=1):
    x[:] = np.where(x > max, max, x)
    return np.maximum(x, min).sum()


def spread(x, max):
    max[1:] = x[:-1] * 2.0
    return max


def test_they_may_be_passed_by_name_and_left_out():
    compiled = loopbook.native(clipped, strict=True)
    given: list[dict[str, Any]] = [{}, {"min": 0.25}, {"max": 0.5, "min": -1.0}, {"max": data(6)}]
    for options in given:
        x, y = data(6), data(6)
        assert compiled(x, **options) == pytest.approx(clipped(y, **options))
        assert np.array_equal(x, y)


def test_they_may_overlap():
    """What is passed twice, or overlaps in part, is found by the names that the loops have."""
    compiled = loopbook.native(spread)
    for first, second in ((slice(0, 6), slice(0, 6)), (slice(0, 6), slice(2, 8))):
        mine, theirs = data(8), data(8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InterpretedWarning)
            got = compiled(mine[first], mine[second])
        assert np.array_equal(got, spread(theirs[first], theirs[second]))
        assert np.array_equal(mine, theirs)
