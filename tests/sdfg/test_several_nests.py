"""Steps on one nest of a program that has others."""

from __future__ import annotations

import numpy as np
from sdfg_kit import sdfg_of

from loopbook.sdfg import program
from loopbook.sdfg.build import build_tuned, transform
from loopbook.sdfg.frontend import bind, trace
from loopbook.steps.workbench import Workbench


def two(a, b, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            b[i, j] = a[i, j] * 2.0
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            c[i, j] = b[j, i] + a[i, j]


def arguments(count):
    return [np.arange(49.0).reshape(7, 7) + 1, *(np.zeros((7, 7)) for _ in range(count - 1))]


def test_steps_on_one_nest_leave_the_others_as_they_are():
    sdfg, (first, second) = program.prepare_nests(trace(two, arguments(3)))
    bench = Workbench(program.tree_of(sdfg), second)
    bench.apply("tile", ("L0", 4), 0)
    before, after = program.nests(sdfg_of(bench))
    assert before.fingerprint == first.fingerprint
    assert len(after.loops) == 3
    assert set(bench.names) == {"L0", "L0.tile", "L1"}
    assert first.loops[0].element_id not in bench.names.values()


def test_recipes_for_several_nests_are_put_together(tmp_path):
    recipes = {0: [("tile", ("L0", 4)), ("interchange", ("L0", "L1"))], 1: [("tile", ("L1", 2))]}
    built = build_tuned(trace(two, arguments(3)), "sequential", recipes, tmp_path)
    expected, args = arguments(3), arguments(3)
    two(*expected)
    bind(two, args, built.library)(*args)
    for one, other in zip(expected, args, strict=True):
        np.testing.assert_array_equal(one, other)


def test_nests_without_a_recipe_stay_as_they_are():
    text = program.prepare(trace(two, arguments(3))).to_json()
    sdfg, _, owners, applied, _ = transform(text, "sequential", {1: [("tile", ("L1", 2))]})
    assert applied == {0: (), 1: (("tile", ("L1", 2)),)}
    assert sorted(owners.values()) == [0, 1]
    assert [len(nest.loops) for nest in program.nests(sdfg)] == [2, 3]
