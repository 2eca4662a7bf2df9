"""Lists that some calls add to are the caller's, whatever is compiled for the others."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import loopbook

pytestmark = pytest.mark.usefixtures("no_book")


def found(hits, one, other, i, text):
    if one == other and (text[i : i + 2] > 0).all():
        hits.append(i)


def added(hits, one, other, i, text):
    if one == other:
        hits += [int(text[i])]


@pytest.mark.parametrize("function", [found, added])
def test_what_is_appended_at_times_is_kept(function):
    """Once a call has been compiled in which nothing is appended, Python is timed beside it."""
    text = np.ones(40, np.uint8)
    compiled, mine, others = loopbook.native(function), [3], [3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(12):
            other = 1 if i > 7 else 2
            compiled(others, 1, other, i, text)
            function(mine, 1, other, i, text)
            assert others == mine
