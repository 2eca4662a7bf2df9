"""Scalars without a value: seen where docc's passes have lost the one that the function gives."""

from __future__ import annotations

import json

import numpy as np
import pytest

from loopbook.errors import SdfgError
from loopbook.program.read import read
from loopbook.program.tree import Program
from loopbook.program.unset import unset
from loopbook.program.walk import children, with_children
from loopbook.sdfg import program
from loopbook.sdfg.frontend import trace


def carried(a, b, limit):
    last, count = 1.0, 0
    for i in range(a.shape[0]):
        b[i] = last + count
        if a[i] > limit:
            count = count + 1
        last = a[i]


def in_either_branch(a, b, limit):
    for i in range(a.shape[0]):
        if a[i] > limit:  # noqa: SIM108
            last = a[i]
        else:
            last = 0.0
        b[i] = last


def by_default(a, b, limit):
    for i in range(a.shape[0]):
        last = 0.0
        if a[i] > limit:
            last = a[i]
        b[i] = last


def by_three(a, b, limit):
    for j in range(3):
        last = a[j] * limit
    b[0] = last


def by_all(a, b, limit):
    for j in range(a.shape[0]):
        last = a[j] * limit
    b[0] = last


def lost(a, b, c, d):
    t = 1.0
    for i in range(1, a.shape[0] - 1):
        c[i] = t + b[i + 1]
        b[i] = a[i + 1] - b[i - 1]
        t = b[i]
        b[i] = d[i + 1] * a[i - 1]
        a[i] = d[i]


def tree(function) -> Program:
    return read(json.loads(trace(function, [np.ones(5), np.ones(5), 0.5])))


@pytest.mark.parametrize("function", [carried, in_either_branch, by_default, by_three])
def test_nothing_is_unset_in_what_a_function_says(function):
    assert unset(tree(function)) == unset(tree(function), sure=True) == set()


def test_what_may_not_be_stored_is_not_sure():
    assert unset(tree(by_all)) == set()
    assert unset(tree(by_all), sure=True) == {"last"}


def test_a_default_is_missed_where_a_branch_may_not_store():
    whole = tree(by_default)
    (loop,) = (node for node in children(whole) if children(node))
    others = children(loop)[1:]
    without = with_children(whole, [with_children(loop, others)])
    assert unset(without) == set()
    assert unset(without, sure=True) == {"last"}


def test_scalars_are_unset_without_what_stands_in_front_of_their_loop():
    whole = tree(carried)
    (loop,) = (node for node in children(whole) if children(node))
    assert unset(with_children(whole, [loop])) == {"last", "count"}


def test_what_is_stored_later_is_no_value_yet():
    whole = tree(in_either_branch)
    (loop,) = (node for node in children(whole) if children(node))
    *before, stored = children(loop)
    assert unset(with_children(whole, [with_children(loop, [stored, *before])])) == {"last"}


def test_a_program_that_has_lost_a_first_value_is_refused():
    text = trace(lost, [np.ones(9) for _ in range(4)])
    with pytest.raises(SdfgError, match="loses what is stored into t"):
        program.prepare(text)
