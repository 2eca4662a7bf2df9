"""How far programs reach, and what they use elements for."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from loopbook.interpreter.intervals import Interval, divided, exactly, rest, times
from loopbook.interpreter.reach import reach
from loopbook.interpreter.roles import roles
from loopbook.program.read import read
from loopbook.sdfg import frontend
from loopbook.sdfg.program import prepare_document


def gather(p, a, b):
    for i in range(b.shape[0]):
        b[i] = a[p[i]] / p[i]


def rows(start, a, b):
    for i in range(b.shape[0]):
        for k in range(start[i], start[i + 1]):
            b[i] += a[k]


def triangle(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[0] - i - 1):
            b[i] += a[i + 1 + j, i]


def packed(a, b):
    k = 0
    for i in range(a.shape[0]):
        for _ in range(2):
            b[k] = a[i]
            k = k + 1


def guarded(a, b):
    for i in range(a.shape[0]):
        if i >= 2:
            b[i - 2] = a[i]


def wide(a, b):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            b[j] += a[i, j]


def trees(kernel, arguments):
    """The program as docc reads it, and as it is prepared."""
    text = frontend.trace(kernel, arguments)
    return read(json.loads(text)), read(prepare_document(text)[0])


def reached(tree, kernel, arguments, **known):
    sizes = frontend.size_symbols(kernel, arguments)
    intervals = {**{n: exactly(v) for n, v in sizes.items()}, **known}
    return reach(tree, intervals, roles(tree).indices)


def ones(*shape):
    return np.ones(shape)


def test_indices_reach_as_far_as_they_say():
    given = np.ones(5, int), ones(9), ones(5)
    for tree in trees(gather, given):
        found = reached(tree, gather, given, p=Interval(2, 7))
        assert found.spans == {"p": (0, 4), "a": (2, 7), "b": (0, 4)}
        assert not found.beyond


def test_rows_reach_as_far_as_their_ends():
    given = np.ones(4, int), ones(9), ones(3)
    for tree in trees(rows, given):
        found = reached(tree, rows, given, start=Interval(0, 8))
        assert found.spans == {"start": (0, 3), "a": (0, 7), "b": (0, 2)}


def test_ends_of_triangles_depend_on_one_another():
    given = ones(6, 6), ones(6)
    tree = trees(triangle, given)[1]
    found = reached(tree, triangle, given)
    assert 34 <= found.spans["a"].high < 36
    assert not found.beyond


def test_what_grows_evenly_is_followed():
    given = ones(6), ones(12)
    assert reached(trees(packed, given)[0], packed, given).spans["b"] == (0, 11)


def test_a_condition_narrows_an_index():
    given = ones(6), ones(6)
    text = json.dumps(prepare_document(frontend.trace(guarded, given))[0])
    plain = text.replace("0 != tmp_0", "i > 1")
    assert plain != text
    found = reached(read(json.loads(plain)), guarded, given)
    assert found.spans["b"] == (0, 3)
    assert not found.low


def test_an_index_that_leaves_its_row_is_told_with_the_size_that_is_short():
    given = ones(6, 5), ones(4)
    tree = trees(wide, given)[1]
    assert not reached(tree, wide, given).beyond
    sizes = frontend.size_symbols(wide, given)
    (row,) = (name for name, size in sizes.items() if size == 5)
    (found,) = reached(tree, wide, given, **{row: exactly(3)}).beyond
    assert (found.container, found.row, found.by) == ("a", row, 1)


def test_roles():
    used = roles(read(json.loads(frontend.trace(gather, (np.ones(5, int), ones(9), ones(5))))))
    assert {"p"} == used.indices & {"p", "a", "b"} == used.divisors & {"p", "a", "b"}
    assert not used.ordered & {"p", "a", "b"}
    used = roles(read(json.loads(frontend.trace(rows, (np.ones(4, int), ones(9), ones(3))))))
    assert used.ordered & {"start", "a", "b"} == {"start"}


@pytest.mark.parametrize("seed", range(20))
def test_intervals_hold_what_numbers_give(seed):
    rng = np.random.default_rng(seed)
    a, b = (Interval(*sorted(rng.integers(-9, 9, 2).tolist())) for _ in range(2))
    for x in range(int(a.low), int(a.high) + 1):
        for y in range(int(b.low), int(b.high) + 1):
            assert times(a, b).low <= x * y <= times(a, b).high
            if y:
                assert divided(a, b).low <= math.trunc(x / y) <= divided(a, b).high
                assert rest(a, b).low <= math.fmod(x, y) <= rest(a, b).high
