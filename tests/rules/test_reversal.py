"""Loops turned round: what runs down forwards, what meets a sweep back along with it."""

from __future__ import annotations

from random import Random

import pytest
from client_kit import nests_of as client_nests
from client_kit import product
from sdfg_kit import bench_of, check_recipe, nests_of, random

from loopbook.program.nest import Nest
from loopbook.rules import NEST_RULES, TuningContext, propose, seed_population
from loopbook.rules.reversal import fitted_turns, turn

AROUND = TuningContext("sequential", 4)


def downwards(x, y, z):
    for t in range(z.shape[0]):
        for i in range(y.shape[0] - 1, -1, -1):
            y[i] = 0.5 * y[i] + x[i]
        x[t] = y[0]


def back_and_forth(x, y, z):
    for t in range(z.shape[0]):
        for i in range(x.shape[0] - 1):
            x[i] = x[i] * 0.5
        for i in range(x.shape[0] - 2, -1, -1):
            y[i] = 0.5 * y[i + 1] + x[i]
        for i in range(x.shape[0] - 1):
            x[i] = x[i] + 0.25 * y[i]
        z[t] = x[0]


ARGS = {
    downwards: [random(9), random(7), random(3)],
    back_and_forth: [random(9), random(9), random(2)],
}


def texts(nest: Nest) -> list[str]:
    return ["; ".join(step.text() for step in steps) for steps in fitted_turns(nest, AROUND)]


@pytest.mark.parametrize(
    ("kernel", "forms"),
    [
        (downwards, ["reverse L1"]),
        (back_and_forth, ["reverse L2", "reverse L1; reverse L3; fuse L1 L2; fuse L1 L3"]),
    ],
)
def test_what_runs_down_is_turned_or_joined(kernel, forms: list[str]):
    (nest,) = nests_of(kernel, ARGS[kernel])
    assert texts(nest) == forms


def test_nests_that_run_up_are_left():
    assert turn(client_nests(product)[0], Random(0), AROUND) == []


def test_searches_begin_with_it_and_sample_it():
    (nest,) = nests_of(downwards, ARGS[downwards])
    made = tuple(turn(nest, Random(0), AROUND))
    assert turn in NEST_RULES
    assert made in seed_population(nest, AROUND)
    assert made in {propose(nest, Random(seed), AROUND) for seed in range(200)}


def test_a_sweep_back_takes_its_neighbours_along(tmp_path):
    (nest,) = nests_of(back_and_forth, ARGS[back_and_forth])
    recipe = [(one.op, one.args) for one in fitted_turns(nest, AROUND)[1]]
    bench = bench_of(back_and_forth, ARGS[back_and_forth])
    for op, args in recipe:
        bench.apply(op, args)
    assert list(bench.names) == ["L0", "L1"]
    cases = [[random(n), random(n), random(2)] for n in (9, 31)]
    check_recipe(back_and_forth, cases, recipe, tmp_path)
