"""What a body writes before it reads it, on trees that docc makes of branches and loops."""

from __future__ import annotations

import json

import pytest
from sdfg_kit import prepared_text, random

from loopbook.program import walk
from loopbook.program.definite import written_first
from loopbook.program.read import read
from loopbook.program.tree import Loop


def filled_first(A, t):
    for i in range(A.shape[0]):
        t[i] = A[i, 0]
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] * t[i]


def read_first(A, t):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] * t[i]
        t[i] = A[i, 0]


def filled_in_a_loop(A, t):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            t[i] = t[i] + A[i, j]


@pytest.mark.parametrize(
    ("kernel", "found"),
    [(filled_first, {"t"}), (read_first, None), (filled_in_a_loop, None)],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_what_a_loop_inside_reads_counts(kernel, found) -> None:
    program = read(json.loads(prepared_text(kernel, [random(5, 6), random(5)])))
    bodies = [n.body.children for n in walk.preorder(program) if isinstance(n, Loop)]
    results = [written_first(body, {"t"}) for body in bodies]
    assert results[0] == found
