"""Neighbours as one sweep: what the rules propose is what neighbours there are."""

from __future__ import annotations

from random import Random

from client_kit import nests_of as client_nests
from client_kit import product
from regions_kit import two_sweeps
from sdfg_kit import check_recipe, nests_of, random

from loopbook.program.nest import Nest
from loopbook.rules import TuningContext
from loopbook.rules.sweeps import all_as_one, sweeps
from loopbook.steps import Step

ONE = TuningContext("sequential", 4)
TWO = TuningContext("openmp", 4, threads=2)


ARGS = [random(9, 7), random(9, 7), 2]


def texts(found: list[list[Step]]) -> list[str]:
    return ["; ".join(step.text() for step in steps) for steps in found]


def only(kernel) -> Nest:
    (nest,) = nests_of(kernel, ARGS)
    return nest


def test_all_neighbours_in_each_way():
    assert texts(all_as_one(only(two_sweeps), ONE)) == ["roll L1 1", "fuse L1 L3"]
    assert texts(all_as_one(only(two_sweeps), TWO)) == [
        "fuse L1 L3; parallel L1",
        "tile L1 32; tile L3 32; fuse_tiles L1.tile L3.tile; parallel L1.tile.fused",
    ]


def test_where_no_loops_are_neighbours_there_is_nothing():
    (nest,) = client_nests(product)
    assert all_as_one(nest, ONE) == []
    assert sweeps(nest, Random(0), ONE) == []


def test_what_is_sampled_gives_the_same_numbers(tmp_path):
    first = [(one.op, one.args) for one in all_as_one(only(two_sweeps), ONE)[0]]
    check_recipe(two_sweeps, [ARGS], first, tmp_path)
    drawn = {tuple(sweeps(only(two_sweeps), Random(seed), ONE)) for seed in range(30)}
    assert len(drawn) > 5
