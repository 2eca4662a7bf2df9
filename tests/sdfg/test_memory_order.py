"""Old values are loaded before new ones are stored, in whatever order docc would write a block; a
program whose order is lost is refused."""

from __future__ import annotations

import copy
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sdfg_kit import random

import loopbook
from loopbook.errors import InterpretedWarning, SdfgError
from loopbook.program.dataflow import AccessNode, Block, Memlet, Tasklet, block
from loopbook.program.element import NOWHERE, Position
from loopbook.program.expr import Expr
from loopbook.program.memory_order import in_memory_order
from loopbook.program.read import read
from loopbook.program.tree import Program, Sequence
from loopbook.program.types import Pointer, Scalar
from loopbook.sdfg import frontend, program
from loopbook.sdfg.build import build_baseline, build_tuned


def changed_at_the_end(a, b, c, u, v, w):
    for i in range(a.shape[0]):
        u[i] = 0.5 * c[i] * c[i]
        v[i] = u[i] * u[i] - c[i]
        w[i] = v[i] * v[i]
        c[i] = 2.0 * c[i]
        c[i] = c[i] + a[i] * b[i]


def changed_without_loops(a, b, c, u, v, w):
    u[0] = 0.5 * c[0] * c[0]
    v[0] = u[0] * u[0] - c[0]
    w[0] = v[0] * v[0]
    c[0] = 2.0 * c[0]
    c[0] = c[0] + a[0] * b[0]


def stored_twice(a, b, c, u, v, w):
    for i in range(1, a.shape[0] - 1):
        c[i] = (v[i] - b[i]) * c[i - 1]
        v[i] = a[i + 1]
        v[i] = 0.5
        c[i] = (c[i - 1] - v[i + 1]) * a[i + 1]


def copied_then_changed(a, b, c, u, v, w):
    for i in range(a.shape[0] - 1):
        b[i] = c[i]
        b[i] += c[i + 1]
        a[i] = c[i] * u[i + 1] * b[i]


def stored_and_read_between(a, b, c, u, v, w):
    for i in range(1, a.shape[0] - 1):
        u[i] = a[i - 1] + c[i + 1]
        t = 0.5 + u[i]
        u[i] = 0.5 * b[i + 1] + t
        u[i] = c[i + 1] - b[i]


def stored_at_the_end(a, b, c, u, v, w):
    t = 1.0
    for i in range(1, a.shape[0] - 1):
        c[i] = a[0] - t
        a[i] = 0.5
        t = c[i] - a[i]
        a[i] = c[i + 1]
        c[i] = a[i] - t


def handed_on_row_by_row(a, b):
    """Whether ``a[1, i]`` and ``a[4, i]`` are one element is open where sizes have names."""
    for i in range(a.shape[1]):
        new = b[0, i]
        first = new - a[0, i]
        a[0, i] = new
        second = first - a[1, i]
        a[1, i] = first
        third = second - a[2, i]
        a[2, i] = second
        fourth = third - a[3, i]
        a[3, i] = third
        fifth = fourth - a[4, i]
        a[4, i] = fourth
        sixth = fifth - a[5, i]
        a[5, i] = fifth
        a[6, i] = sixth


def summed(a, b):
    for i in range(1, a.shape[0]):
        b[i] = b[i] + a[i]
        a[i] = b[i] * b[i - 1]


@pytest.mark.parametrize("function", [changed_at_the_end, changed_without_loops, stored_twice])
@pytest.mark.parametrize("with_recipes", [False, True])
def test_old_values_are_read(function, with_recipes, tmp_path, monkeypatch):
    monkeypatch.setattr(frontend, "understood", lambda func, args: func)  # as others' SDFGs come
    given = [random(6) for _ in range(6)]
    text = frontend.trace(function, given)
    built = (
        build_tuned(text, "sequential", {}, tmp_path)
        if with_recipes
        else build_baseline(text, "sequential", tmp_path)
    )
    found, expected = copy.deepcopy(given), copy.deepcopy(given)
    frontend.bind(function, given, built.library)(*found)
    function(*expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other)


def test_what_is_in_order_stays_as_it_is():
    sdfg = program.prepare(frontend.trace(summed, [random(6), random(6)]))
    tree = read(json.loads(sdfg.to_json()))
    assert in_memory_order(tree) is tree


def test_rows_that_hand_values_on_are_compiled():
    given = [random(9, 5), random(2, 5)]
    found, expected = copy.deepcopy(given), copy.deepcopy(given)
    loopbook.native(handed_on_row_by_row, strict=True)(*found)
    handed_on_row_by_row(*expected)
    np.testing.assert_allclose(found[0], expected[0])


@pytest.mark.parametrize(
    "function", [copied_then_changed, stored_and_read_between, stored_at_the_end]
)
def test_what_docc_has_lost_is_right_or_runs_as_python(function):
    given = [random(6) for _ in range(6)]
    found, expected = copy.deepcopy(given), copy.deepcopy(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterpretedWarning)
        loopbook.native(function)(*found)
    function(*expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other)


def _storing_twice(first: Position, second: Position) -> Program:
    """``t`` and ``s`` are stored into ``a[0]``; only positions say in which order."""
    real, array = Scalar("Double"), Pointer(to=Scalar("Double"))
    copied = Tasklet("assign", ("_in",), "_out")
    nodes = (
        *(AccessNode("t"), AccessNode("s"), copied, replace(copied)),
        *(AccessNode("a", position=one) for one in (first, second)),
    )
    memlets = (
        *(Memlet(n, n + 2, "void", "_in", (), real) for n in (0, 1)),
        *(Memlet(n, n + 2, "_out", "void", (Expr("0"),), array) for n in (2, 3)),
    )
    containers = {"t": real, "s": real, "a": array}
    return Program("kernel", containers, ("a",), Sequence((block(nodes, memlets),)))


def _in_graph(operation: str, first: int, last: int) -> Position:
    return Position("__docc_graph", operation, (first, 5), (last, 5), known=True)


@pytest.mark.parametrize("lines", [(11, 22), (22, 11)])
def test_the_lines_of_a_graph_say_which_store_is_the_last(lines):
    add, returned = (
        _in_graph(name, line, line)
        for name, line in zip(("linalg.add", "func.return"), lines, strict=True)
    )
    found = []
    for part in in_memory_order(_storing_twice(add, returned)).body.children:
        assert isinstance(part, Block)
        found.append([node.position.start[0] for node in part.nodes if node.position.known])
    assert found == [[11], [22]]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (NOWHERE, _in_graph("linalg.add", 3, 3)),
        (_in_graph("linalg.add", 3, 3), _in_graph("linalg.mul", 3, 3)),
        (_in_graph("linalg.add", 3, 9), _in_graph("linalg.mul", 4, 4)),  # two joined by docc
        (
            Position("of.py", "one.<locals>.f", (3, 5), (3, 9), known=True),
            Position("of.py", "other.<locals>.f", (4, 5), (4, 9), known=True),
        ),
    ],
)
def test_lines_that_do_not_say_which_store_is_the_last(first, second):
    for given in ((first, second), (second, first)):
        with pytest.raises(SdfgError, match="which of two stores"):
            in_memory_order(_storing_twice(*given))
