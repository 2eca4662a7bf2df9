"""A search begins with what is served to nests that no book knows."""

from __future__ import annotations

import numpy as np
from sdfg_kit import nests_of

from loopbook.recipes.hardware import read
from loopbook.rules import TuningContext
from loopbook.rules.recurrences import recurrences_together
from loopbook.tuner.neighbours import by_rules_alone


def along_rows(A, B):
    for i in range(A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = B[i, j] / (A[i, j - 1] + 2.0)


def apart(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = B[i, j] + 1.0


def found(kernel, target="sequential"):
    (nest, *_) = nests_of(kernel, [np.ones((9, 7)), np.ones((9, 7))])
    trips = {loop.name: 400 for loop in nest.loops}
    context = TuningContext.of(read(1), target, trips)
    served = [step for _, steps in recurrences_together(nest, trips) for step in steps]
    return [recipe.steps for recipe in by_rules_alone(nest, context)], tuple(served)


def test_recurrences_side_by_side():
    recipes, served = found(along_rows)
    assert served
    assert served in recipes


def test_nothing_where_nothing_is_served():
    assert found(apart) == ([], ())


def test_rules_for_one_thread_are_left_out():
    recipes, served = found(along_rows, "openmp")
    assert served not in recipes


def down_columns(A, B):
    for j in range(A.shape[1]):
        s = 0.0
        for i in range(A.shape[0]):
            s = s * 0.9 + A[i, j]
            B[i, j] = s


def test_a_nest_by_itself_is_told_its_sizes():
    """Else no scalar could become an array, as it is done to what is served."""
    recipes, _ = found(down_columns)
    assert recipes[0][0].text() == "expand L0"
