"""Nests that hand data to each other become one, and side by side again."""

from __future__ import annotations

import numpy as np
import pytest
from regions_kit import smoothed
from sdfg_kit import as_docc_sends, normal_form_of, prepared_text, random

from loopbook.interpreter import Interpreted
from loopbook.program import walk
from loopbook.program.canonical_order import in_canonical_order
from loopbook.program.json_text import dumped, loaded
from loopbook.program.nests import nests
from loopbook.program.read import read
from loopbook.program.regions import (
    MOST_NESTS,
    is_like_region,
    is_region,
    with_regions,
    without_regions,
)
from loopbook.program.rename import renamed
from loopbook.program.signed import sign_counters
from loopbook.program.tree import Loop, Program
from loopbook.program.write import write
from loopbook.sdfg.program import prepare_document


def apart(A, B, C, D):
    for i in range(A.shape[0]):
        B[i] = 2.0 * A[i]
    for i in range(C.shape[0]):
        D[i] = 3.0 * C[i]


def two_pairs(A, B, C, D):
    for i in range(A.shape[0]):
        B[i] = 2.0 * A[i]
    for i in range(A.shape[0] - 1):
        A[i] = B[i] + B[i + 1]
    for i in range(C.shape[0]):
        D[i] = 3.0 * C[i]
    for i in range(C.shape[0] - 1):
        C[i] = D[i] * D[i + 1]


def often(A, B):
    for i in range(A.shape[0] - 1):
        B[i] = A[i] + A[i + 1]
    for i in range(A.shape[0] - 1):
        A[i + 1] = B[i] * B[i + 1]
    for i in range(A.shape[0] - 1):
        B[i] = A[i] + A[i + 1]
    for i in range(A.shape[0] - 1):
        A[i + 1] = B[i] * B[i + 1]
    for i in range(A.shape[0] - 1):
        B[i] = A[i] + A[i + 1]
    for i in range(A.shape[0] - 1):
        A[i + 1] = B[i] * B[i + 1]
    for i in range(A.shape[0] - 1):
        B[i] = A[i] + A[i + 1]


def summed(A, B, s):
    total = 0.0
    for i in range(A.shape[0]):
        total += A[i]
    for i in range(A.shape[0]):
        B[i] = A[i] - total
    s[0] = total


def vectors(count: int) -> list[np.ndarray]:
    return [random(9 + 2 * (place > 1)) for place in range(count)]


def tree_of(kernel, args) -> Program:
    """A prepared program, of arrays or of loops."""
    if kernel is smoothed:
        return sign_counters(normal_form_of(kernel, args))
    return sign_counters(read(loaded(prepared_text(kernel, args))))


def sizes(program: Program) -> list[int]:
    """Of the regions, how many nests they have; 0 for a nest that is in none."""
    return [
        is_region(node) * sum(isinstance(one, Loop) for one in walk.children(node))
        for node in program.body.children
        if isinstance(node, Loop)
    ]


@pytest.mark.parametrize(
    ("kernel", "args", "found"),
    [
        (smoothed, [random(9, 9), random(9, 9)], [2]),
        (apart, vectors(4), [0, 0]),
        (two_pairs, vectors(4), [2, 2]),
        (often, vectors(2), [MOST_NESTS, 0]),
    ],
)
def test_what_hands_data_over_is_one(kernel, args, found: list[int]):
    program = tree_of(kernel, args)
    joined = with_regions(program)
    assert sizes(joined) == found
    assert with_regions(joined) is joined
    bare = without_regions(joined)
    assert without_regions(bare) is bare
    assert write(in_canonical_order(bare))["root"] == write(in_canonical_order(program))["root"]


def test_only_wanted_ones_are_made():
    program = tree_of(two_pairs, vectors(4))
    second = program.body.children[-2]
    assert isinstance(second, Loop)
    assert sizes(with_regions(program, lambda loops: loops[0].id == second.id)) == [0, 0, 2]


def test_a_region_computes_the_same_and_is_read_again():
    A, B = random(9, 9), random(9, 9)
    program = sign_counters(read(prepare_document(as_docc_sends(smoothed, [A, B]))[0]))
    joined = read(loaded(dumped(write(with_regions(program)))))
    assert any(sizes(joined))
    memory = {name: [k * k % 97 for k in range(81)] for name in program.arguments}
    memory |= {name: 9 for name in program.arguments if name not in ("A", "B")}
    wanted, got = Interpreted(program)(dict(memory)), Interpreted(joined)(dict(memory))
    assert got["B"] == wanted["B"]


def test_a_region_is_one_whatever_it_is_called():
    program = tree_of(smoothed, [random(9, 9), random(9, 9)])
    joined = with_regions(program)
    (region,) = joined.body.children
    assert isinstance(region, Loop)
    other = joined.declaring(mine=joined.containers[region.variable])
    other = walk.with_children(other, [renamed(region, {region.variable: "mine"})])
    assert not any(map(is_region, other.body.children))
    assert all(map(is_like_region, other.body.children))
    assert [one.fingerprint for one in nests(other)] == [one.fingerprint for one in nests(joined)]


def test_scalars_between_nests_go_along():
    program = tree_of(summed, [random(9), random(9), random(1)])
    joined = with_regions(program)
    memory = {"A": list(range(9)), "B": [0] * 9, "s": [0]}
    memory |= {name: 9 for name in program.arguments if name not in memory}
    assert Interpreted(joined)(dict(memory))["B"] == Interpreted(program)(dict(memory))["B"]
