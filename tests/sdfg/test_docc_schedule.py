"""Our own rule for docc's schedule, beside docc's own answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sdfg_kit import random

from loopbook.client.places import starter_path
from loopbook.program.json_text import dumped, loaded
from loopbook.program.read import read
from loopbook.program.tree import SEQUENTIAL, VECTORISED, Loop, Program
from loopbook.program.walk import preorder, rebuilt
from loopbook.program.write import write
from loopbook.recipes.book import Book
from loopbook.sdfg import frontend, passes, program
from loopbook.sdfg.docc_schedule import scheduled
from loopbook.steps.workbench import Workbench


def loops(tree: Program) -> list[tuple]:
    found = [node for node in preorder(tree) if isinstance(node, Loop)]
    return [(loop.variable, loop.kind, loop.schedule) for loop in found]


def docc_says(tree: Program) -> list[tuple]:
    sdfg = passes.finish(program.parse(dumped(write(tree))), "sequential")
    return loops(read(loaded(sdfg.to_json())))


def chain(A, B, x):
    while A[0, 0] < 10.0:
        A[0, 0] += 1.0
        for i in range(A.shape[0]):
            x[i] = A[i, i] * 2.0
        for i in range(A.shape[0]):
            for j in range(1, A.shape[1]):
                A[i, j] = A[i, j - 1] * x[j]
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = A[i, j] + 1.0
            for k in range(A.shape[1]):
                B[i, j] += A[i, k] * A[k, j]
    for i in range(0, A.shape[0], 2):
        x[i] = 0.0
    for i in range(A.shape[0]):
        s = 0.0
        for k in range(A.shape[1]):
            s += A[i, k]
        x[i] = s


CHAIN = program.prepare_tree(frontend.trace(chain, [random(9, 9), random(9, 9), random(9)]))[1]
LOOPS = [node.variable for node in preorder(CHAIN) if isinstance(node, Loop)]


@pytest.mark.parametrize("taken", ["", *LOOPS])
def test_a_nest_in_which_a_loop_is_marked_stays_as_it_is(taken):
    def marked(node):
        here = isinstance(node, Loop) and node.variable == taken
        return replace(node, schedule=VECTORISED) if here else node

    tree = rebuilt(CHAIN, marked)
    assert loops(scheduled(tree, "sequential")) == docc_says(tree)


def test_some_loops_are_marked_and_some_are_not():
    found = [schedule for _, _, schedule in loops(scheduled(CHAIN, "sequential"))]
    assert {SEQUENTIAL, VECTORISED} == {*found}
    assert VECTORISED not in [schedule for _, _, schedule in loops(CHAIN)]


def test_the_starter_books_recipes_leave_docc_the_same_choice():
    asked = 0
    path = starter_path()
    assert path is not None
    with Book.open(path) as book:
        for record, *_ in book.page(limit=10**5)[::30]:
            sdfg = program.parse(record.nest_json)
            bench = Workbench(program.tree_of(sdfg), program.nests(sdfg)[0])
            for position, step in enumerate(record.recipe):
                bench.apply(*step, position)
            assert loops(scheduled(bench.program, "sequential")) == docc_says(bench.program)
            asked += 1
    assert asked > 40
