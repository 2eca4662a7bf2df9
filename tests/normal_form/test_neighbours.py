"""Of programs that docc is shown in pieces, neighbouring nests over the same elements are one."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import normal_form_of, random

import loopbook
from loopbook.frontend import lower
from loopbook.normal_form import neighbours
from loopbook.normal_form.unread import without_unread_integers
from loopbook.program import walk
from loopbook.program.tree import Loop
from loopbook.sdfg import frontend, normalised, program
from loopbook.sdfg.local import with_local

pytestmark = pytest.mark.usefixtures("no_book")

N = 9


def inside(x, y, z):
    s = x[1:-2, 2:-2, :] * y[1:-2, 2:-2, :]
    t = np.tanh(s)
    z[1:-2, 2:-2, :] = t * s + t


def from_elsewhere(x, y, z):
    s = x[1:, :, :] - x[:-1, :, :]
    y[1:, :, 0] = np.exp(s[:, :, 0])
    z[:-1, :, :] += s


def needs_what_comes_later(x, y, z):
    s = np.exp(x) * y
    z[1:, :, :] = s[:-1, :, :] * s[1:, :, :] + np.tanh(s[:-1, :, :])


def of_another_size(x, y, z):
    s = np.exp(x[1:, :, :])
    z[:4, :, :] = s[:4, :, :] / s[1:5, :, :]


def with_sums(x, y, z):
    z[:, :, 0] = np.tanh(x + y).sum(axis=2)
    z[:, :, 1] = (x - y).sum(axis=2)


LOOPS = {inside: 3, from_elsewhere: None, needs_what_comes_later: None, of_another_size: None}
LOOPS |= {with_sums: None}


@pytest.fixture
def in_pieces(monkeypatch):
    """As if all programs were large."""
    monkeypatch.setattr(program, "LARGE", 1)


def arrays():
    return [random(N, N + 4, 5) - 0.5 for _ in range(3)]


@pytest.mark.parametrize("kernel", [kernel for kernel in LOOPS if LOOPS[kernel]])
def test_they_are_one_nest(in_pieces, kernel):
    tree = normal_form_of(kernel, arrays())
    assert sum(isinstance(node, Loop) for node in walk.preorder(tree)) == LOOPS[kernel]


@pytest.mark.parametrize("kernel", LOOPS)
def test_numbers_are_pythons(in_pieces, kernel):
    ours, theirs = arrays(), arrays()
    loopbook.native(kernel, strict=True)(*ours)
    kernel(*theirs)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_what_would_do_too_much_stays_apart(in_pieces, monkeypatch):
    monkeypatch.setattr(neighbours, "MOST_BODY", 1)
    tree = normal_form_of(from_elsewhere, arrays())
    assert neighbours.with_fused_neighbours(tree) is tree


def test_integers_between_loops_that_nobody_reads_are_gone():
    lowered = lower(inside, arrays())
    assert lowered is not None
    given = lowered.prepare(*arrays())
    text = with_local(frontend.trace(lowered.kernel, given), lowered, given)
    tree = normalised.promoted(text, "sequential")
    depths = [
        [len(walk.band(loop)) for loop in walk.outermost(one) if isinstance(loop, Loop)]
        for one in (tree, without_unread_integers(tree))
    ]
    assert depths == [[1, 1], [3, 3]]


def eight_sums(A, p, n):
    for _ in range(n):
        p = A @ p
        p = p / (p @ p)
    return p


def test_sums_beside_each_other_keep_what_they_add_to(in_pieces):
    args = random(50, 50) + 50.0 * np.eye(50), random(50), 5
    expected = eight_sums(*args)
    for _ in range(3):  # docc fuses now one way, now the other
        got = loopbook.native(eight_sums, strict=True)(*args)
        np.testing.assert_allclose(got, expected, rtol=1e-10)
