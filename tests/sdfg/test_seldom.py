"""Indices from data that seldom count from the end, told to clang where that is a store's."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook

PLACES = np.array([3, -1, 0, -4, 3, 2])


def counted(places, found):
    for i in range(places.shape[0]):
        found[places[i]] += 1.0


def gathered(places, found):
    for i in range(places.shape[0]):
        found[i] = 2.0 * i + places[places[i]]


def stepped(places, found):
    """What is negative in it is no index."""
    for i in range(places.shape[0]):
        k = places[i]
        if k < 0:
            k = k + 4
        found[i] += k


@pytest.mark.parametrize(
    ("function", "told"), [(counted, True), (gathered, False), (stepped, False)]
)
def test_a_store_at_an_index_waits_for_no_choice(function, told, tmp_path):
    found, expected = np.zeros(6), np.zeros(6)
    program = loopbook.native(function, strict=True)
    program.compile(PLACES, found, output_folder=tmp_path)
    program(PLACES, found)
    function(PLACES, expected)
    np.testing.assert_array_equal(found, expected)
    sources = [path.read_text() for path in tmp_path.rglob("*.cpp")]
    assert any("__builtin_expect" in source for source in sources) == told
