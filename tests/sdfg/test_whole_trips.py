"""Loops with a step that threads share: docc would lose the last of their iterations."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from sdfg_kit import random

from loopbook.program.expr import Expr
from loopbook.program.tree import SEQUENTIAL, THREADS, Loop, Program, Sequence
from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_baseline, build_tuned
from loopbook.sdfg.whole_trips import with_whole_trips


def every_third(a, b, c):
    for i in range(1, a.shape[0], 3):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] + 1.0
    for k in range(0, c.shape[0], 2):
        c[k] += 1.0


@pytest.mark.parametrize("with_recipes", [False, True])
def test_the_last_iteration_is_run(with_recipes, tmp_path):
    given = [random(24, 5), np.zeros((24, 5)), np.zeros(13)]
    text = frontend.trace(every_third, given)
    built = (
        build_tuned(text, "openmp", {}, tmp_path)
        if with_recipes
        else build_baseline(text, "openmp", tmp_path)
    )
    found, expected = copy.deepcopy(given), copy.deepcopy(given)
    frontend.bind(every_third, given, built.library)(*found)
    every_third(*expected)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


def loop(condition: str, init: str = "0") -> Loop:
    return Loop("i", Expr(init), Expr(condition), Expr("1 + i"), Sequence(), "map", THREADS)


def mended(one: Loop) -> Loop:
    found = with_whole_trips(Program("p", {}, (), Sequence((one,)))).body.children[0]
    assert isinstance(found, Loop)
    return found


@pytest.mark.parametrize("n", range(-9, 10))
@pytest.mark.parametrize("text", ["(1 + 3*i < n)", "And((2*i <= n), (4 + 3*i < 5 + n))"])
def test_conditions_without_factors_hold_as_long(n, text):
    end = mended(loop(text)).condition.text
    assert "*i" not in end
    words = {
        "n": n,
        "min": min,
        "And": lambda *parts: all(parts),
        "idiv": lambda a, b: abs(a) // b * (1 if a >= 0 else -1),
    }
    for i in range(9):
        assert eval(end, {**words, "i": i}) == eval(text, {**words, "i": i})


def test_what_cannot_be_told_runs_serially():
    for odd in (loop("(3*i < n)", "m"), loop("(i*m < n)"), loop("(3*i < n)", "-1")):
        assert (mended(odd).kind, mended(odd).schedule) == ("for", SEQUENTIAL)


def test_other_loops_stay_as_they_are():
    plain, serial = loop("And((i < n), (i < 8 + t))"), loop("(3*i < n)")
    serial = replace(serial, kind="for", schedule=SEQUENTIAL)
    for one in (plain, serial):
        assert mended(one) is one
