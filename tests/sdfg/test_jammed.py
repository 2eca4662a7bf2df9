"""Rows that a recipe writes out stay written out."""

from __future__ import annotations

import pytest
from sdfg_kit import check_recipe, random, steps

from loopbook.sdfg import frontend
from loopbook.sdfg.transformed import as_python, transform

JAM = """tile L0 8
peel L0
interchange L0 L1
unroll L0*"""


def rows(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]


def columns(A, x, y):
    for i in range(A.shape[1]):
        for j in range(A.shape[0]):
            y[i] += A[j, i] * x[j]


def back(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1] - 2, -1, -1):
            A[i, j] = A[i, j] * A[i, j + 1]


def _pragmas(kernel, recipe: str) -> tuple[str, str]:
    """What clang is told of the first loop over j, and of the loop over i in it."""
    text = frontend.trace(kernel, [random(9, 7), random(7), random(9)])
    found = transform(text, "sequential", {0: steps(recipe)})
    lines = as_python(found.sdfg, found.tree).to_cpp().splitlines()
    outer = next(n for n, line in enumerate(lines) if "for(j " in line)
    inner = next(n for n, line in enumerate(lines) if n > outer and "for(i " in line)
    return lines[outer - 1], lines[inner - 1]


def test_vectors_are_made_along_the_rows():
    along, row = _pragmas(rows, JAM)
    assert "vectorize(enable)" in along
    assert "unroll(full)" in row
    assert "vectorize(enable)" not in row


def test_a_recurrence_is_not_asked_to_become_vectors():
    along, row = _pragmas(back, JAM)
    assert "vectorize(enable)" not in along
    assert "unroll(full)" in row


@pytest.mark.parametrize(
    ("kernel", "recipe"),
    [(columns, JAM), (rows, JAM.replace("unroll L0*", "mark_parallel L0"))],
)
def test_docc_decides_about_other_loops(kernel, recipe):
    """Those along memory, and those that nobody writes out."""
    assert "unroll(full)" not in _pragmas(kernel, recipe)[1]


def test_the_numbers_stay(tmp_path):
    cases = [[random(n, 7), random(7), random(n)] for n in (3, 8, 19)]
    check_recipe(rows, cases, steps(JAM), tmp_path)
