"""Parallel loops that do not begin at 0: docc, where it makes one of two, would begin there."""

from __future__ import annotations

import pytest
from sdfg_kit import check_recipe, random, steps

from loopbook.program.expr import Expr
from loopbook.program.tree import SEQUENTIAL, THREADS, Loop, Program, Sequence
from loopbook.sdfg.from_zero import counted_from_zero


def grown(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] * 0.5 + B[i, j]


@pytest.mark.parametrize(
    "text",
    [
        "strip_and_sink L0 4\nparallel L0.tile",
        "strip_and_sink L0 4",
        "skew L0 L1",
    ],
)
def test_what_is_left_of_loops_runs_once(text, tmp_path):
    cases = [[random(n, m), random(n, m)] for n, m in ((9, 7), (3, 6), (8, 1))]
    check_recipe(grown, cases, steps(text), tmp_path, "openmp")


def loop(variable: str, init: str, condition: str, *inner: Loop, **more) -> Loop:
    update = Expr(f"1 + {variable}")
    given = Expr(init), Expr(condition), update, Sequence(tuple(inner))
    return Loop(variable, *given, more.get("kind", "map"), more.get("schedule", SEQUENTIAL))


def counted(one: Loop) -> Loop:
    found = counted_from_zero(Program("p", {}, (), Sequence((one,)))).body.children[0]
    assert isinstance(found, Loop)
    return found


def test_both_loops_begin_at_zero():
    inner = loop("j", "2*m", "And((j < n), (j < m))")
    found = counted(loop("i", "-3 + n", "(i < n)", inner))
    (inside,) = found.body.children
    assert isinstance(inside, Loop)
    for one, size, wanted in ((found, {"n": 2}, 3), (inside, {"n": 4, "m": 1}, 0)):
        words = {**size, "m": size.get("m", 0), "max": max, "min": min}
        assert one.init.text == "0"
        runs = [eval(one.condition.text, {**words, one.variable: v}) for v in range(9)]
        assert sum(runs) == wanted


def test_others_stay_as_they_are():
    inner = loop("j", "2", "(j < n)")
    for one in (
        loop("i", "1", "(i < n)", inner, schedule=THREADS),
        loop("i", "1", "(i < n)", inner, kind="for"),
        loop("i", "1", "(i < n)"),
        loop("i", "1", "(i < n)", loop("j", "i", "(j < n)")),
        loop("i", "0", "(i < n)", loop("j", "0", "(j < n)")),
    ):
        assert counted(one) is one


def test_loops_that_are_not_understood_run_serially():
    odd = loop("i", "1", "(i*m < n)", loop("j", "0", "(j < n)"))
    assert counted(odd).kind == "for"
