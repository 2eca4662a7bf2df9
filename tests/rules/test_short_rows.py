"""Short rows that follow each other in memory, as one."""

from __future__ import annotations

import pytest
from sdfg_kit import check_recipe, nests_of, random

from loopbook.rules.short_rows import MOST_SUMS, SHORT, one_row, rows_added, short_rows


def normalised(x, m, y):
    for c in range(x.shape[0]):
        s = 0.0
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                s += x[c, i, j]
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                y[c, i, j] = x[c, i, j] - s * m[c]


def scaled(x, m, y):
    for c in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                y[c, i, j] = x[c, i, j] * 2.0


def inside(x, m, y):
    for c in range(x.shape[0]):
        for i in range(1, x.shape[1] - 1):
            for j in range(1, x.shape[2] - 1):
                y[c, i, j] = x[c, i, j] * 2.0


def numbered(x, m, y):
    for c in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                y[c, i, j] = x[c, i, j] + j


GIVEN = random(3, 4, 7), random(7), random(3, 4, 7)


@pytest.mark.parametrize(
    ("kernel", "found"),
    [
        (normalised, [("collapse", ("L1", 2)), ("collapse", ("L3", 2))]),
        (scaled, [("collapse", ("L0", 3))]),
        (inside, []),
        (numbered, []),
    ],
)
def test_rows_that_follow_each_other_become_one(kernel, found, tmp_path):
    (nest,) = nests_of(kernel, GIVEN)
    trips = {loop.name: 7 for loop in nest.loops}
    recipe = [(one.op, one.args) for one in short_rows(nest, trips)]
    assert recipe == found
    check_recipe(kernel, [GIVEN], recipe, tmp_path)


def test_long_rows_are_left():
    (nest,) = nests_of(scaled, GIVEN)
    assert short_rows(nest, {"L2": SHORT + 1}) == []
    assert short_rows(nest, {}) == []


def added(x, m, y):
    for i in range(x.shape[1]):
        for j in range(x.shape[2]):
            for c in range(x.shape[0]):
                y[0, i, j] = y[0, i, j] + x[c, i, j]


def added_up(x, m, y):
    for c in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                y[0, c, 0] = y[0, c, 0] + x[c, i, j]


def test_rows_are_added_one_at_a_time(tmp_path):
    (nest,) = nests_of(added, GIVEN)
    names = [loop.name for loop in nest.loops]
    trips = dict(zip(names, (4, 7, 3), strict=True))
    steps = rows_added(nest, trips)
    recipe = [(one.op, one.args) for one in steps]
    assert [op for op, _ in recipe] == ["interchange", "interchange", "collapse"]
    check_recipe(added, [GIVEN], recipe, tmp_path)
    assert rows_added(nest, {**trips, names[0]: MOST_SUMS}) == []
    assert rows_added(nest, {}) == rows_added(nest, {names[0]: 0}) == []


def test_rows_that_are_summed_by_themselves_are_not():
    (nest,) = nests_of(added_up, GIVEN)
    assert rows_added(nest, {loop.name: 4 for loop in nest.loops}) == []


def test_a_nest_of_very_short_rows_is_one_row():
    (nest,) = nests_of(scaled, GIVEN)
    short, longer = ({loop.name: count for loop in nest.loops} for count in (3, SHORT))
    assert [(one.op, one.args) for one in one_row(nest, short)] == [("collapse", ("L0", 3))]
    assert one_row(nest, longer) == []
    (nest,) = nests_of(normalised, GIVEN)
    assert one_row(nest, {loop.name: 3 for loop in nest.loops}) == []
