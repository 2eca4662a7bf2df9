"""Steps on one nest of a program that has others."""

from __future__ import annotations

import json

import numpy as np
from sdfg_kit import sdfg_of

from loopbook.client.fit import Trials
from loopbook.program.json_text import dumped
from loopbook.program.read import read
from loopbook.program.write import write
from loopbook.recipes.recipe import Recipe
from loopbook.sdfg import marks, program
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.frontend import bind, trace
from loopbook.sdfg.transformed import transform
from loopbook.steps import Step
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
    done = transform(text, "sequential", {1: [("tile", ("L1", 2))]})
    assert done.applied == {0: (), 1: (("tile", ("L1", 2)),)}
    assert sorted(done.owners.values()) == [0, 1]
    assert [len(nest.loops) for nest in program.nests(done.sdfg)] == [2, 3]


TILED = [("tile", ("L0", 4)), ("interchange", ("L0", "L1"))]


def told(transformed):
    """docc lists what is in a block in another order every time."""
    owners, text = sorted(transformed.owners.items()), dumped(transformed.document)
    return owners, transformed.applied, sorted(text)


def test_what_has_been_tried_need_not_be_done_again(monkeypatch):
    document, tree, nests = program.prepare_tree(trace(two, arguments(3)))
    text, recipes = json.dumps(document), {0: TILED, 1: [("tile", ("L1", 2))]}
    trials = Trials(text, tree)
    fits = {n: trials.fit(nests[n], Recipe(tuple(map(Step._make, recipes[n])))) for n in recipes}
    tried = {n: after for n, fit in fits.items() if (after := fit.result(tree, nests[n]))}
    assert tried.keys() == recipes.keys()
    assert fits[0].result(tree, nests[1]) is fits[0].result(read(document), nests[0]) is None
    anew = told(transform(text, "sequential", recipes))
    applied = []
    apply = Workbench.apply
    monkeypatch.setattr(Workbench, "apply", lambda *a: applied.append(a[1:3]) or apply(*a))
    given = (tree, nests)
    again = told(transform(text, "sequential", recipes, prepared=given, tried=tried))
    assert not applied
    assert again == anew


def test_a_tree_that_was_read_before_has_what_was_noted_of_the_program():
    document, tree, _ = program.prepare_tree(trace(two, arguments(3)))
    assert write(tree)["metadata"] == document["metadata"]
    assert marks.is_prepared(write(tree))
