"""Numbers are checked and the faster program is kept; bench reports it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from client_kit import (
    blocked,
    chain,
    layered,
    matrices,
    product_permuted,
    product_transposed,
    record,
    stencil,
    text_of,
    verifying,
)

from loopbook.client import verify
from loopbook.client.bench import bench
from loopbook.client.plan import build_plan, make_plan
from loopbook.client.thresholds import KEEP
from loopbook.errors import InputError, WrongResultError
from loopbook.sdfg.build import build_baseline
from loopbook.sdfg.frontend import bind, trace
from loopbook.toolchain.times import Schedule
from loopbook.workloads.workload import load_workload

QUICK = Schedule(repeats=5, seconds=0.3, at_least=3)

WORKLOAD = """
import numpy as np

PARAMETERS = {"S": {"N": 150}}


def initialize(N, datatype=np.float64):
    random = np.random.default_rng(0)
    left = random.random((N, N + 3)).astype(datatype)
    right = random.random((N + 3, N + 5)).astype(datatype)
    return left, right, np.zeros((N, N + 5), datatype)


def kernel(left, right, out):
    for col in range(out.shape[1]):
        for row in range(out.shape[0]):
            for mid in range(left.shape[1]):
                out[row, col] += left[row, mid] * right[mid, col]
"""


@pytest.fixture(autouse=True)
def no_libraries(monkeypatch):
    """Products are what the book is asked about."""
    monkeypatch.setenv("LOOPBOOK_LIBRARIES", "0")


@pytest.fixture(scope="module")
def library(good, tmp_path_factory) -> Path:
    """The permuted product with its neighbour's recipe, built for the kit's sizes."""
    plan = make_plan(text_of(product_permuted), "sequential", good)
    assert plan.active
    folder = tmp_path_factory.mktemp("library")
    return build_plan(text_of(product_permuted), plan, folder).library


@pytest.mark.parametrize("n", [2, 3, 5, 31, 64, 97])
def test_a_ported_recipe_gives_right_numbers_at_odd_sizes(library, n):
    left, right, out = matrices(n)
    bind(product_permuted, (left, right, out), library)(left, right, out)
    np.testing.assert_allclose(out, left @ right, rtol=1e-10)


def test_the_transposed_product_is_right_with_a_neighbour_s_recipe(good, tmp_path):
    args = matrices(45, transposed=True)
    plan = make_plan(trace(product_transposed, args), "sequential", good, choices=2)
    assert plan.active
    verifier = verifying(product_transposed, args, tmp_path)
    verifier.check(verifier.build(plan))


def test_the_faster_one_is_kept(good, tmp_path):
    """At this size docc's own schedule is several times slower: no close call."""
    verifier = verifying(product_permuted, matrices(260), tmp_path)
    plan = make_plan(verifier.text, "sequential", good)
    verdict = verifier.choose(plan, QUICK)
    assert verdict.plan.active
    assert verdict.speedup > 1.02
    assert verdict.built is not verifier.baseline
    verifier.check(verdict.built)


def test_a_recipe_with_wrong_numbers_is_not_kept(good, tmp_path, monkeypatch):
    verifier = verifying(product_permuted, matrices(), tmp_path)
    plan = make_plan(verifier.text, "sequential", good)

    def sabotaged(text, plan, folder, **options):
        """Compiles another program with the same arguments."""
        wrong = trace(product_wrong, matrices()).replace("product_wrong", "product_permuted")
        return build_baseline(wrong, "sequential", folder)

    monkeypatch.setattr(verify, "build_plan", sabotaged)
    with pytest.raises(WrongResultError):
        verifier.check(verifier.build(plan))
    verdict = verifier.choose(plan, QUICK)
    assert verdict.built is verifier.baseline
    assert not verdict.plan.active
    assert any("off by" in line for line in verdict.rejected)
    assert verdict.plan.nests[0].tier == "none"


def test_a_nest_whose_choice_fails_does_not_spoil_the_others(tmp_path, monkeypatch):
    """Two nests with recipes, the second one's always fails: the first one's is kept."""
    books = layered(
        tmp_path, record(chain, blocked(), position=0), record(chain, "tile L0 16\n", position=1)
    )
    args = (*matrices(260), matrices(260)[2])
    verifier = verifying(chain, args, tmp_path / "builds")
    plan = make_plan(verifier.text, "sequential", books)
    assert set(plan.recipes) == {0, 1}
    build = verify.build_plan

    def failing(text, plan, folder, **options):
        if 1 in plan.recipes:
            raise WrongResultError("made to fail")
        return build(text, plan, folder, **options)

    monkeypatch.setattr(verify, "build_plan", failing)
    verdict = verifier.choose(plan, QUICK)
    assert set(verdict.plan.recipes) == {0}
    assert [nest.tier for nest in verdict.plan.nests] == ["exact", "none"]


def test_with_nothing_to_try_it_is_docc_s_own_or_the_prepared_program(good, tmp_path):
    args = (3, *matrices()[:1], matrices()[0])
    verifier = verifying(stencil, args, tmp_path)
    verdict = verifier.choose(make_plan(verifier.text, "sequential", good), QUICK)
    assert not verdict.plan.recipes
    if verdict.plan.prepared:
        assert verdict.speedup > KEEP
    else:
        assert (verdict.built, verdict.speedup) == (verifier.baseline, 1.0)
    verifier.check(verdict.built)


def test_bench_reports_what_it_measured(good, tmp_path):
    path = tmp_path / "work.py"
    path.write_text(WORKLOAD)
    result = bench(load_workload(path), "S", "sequential", good, seconds=0.3, measure=False)
    assert list(result) == [
        "kernel",
        "preset",
        "target",
        "baseline_s",
        "optimized_s",
        "speedup",
        "correct",
        "nests",
        "reference",
        "reference_preset",
        "reference_sizes",
        "docc_wrong",
        "lowered",
        "baseline",
        "python_s",
        "python_speedup",
        "fastest",
    ]
    assert (result["reference"], result["docc_wrong"]) == ("python", False)
    assert json.loads(json.dumps(result)) == result
    assert result["correct"] is True
    assert result["speedup"] == pytest.approx(result["baseline_s"] / result["optimized_s"])
    assert [nest["tier"] for nest in result["nests"]] == ["near"]


def test_bench_without_the_kernel_s_own_records_times_docc_twice(good, tmp_path):
    path = tmp_path / "work.py"
    path.write_text(WORKLOAD)
    result = bench(
        load_workload(path), "S", "openmp", good, seconds=0.1, exclude=["product"], sizes={"N": 40}
    )
    assert result["correct"] is True
    assert result["nests"][0]["tier"] == "none"
    assert result["baseline_s"] > 0
    assert result["optimized_s"] > 0


def test_bench_names_an_unknown_target(good, tmp_path):
    path = tmp_path / "work.py"
    path.write_text(WORKLOAD)
    with pytest.raises(InputError, match="no target 'cuda'"):
        bench(load_workload(path), "S", "cuda", good)


def product_wrong(left, right, out):
    for row in range(out.shape[0]):
        for col in range(out.shape[1]):
            for mid in range(right.shape[0]):
                out[row, col] += left[row, mid] + right[mid, col]
