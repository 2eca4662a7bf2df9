"""Two trees made of one, put together."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from sdfg_kit import random, steps

from loopbook.program.combined import combined
from loopbook.program.json_text import dumped
from loopbook.program.read import read
from loopbook.program.tree import Loop, Program
from loopbook.program.walk import preorder
from loopbook.program.write import write
from loopbook.sdfg import frontend, program
from loopbook.sdfg.transformed import code_of
from loopbook.steps.workbench import Workbench


def three(A, B, x):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] + B[i, j]
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            x[i] += A[i, j] * B[j, i]
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = A[j, i] * x[j]


_, GIVEN, NESTS = program.prepare_tree(
    frontend.trace(three, [random(9, 9), random(9, 9), random(9)])
)


def after(tree: Program, place: int, recipe: str) -> Program:
    bench = Workbench(tree, NESTS[place])
    for position, (op, args) in enumerate(steps(recipe)):
        bench.apply(op, args, position)
    return bench.program


RECIPES = ["tile L0 4", "tile L0 4\ninterchange L0 L1", "tile L1 2\npeel L1", "parallel L0"]


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("other", RECIPES)
@pytest.mark.parametrize("places", [(0, 1), (1, 0), (0, 2), (2, 1)])
def test_it_is_what_one_after_the_other_makes(places, recipe, other):
    first, second = places
    one = after(GIVEN, first, recipe)
    both = combined(GIVEN, one, after(GIVEN, second, other))
    assert both is not None
    assert shape(both.program) == shape(after(one, second, other))
    numbers = [node.id or 0 for node in preorder(both.program) if isinstance(node, Loop)]
    assert len({*numbers}) == len(numbers)
    assert max(numbers) <= both.program.counter


def shape(tree: Program) -> str:
    """Of the code that docc makes of it."""
    return code_of(program.parse(dumped(write(tree))))


def test_new_containers_get_names_of_their_own():
    def tiled(place: int) -> Program:
        tree = after(GIVEN, place, "tile L0 4")
        loop = tree.body.children[place]
        same = program.parse(dumped(write(tree))).to_json()
        return read_with(same.replace(f"{loop.variable}", "i_tile"), tree, place)

    one, other = tiled(0), tiled(1)
    both = combined(GIVEN, one, other)
    assert both is not None
    loops = [node.variable for node in both.program.body.children]
    assert loops[:2] == ["i_tile", "i_tile_0"]
    assert {"i_tile", "i_tile_0"} <= {*both.program.containers}


def read_with(text: str, tree: Program, place: int) -> Program:
    """The program that a text says, whose other nests are those of the tree."""
    told = read(json.loads(text))
    children = list(tree.body.children)
    children[place] = told.body.children[place]
    body = replace(tree.body, children=tuple(children))
    return replace(tree, body=body, containers=told.containers)


def test_the_same_nest_cannot_be_both():
    assert combined(GIVEN, after(GIVEN, 1, "tile L0 4"), after(GIVEN, 1, "tile L1 2")) is None
    assert combined(GIVEN, GIVEN, GIVEN) is None
