"""Rows whose ends meet: remainders are left out where they change nothing."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import loopbook
from loopbook.errors import InterpretedWarning
from loopbook.program import walk
from loopbook.program.tree import Loop
from loopbook.sdfg import frontend
from loopbook.sdfg.transformed import transform

rng = np.random.default_rng(0)


def grid(a, r):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            up, down = a[(i - 1) % a.shape[0], j], a[(i + 1) % a.shape[0], j]
            r[i, j] = up + down + a[i, (j + 1) % a.shape[1]] - a[i, (j - 1) % a.shape[1]]


def far(a, r):
    for i in range(a.shape[0]):
        r[i] = a[(i - 3) % a.shape[0]]


def in_place(a, r):
    for k in range(3):
        for i in range(a.shape[0]):
            a[i] = 0.5 * (a[(i + 1) % a.shape[0]] + a[(i - 1) % a.shape[0]])
        r[k % a.shape[0]] = a[0]


def summed(a, r):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * a[(i + 1) % a.shape[0]]
    r[0] = s


def scattered(a, r):
    for i in range(a.shape[0]):
        r[i] = a[(7 * i + 3) % a.shape[0]]


def too_far(a, r):
    for i in range(a.shape[0]):
        r[i] = a[(i + 9) % a.shape[0]]


def found_in_a_loop(a, r):
    for i in range(a.shape[0]):
        p = 0
        for k in range(a.shape[0]):
            if a[k] > 0.1 * i:
                p = 2 * k + i
                break
        q = p % a.shape[0]
        r[i] = 1 if i > q else q


INNERMOST = {grid: 3, far: 2, in_place: 3, summed: 2, scattered: 1, too_far: 1}
COMPUTED = [*INNERMOST, found_in_a_loop]


def made(kernel, n):
    shape = (n, n + 2) if kernel is grid else (n,)
    return [rng.standard_normal(shape), np.zeros(shape)]


@pytest.mark.parametrize("kernel", INNERMOST)
def test_a_loop_is_split_where_its_ends_meet(kernel):
    text = frontend.trace(kernel, made(kernel, 20))
    tree = transform(text, "sequential", {}, late=True).tree
    inner = [n for n in walk.preorder(tree) if isinstance(n, Loop) and not _holds_loops(n)]
    assert len(inner) == INNERMOST[kernel]


def _holds_loops(loop):
    return any(isinstance(node, Loop) for c in walk.children(loop) for node in walk.preorder(c))


@pytest.mark.parametrize("target", ["sequential", "openmp"])
@pytest.mark.parametrize("kernel", COMPUTED)
def test_the_numbers_are_those_of_python(kernel, target, no_book):
    fast = loopbook.native(kernel, target=target)
    for n in (20, 1, 2, 3, 4, 5):
        args = made(kernel, n)
        own = copy.deepcopy(args)
        with warnings.catch_warnings():
            warnings.simplefilter("error" if n > 2 else "ignore", InterpretedWarning)
            fast(*own)
        kernel(*args)
        for one, other in zip(args, own, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
