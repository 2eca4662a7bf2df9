"""Branches on what a nest computes: iterations move with them, if nothing else needs the answer."""

from __future__ import annotations

import pytest
from sdfg_kit import bench_of, check_recipe, random

from loopbook.errors import IllegalStepError
from loopbook.steps.workbench import Workbench

SUNK = [("strip_and_sink", ("L0", 8))]


def rectified(x, h, y):
    for i in range(y.shape[0]):
        s = 0.25
        for k in range(h.shape[0]):
            s += h[k] * x[i + k]
        y[i] = s if s > 0.5 else 0.0


def chosen(x, h, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(h.shape[0]):
            t = h[k] * x[i + k]
            if t > s:
                s = t
        y[i] = s if s < 0.5 else 0.5


def asked_early(x, h, y):
    for i in range(y.shape[0]):
        large = x[i] > 0.5
        s = 0.0
        for k in range(h.shape[0]):
            s += h[k] * x[i + k]
        if large:
            s = -s
        y[i] = s


def last_one_kept(x, h, y):
    best = 0.0
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(h.shape[0]):
            s += h[k] * x[i + k]
        if s > best:
            best = s
        y[i] = best


GIVEN = [random(70), random(7), random(61)]


@pytest.mark.parametrize("kernel", [rectified, chosen])
def test_branches_run_in_strips(kernel, tmp_path):
    given = [[random(n + 7), random(7), random(n)] for n in (61, 8, 7, 1)]
    check_recipe(kernel, given, SUNK, tmp_path)


def test_a_nan_is_chosen_as_python_chooses(tmp_path):
    x, h, y = (array.copy() for array in GIVEN)
    x[::5] = float("nan")
    check_recipe(rectified, [[x, h, y]], SUNK, tmp_path)


@pytest.mark.parametrize("kernel", [asked_early, last_one_kept])
def test_answers_that_are_needed_later_keep_the_order(kernel):
    bench: Workbench = bench_of(kernel, GIVEN)
    with pytest.raises(IllegalStepError):
        bench.apply(*SUNK[0])
