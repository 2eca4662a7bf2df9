"""A nest cut out of its program gets what it finds in scalars, and hands back what it leaves."""

from __future__ import annotations

import json

import numpy as np
from sdfg_kit import prepared_nests, random

from loopbook.program.closed import closed
from loopbook.program.nests import nests
from loopbook.program.read import read
from loopbook.program.unset import unset
from loopbook.sdfg.made_up import MadeUp
from loopbook.sdfg.program import cut, prepare_tree


def summed(A, out):
    s = 0.5
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s = s + A[i, j]
    out[0] = s


def scaled(A, out):
    s = out[0] * 2.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = s * A[i, j]


def test_a_sum_starts_from_what_is_handed_in_and_is_handed_back():
    sdfg, (nest,) = prepared_nests(summed, [random(5, 6), np.zeros(1)])
    document = json.loads(cut(sdfg, nest))
    tree = read(document)
    (given,) = (name for name in tree.arguments if name.endswith("_given"))
    assert not unset(tree)
    assert [one.fingerprint for one in prepare_tree(json.dumps(document))[2]] == [nest.fingerprint]
    made = MadeUp(json.dumps(document), dict.fromkeys(nest.symbols, 9)).first
    before = dict(zip(tree.arguments, made.arguments, strict=True))
    arrays = [name for name in tree.arguments if isinstance(before[name], np.ndarray)]
    after = dict(zip(arrays, made.results, strict=True))
    (matrix,) = set(arrays) - {given}
    np.testing.assert_allclose(after[given], before[given] + before[matrix].sum())


def test_what_is_only_read_is_not_handed_back():
    sdfg, (nest,) = prepared_nests(scaled, [random(5, 6), np.ones(1)])
    tree = read(json.loads(cut(sdfg, nest)))
    assert not unset(tree)
    assert len(tree.body.children) == 2
    assert nests(tree)[0].fingerprint == nest.fingerprint


def test_a_program_that_sets_what_it_reads_stays():
    sdfg, _ = prepared_nests(summed, [random(5, 6), np.zeros(1)])
    tree = read(json.loads(sdfg.to_json()))
    assert closed(tree) is tree
