"""Regions from a book: taken where they promise more than their nests, right, and ported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import client_kit as kit
import numpy as np
from regions_kit import ROLLED, regional, smoothed
from sdfg_kit import normal_form_of, random

import loopbook
from loopbook.client.decision import Plan
from loopbook.client.layered import LayeredBook
from loopbook.client.plan import make_plan, plan_nests
from loopbook.client.regions import joined
from loopbook.program.json_text import dumped
from loopbook.program.load import load_json
from loopbook.program.nests import read_nests
from loopbook.program.regions import is_region
from loopbook.program.write import write


def smoothed_otherwise(A, B):
    t = (A[:-2] - A[1:-1] + A[2:]) / 3.0
    u = (t[:, :-2] + t[:, 1:-1] - t[:, 2:]) / 3.0
    B[2:-2, 2:-2] = u[1:-1, 2:] - u[1:-1, :-2] * u[2:, 1:-1] * u[:-2, 1:-1]


def product_and_more(A, B):
    t = A @ A
    B[:, :] = np.maximum(t, 0.5)


def text_of(kernel: Any) -> str:
    return dumped(write(normal_form_of(kernel, [random(12, 12), random(12, 12)])))


def planned(books: LayeredBook, kernel: Any, **more: Any) -> Plan:
    return make_plan(text_of(kernel), "sequential", books, expressions=True, **more)


def tiers(plan: Plan) -> Sequence[str]:
    return [one.tier for one in plan.nests]


def test_a_region_is_served_as_one(tmp_path):
    with kit.layered(tmp_path, regional(3.0, text_of(smoothed))) as books:
        plan = planned(books, smoothed)
        assert tiers(plan) == ["exact"]
        assert plan.nests[0].recipe == ROLLED
        assert len(plan.nests[0].loops) == 4
        assert [is_region(one.loop) for one in read_nests(load_json(plan.normalised or ""))] == [
            True
        ]
        fast = loopbook.native(smoothed, book=books, strict=True)
        for shape in [(12, 12), (5, 5), (40, 40)]:
            A, B, wanted = random(*shape), np.zeros(shape), np.zeros(shape)
            fast(A, B)
            smoothed(A, wanted)
            np.testing.assert_allclose(B, wanted, rtol=1e-12)


def once(A, B):
    for _round in range(1):
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                B[i, j] = 2.0 * A[i, j]
    for i in range(A.shape[0] - 1):
        for j in range(A.shape[1]):
            A[i, j] = B[i + 1, j]


def test_a_loop_that_runs_once_is_not_taken_for_a_region(tmp_path):
    with kit.layered(tmp_path, regional(3.0, text_of(smoothed))) as books:
        A, B = random(9, 7), np.zeros((9, 7))
        wanted = A.copy(), B.copy()
        once(*wanted)
        loopbook.native(once, book=books, strict=True)(A, B)
        np.testing.assert_array_equal(A, wanted[0])
        np.testing.assert_array_equal(B, wanted[1])


def test_one_that_gains_too_little_is_left(tmp_path):
    with kit.layered(tmp_path, regional(1.01, text_of(smoothed))) as books:
        assert tiers(planned(books, smoothed)) == ["none", "none"]


def test_what_cannot_be_done_is_left(tmp_path):
    with kit.layered(tmp_path, regional(3.0, text_of(smoothed), recipe="fuse L1 L3")) as books:
        assert tiers(planned(books, smoothed)) == ["none", "none"]


def test_a_region_like_it_gets_its_recipe(tmp_path):
    with kit.layered(tmp_path, regional(3.0, text_of(smoothed))) as books:
        plan = planned(books, smoothed_otherwise)
        assert tiers(plan) == ["near"]
        assert plan.nests[0].recipe == ROLLED
        assert tiers(planned(books, smoothed_otherwise, exclude=["smoothed"])) == ["none", "none"]


def test_what_a_library_does_is_not_compared(tmp_path, monkeypatch):
    kit.blas_is(monkeypatch)
    text = text_of(product_and_more)
    nests = read_nests(load_json(text))
    record = regional(50.0, text, "interchange L4 L5", "product_and_more")
    with kit.layered(tmp_path, record) as books:
        more = {"sizes": {"_s0": 900}, "expressions": True, "libraries": True}
        plan = plan_nests(nests, text, "sequential", books, **more)
        assert "library" in tiers(plan)
        assert joined(text, nests, plan, books) is None
        assert joined(text, nests, plan_nests(nests, text, "sequential", books), books) is not None
