"""Of programs that docc is shown in pieces, neighbouring nests over the same elements are one."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import normal_form_of, random

import loopbook
from loopbook.normal_form import neighbours
from loopbook.program import walk
from loopbook.program.tree import Assignments, Loop
from loopbook.sdfg import program

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


@pytest.fixture(autouse=True)
def no_book(monkeypatch, tmp_path):
    monkeypatch.setenv("LOOPBOOK_BOOK", str(tmp_path / "none.db"))
    monkeypatch.setenv("LOOPBOOK_STARTER", "")


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


def test_integers_that_nobody_reads_are_gone(in_pieces):
    tree = normal_form_of(inside, arrays())
    assert not any(isinstance(node, Assignments) for node in walk.preorder(tree))
