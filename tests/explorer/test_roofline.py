"""Operations and bytes of a nest, and its text."""

from __future__ import annotations

import numpy as np
from client_kit import nests_of, product

from loopbook.explorer.roofline import flops, least_bytes
from loopbook.explorer.states import loops
from loopbook.sdfg import frontend, program

(PRODUCT,) = nests_of(product)
TRIPS = {"L0": 10, "L1": 20, "L2": 30}


def test_a_product_multiplies_and_adds_once_for_each_iteration():
    assert flops(PRODUCT, TRIPS) == 2 * 10 * 20 * 30


def test_each_element_moves_once_and_results_twice():
    """Three arrays, each as large as the two loops that walk along it."""
    pairs = sorted((10 * 20, 20 * 30, 10 * 30))
    moved = least_bytes(PRODUCT, TRIPS)
    assert moved in {8 * (sum(pairs) + written) for written in pairs}


def filtered(signal, weights, out):
    for i in range(out.shape[0]):
        for k in range(weights.shape[0]):
            out[i] = out[i] + signal[i + k] * weights[k]


def test_what_two_loops_reach_together_is_no_product_of_theirs():
    text = frontend.trace(filtered, (np.ones(40), np.ones(8), np.ones(33)))
    (nest,) = program.nests(program.prepare(text))
    moved = least_bytes(nest, {"L0": 33, "L1": 8})
    assert moved == 8 * (40 + 8 + 2 * 33)


def test_what_is_not_counted_is_not_known():
    assert flops(PRODUCT, {"L0": 10}) is None
    assert least_bytes(PRODUCT, {}) is None


def test_a_listing_names_loops_and_has_statements_in_their_order():
    lines = loops(PRODUCT).splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["L0", "L1", "L2"]
    last = lines[-1].split(" = ")
    assert last[0].strip().startswith("A"), "the result comes last"
    assert last[0].strip() in last[1], "and is added to"
