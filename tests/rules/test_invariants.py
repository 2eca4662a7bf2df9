"""Elements that innermost loops read and do not change, loaded once."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import check_recipe, eliminated, nests_of, random

from loopbook.rules.invariants import kept_elements


def scaled(A, s, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = A[i, j] * s[i]


def summed(A, s):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[i] = s[i] + A[i, j]


def test_what_stays_is_loaded_once(tmp_path):
    given = [random(12, 12) + 12.0 * np.eye(12)]
    (nest,) = nests_of(eliminated, given)
    recipe = [(one.op, one.args) for one in kept_elements(nest)]
    assert [op for op, _ in recipe] == ["hoist", "hoist"]
    check_recipe(eliminated, [given], recipe, tmp_path)


@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (scaled, (random(6, 7), random(6), random(6, 7))),
        (summed, (random(6, 7), random(6))),
    ],
)
def test_what_a_compiler_sees_is_left(kernel, given):
    (nest,) = nests_of(kernel, given)
    assert kept_elements(nest) == []


def from_the_left(A):
    for i in range(A.shape[0]):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]


def test_what_is_added_up_is_held(tmp_path):
    given = [random(12, 12) + 12.0 * np.eye(12)]
    (nest,) = nests_of(from_the_left, given)
    recipe = [(one.op, one.args) for one in kept_elements(nest)]
    assert recipe == [("stage", ("L2", "A0", "out"))]
    check_recipe(from_the_left, [given], recipe, tmp_path)
