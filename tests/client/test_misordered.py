"""Programs that docc's own compile gets wrong come out right."""

from __future__ import annotations

import numpy as np
import pytest
from client_kit import SIMPLE, layered, product, record, verifying
from sdfg_kit import random

from loopbook.client.decision import MISORDERED
from loopbook.client.optimize import optimize
from loopbook.client.plan import build_plan, make_plan
from loopbook.errors import WrongResultError
from loopbook.sdfg import frontend, passes, program
from loopbook.sdfg.build import build_baseline
from loopbook.toolchain import compiler
from loopbook.toolchain.run import compare
from loopbook.toolchain.sandbox import run_limited

from ..sdfg.test_validation import dominant, lu, shortest

pytestmark = pytest.mark.apart

PATHS = [random(17, 17)]


@pytest.fixture
def right() -> list[np.ndarray]:
    expected = PATHS[0].copy()
    shortest(expected)
    return [expected]


@pytest.fixture
def books(tmp_path):
    return layered(tmp_path, record(product, SIMPLE))


def test_docc_itself_is_wrong(right, tmp_path):
    built = build_baseline(frontend.trace(shortest, PATHS), "sequential", tmp_path)
    with pytest.raises(WrongResultError):
        compare(frontend.binding(shortest, PATHS).results(built.library), right)


def test_the_plan_does_without_docc_s_normalisation(right, books, tmp_path):
    text = frontend.trace(shortest, PATHS)
    plan = make_plan(text, "sequential", books)
    assert plan.active
    assert [report.tier for report in plan.nests] == ["pivots"]  # in the order of the source
    library = build_plan(text, plan, tmp_path / "build").library
    compare(frontend.binding(shortest, PATHS).results(library), right)


def test_what_only_our_way_gets_wrong_is_left_to_docc(books):
    assert not make_plan(frontend.trace(lu, [dominant()]), "sequential", books).prepared


def test_measuring_keeps_nothing_wrong(right, books, tmp_path):
    verifier = verifying(shortest, PATHS, tmp_path / "verify")
    verdict = verifier.choose(make_plan(verifier.text, "sequential", books))
    compare(frontend.binding(shortest, PATHS).results(verdict.built.library), right)


def test_an_optimised_sdfg_is_right_too(right, books, tmp_path):
    done = optimize(program.parse(frontend.trace(shortest, PATHS)), book=books)
    assert [nest.tier for nest in done.nests] == ["pivots"]
    compiler.activate()
    library = run_limited(passes.build, done.sdfg, tmp_path / "build", "sequential")
    compare(frontend.binding(shortest, PATHS).results(library), right)


def ahead(A):
    for i in range(A.shape[0] - 2):
        A[i] = A[i] + A[i + 1] + A[i + 2]


def passed_on(A, B):
    for i in range(A.shape[0]):
        B[i] = A[i]
        A[i] = B[0]


@pytest.mark.parametrize(("kernel", "count"), [(ahead, 1), (passed_on, 2)])
def test_what_docc_s_threads_would_race_for_is_not_left_to_docc(kernel, count, books, tmp_path):
    args = [random(4000) for _ in range(count)]
    text = frontend.trace(kernel, args)
    assert "parallel for" in run_limited(_code, text, seconds=600)  # docc's own
    plan = make_plan(text, "openmp", books)
    assert plan.active
    assert [report.reason for report in plan.nests] == [MISORDERED]
    assert not make_plan(text, "sequential", books).active  # there nothing is shared out
    expected = [array.copy() for array in args]
    kernel(*expected)
    folder = tmp_path / "build"
    compare(
        frontend.binding(kernel, args).results(build_plan(text, plan, folder).library), expected
    )
    (source,) = folder.glob("*.cpp")
    assert "parallel for" not in source.read_text()


def _code(text: str) -> str:
    return program.baseline(text, "openmp").to_cpp()
