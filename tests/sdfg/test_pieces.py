"""Large programs, which docc is shown in pieces."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from dataclasses import replace

import numpy as np
import pytest

import loopbook
from loopbook.client.layered import LayeredBook
from loopbook.client.plan import TOO_LARGE, build_plan, plan_nests
from loopbook.program.expr import Expr
from loopbook.program.read import read
from loopbook.program.rename import with_own_variables
from loopbook.program.tree import Loop
from loopbook.program.types import Scalar
from loopbook.program.walk import preorder
from loopbook.sdfg import marks, normalised, pieces, program
from loopbook.sdfg.frontend import bind, trace
from loopbook.sdfg.known_wrong import carried


def steps(a, b, c, n):
    for _t in range(n):
        for i in range(a.shape[0]):
            for j in range(a.shape[0]):
                b[i, j] = a[i, j] * 2.0 + c[j, i]
        s = 0.0
        for i in range(a.shape[0]):
            s = s + b[i, i]
        for i in range(a.shape[0]):
            for j in range(a.shape[0]):
                a[i, j] = b[j, i] - s * c[i, j]
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            c[i, j] = a[i, j] + b[i, j]


def given():
    return [*(np.random.default_rng(n).random((7, 7)) for n in range(3)), 3]


@pytest.fixture
def small(monkeypatch):
    """As if programs of a few loops were large."""
    monkeypatch.setattr(program, "LARGE", 1)
    monkeypatch.setattr(pieces, "LARGE_LOOP", 20)
    monkeypatch.setattr(pieces, "TOGETHER", 1)


def test_nests_are_what_they_are_in_the_whole_program(monkeypatch):
    text = trace(steps, given())
    _, whole = program.prepare_nests(text)
    monkeypatch.setattr(program, "LARGE", 1)
    sdfg, cut = program.prepare_nests(text)
    assert [nest.fingerprint for nest in cut] == [nest.fingerprint for nest in whole]
    assert marks.frames(sdfg.to_json()) == frozenset()


def test_a_large_loop_stays_and_what_it_holds_is_worked_on(small):
    sdfg, (large, last) = program.prepare_nests(trace(steps, given()))
    assert marks.frames(sdfg.to_json()) == {large.loops[0].element_id}
    kinds = [loop.kind for loop in large.loops]
    assert kinds[0] == "for"
    assert kinds.count("map") == 4
    assert {loop.kind for loop in last.loops} == {"map"}


def test_numbers_are_right_and_docc_is_not_asked_about_the_whole(small, tmp_path):
    text = trace(steps, given())
    prepared, nests = program.prepare_apart(text)
    plan = plan_nests(nests, prepared, "sequential", LayeredBook([]))
    assert plan.active
    assert plan.nests[0].reason == TOO_LARGE
    library = build_plan(text, plan, tmp_path / "built").library
    expected, args = given(), given()
    steps(*expected)
    bind(steps, args, library)(*args)
    for one, other in zip(expected, args, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_containers_that_docc_makes_in_several_pieces_do_not_meet(small):
    given_one = with_own_variables(read(json.loads(trace(steps, given()))))
    pointer = given_one.containers["a"]

    def work(piece):
        first, *_ = piece.body.children
        if isinstance(first, Loop):
            first = replace(first, id=None, init=Expr("made"))
        body = replace(piece.body, children=(*piece.body.children, first))
        return replace(piece.declaring(made=pointer), body=body)

    cut = pieces.Cut(given_one, work).program
    made = [name for name in cut.containers if name.startswith("made")]
    assert len(made) == len(set(made)) >= 2
    begun = [n.init.text for n in preorder(cut) if isinstance(n, Loop) and "made" in n.init.text]
    assert sorted(begun) == sorted(made)


def test_a_container_that_docc_makes_under_the_name_of_an_idle_one_has_its_own_type(small):
    """A number of floats was kept in a whole one: a limiter behind a stencil gave whole numbers."""
    given_one = with_own_variables(read(json.loads(trace(steps, given()))))
    scalar = next(n for n, kind in given_one.containers.items() if kind == Scalar(dtype="double"))

    def work(piece):
        if scalar not in piece.containers:
            return None
        return piece.declaring(**{scalar: Scalar(dtype="int64")})

    cut = pieces.Cut(given_one, work).program
    renamed = [name for name in cut.containers if name.startswith(f"{scalar}_")]
    assert renamed
    assert all(cut.containers[name] == Scalar(dtype="int64") for name in renamed)
    assert cut.containers.get(scalar, Scalar(dtype="double")) == Scalar(dtype="double")


def test_what_takes_too_long_stays_as_it_is(small, monkeypatch):
    monkeypatch.setattr(normalised, "PIECES_SECONDS", 0.0)
    sdfg, nests = program.prepare_nests(trace(steps, given()))
    assert marks.frames(sdfg.to_json()) == {nest.loops[0].element_id for nest in nests}
    assert {loop.kind for nest in nests for loop in nest.loops} == {"for"}


def test_only_what_an_iteration_reads_before_it_writes_is_carried():
    body = ast.parse(textwrap.dedent(inspect.getsource(steps))).body[0].body
    assert {name for name, _ in carried._carried(body)} == {"s"}


def factored(a):
    n = a.shape[0]
    for k0 in range(0, n, 4):
        k1 = min(k0 + 4, n)
        for k in range(k0, k1):
            for i in range(k + 1, n):
                a[i, k] /= a[k, k]
                for j in range(k + 1, k1):
                    a[i, j] -= a[i, k] * a[k, j]
        for k in range(k0, k1):
            for i in range(k + 1, n):
                for j in range(k1, n):
                    a[i, j] -= a[i, k] * a[k, j]


def test_what_docc_comes_to_no_end_with_it_is_not_shown(monkeypatch):
    """Bounds that depend on each other: docc would take minutes."""
    monkeypatch.setattr(normalised, "SIMPLIFYING_SECONDS", 0.5)
    a = np.random.default_rng(1).random((11, 11)) + 11 * np.eye(11)
    wanted = a.copy()
    factored(wanted)
    compiled = loopbook.native(factored, strict=True)
    compiled(a)
    np.testing.assert_allclose(a, wanted, rtol=1e-12)
    assert compiled.plan is not None and compiled.plan.normalised is not None  # noqa: PT018
    assert marks.frames(compiled.plan.normalised)
