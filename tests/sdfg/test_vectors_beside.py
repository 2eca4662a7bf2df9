"""What stands beside a product that a recipe is for is computed in vectors, too."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import check_library, prepared_text, random, steps

from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.transformed import as_python, transform

PRODUCT = """tile L3 4
tile L4 16
interchange L3 L4.tile
peel L3
interchange L4 L5
interchange L3 L5
vectorize L4*
unroll L3*"""


def repeated(x, A, z, places, n):
    for t in range(n):
        for i0 in range(x.shape[0]):
            for j0 in range(x.shape[1]):
                z[i0, j0] = 0.5 * t
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                for k in range(A.shape[0]):
                    z[i, j] += x[i, k] * A[k, j]
        for i1 in range(x.shape[0]):
            for j1 in range(x.shape[1]):
                x[i1, j1] = np.tanh(z[i1, j1]) * 0.1
        for j2 in range(x.shape[1]):
            for i2 in range(x.shape[0]):
                x[i2, j2] = x[i2, j2] + 0.01 * places[i2, j2 + 1]
        for i3 in range(x.shape[0]):
            for c3 in range(3):
                x[i3, c3] = x[i3, c3] + z[i3, c3] * 0.01


def data(n: int, m: int):
    return [random(n, m), random(m, m), random(n, m), random(n, m + 1), 3]


def told(recipe: str, *, late: bool) -> dict[str, bool]:
    """Whether clang is to make vectors of the loop over each variable."""
    text = frontend.trace(repeated, data(9, 11))
    found = transform(text, "sequential", {0: steps(recipe)}, late=late)
    lines = as_python(found.sdfg, found.tree, decided=late).to_cpp().splitlines()
    heads = [(n, line.strip()) for n, line in enumerate(lines) if line.strip().startswith("for(")]
    return {head[4:].split(" ")[0]: "vectorize(enable)" in lines[n - 1] for n, head in heads}


def test_the_rest_of_a_nest_is_computed_in_vectors():
    served, timed = told(PRODUCT, late=True), told(PRODUCT, late=False)
    assert served["j"]
    assert timed["j"]
    assert served["j0"]
    assert served["j1"]
    assert not timed["j0"]
    assert not timed["j1"]
    assert not served["t"]
    assert not served["c3"]  # three are too few


@pytest.mark.parametrize("sizes", [(9, 11), (5, 6), (17, 40)])
def test_it_computes_the_same(sizes, tmp_path):
    args = data(*sizes)
    text = prepared_text(repeated, args)
    built = build_tuned(text, "sequential", {0: steps(PRODUCT)}, tmp_path, vector_maths=True)
    check_library(repeated, [args], built.library)
