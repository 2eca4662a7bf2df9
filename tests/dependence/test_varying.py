"""What a loop's iterations have in common: one value for all, or one for each."""

from __future__ import annotations

import numpy as np
from sdfg_kit import prepared

from loopbook.dependence.varying import varying
from loopbook.program.tree import Loop
from loopbook.program.walk import preorder
from loopbook.sdfg import program


def kernel(W, at, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            s = 0.0
            for k in range(at.shape[1]):
                place = at[i, k]
                if place > 3:
                    place = place - 3
                other = 1
                if W[i, j] > 0.5:
                    other = 2
                s += W[place, j] * other
            y[i, j] = s


def test_only_what_hangs_on_the_loop_varies():
    given = np.ones((9, 7)), np.ones((5, 4), int), np.ones((5, 7))
    tree = program.tree_of(prepared(kernel, given))
    found = {
        loop.variable: varying(loop) & {"i", "j", "k", "s", "place", "other", "y"}
        for loop in preorder(tree)
        if isinstance(loop, Loop)
    }
    assert found == {
        "i": {"i", "s", "place", "other", "y"},
        "j": {"j", "s", "other", "y"},
        "k": {"k", "s", "place"},
    }
