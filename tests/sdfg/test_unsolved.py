"""Loops that docc crashes on while it looks whether they can be fused, kept apart."""

from __future__ import annotations

import json

import numpy as np
import pytest

from loopbook.errors import KernelError
from loopbook.program.read import read
from loopbook.sdfg import passes, program
from loopbook.sdfg.build import build_baseline, build_tuned
from loopbook.sdfg.frontend import bind, trace
from loopbook.sdfg.unsolved import kept_apart
from loopbook.toolchain.sandbox import run_limited


def gathered(x, places, y, c):
    for i in range(x.shape[0]):
        x[i] = x[i] - c
    for k in range(places.shape[0]):
        y[k] = x[places[k]]


def divided_by_one_of_them(x, places, y, c):
    for i in range(x.shape[0]):
        x[i] = x[i] - c
    n = x.shape[0] - 1
    for k in range(y.shape[0]):
        y[k] = y[k] / x[n]


def each_twice(x, places, y, c):
    for i in range(x.shape[0]):
        x[i] = x[i] * c
    for k in range(y.shape[0]):
        y[k] = x[k // 2]


def summed_in_rounds(x, places, y, c):
    for t in range(3):
        for i in range(x.shape[0]):
            x[i] = x[i] - c
        s = 0.0
        for k in range(places.shape[0]):
            s = s + x[places[k]]
        y[t] = s


def searched(x, places, y, c):
    for i in range(y.shape[0]):
        y[i] = -1.0
    for i in range(y.shape[0]):
        low = 0
        while low < x.shape[0]:
            if x[low] * c > 0.25 + 0.02 * i:
                y[i] = low
                break
            low += 1


def beside_each_other(x, places, y, c):
    for i in range(x.shape[0]):
        x[i] = x[i] - c
    for k in range(x.shape[0]):
        y[k] = x[k] * 2.0


CRASHING = [gathered, divided_by_one_of_them, each_twice, summed_in_rounds, searched]


def arguments():
    return [np.linspace(1, 2, 6), np.array([3, 1, 4, 1, 5, 0]), np.linspace(2, 3, 6), 0.25]


@pytest.mark.parametrize("function", CRASHING)
@pytest.mark.parametrize(
    "build",
    [
        lambda text, folder: build_baseline(text, "none", folder),
        lambda text, folder: build_baseline(text, "openmp", folder),
        lambda text, folder: build_tuned(text, "sequential", {}, folder),
    ],
    ids=["unscheduled", "openmp", "tuned"],
)
def test_they_are_compiled(function, build, tmp_path):
    expected, args = arguments(), arguments()
    function(*expected)
    built = build(trace(function, args), tmp_path)
    bind(function, args, built.library)(*args)
    for one, other in zip(expected, args, strict=True):
        np.testing.assert_allclose(other, one)


def test_others_stay_neighbours():
    tree = read(json.loads(trace(beside_each_other, arguments())))
    assert kept_apart(tree) is tree


@pytest.mark.parametrize("function", [gathered, searched])
def test_docc_still_crashes(function):
    """If this fails, docc has been mended, and `loopbook.sdfg.unsolved` may go."""
    text = trace(function, arguments())

    def simplified() -> str:
        return passes.simplify(program.parse(text)).to_json()

    with pytest.raises(KernelError, match="SIGSEGV"):
        run_limited(simplified, seconds=60, what="docc", tries=1)
