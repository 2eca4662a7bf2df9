"""Evaluating: nothing held out is served, what is served really runs, figures follow from times."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from client_kit import fill, product, product_transposed, record

from loopbook.client.layered import LayeredBook
from loopbook.embed.inference import Encoder
from loopbook.errors import InputError
from loopbook.learn.comparison import Comparison, Served
from loopbook.learn.evaluate import Result, Settings, evaluate
from loopbook.learn.holdout import HOLDOUTS, other_hardware
from loopbook.learn.methods import METHODS, methods
from loopbook.learn.summary import headline, score
from loopbook.recipes import HardwareProfile
from loopbook.recipes.book import Book
from loopbook.sdfg import frontend, program
from loopbook.workloads import polybench

NEST = {"tier": "near", "predicted": 2.0, "lower": 1.0}
LEFT = {"tier": "none", "predicted": 1.0, "lower": None}


def result(kernel: str, tuner: float, one: float, five: float, *, left: bool = False) -> Result:
    nests = [LEFT if left else NEST]
    served = {
        "tuner": Served(1.0 / tuner, 1.0, [NEST]),
        "ours 1": Served(1.0 / one, 1.0, nests),
        "ours 5": Served(1.0 / five, 1.0, nests),
    }
    return Result("kernel", Comparison(kernel, "sequential", "MINI", 1.0, served))


def test_shares_are_of_logarithms():
    results = [result("gemm", 16.0, 4.0, 16.0), result("mvt", 4.0, 4.0, 4.0)]
    one = score(results, "ours", 1)
    assert one.share == pytest.approx(math.log(16) / math.log(64))
    assert one.speedup == pytest.approx(4.0)
    assert one.tuned == pytest.approx(8.0)
    assert one.regret == pytest.approx((1 - 4 / 16) / 2)
    assert score(results, "ours", 5).share == pytest.approx(1.0)
    told = headline(results)
    assert told["share_of_gain_1"] == pytest.approx(2 / 3, abs=1e-4)
    assert told["slowdowns"] == told["declined"] == 0


def test_slowdowns_and_what_was_declined_are_counted():
    results = [
        result("gemm", 16.0, 0.9, 1.0),
        result("mvt", 4.0, 1.0, 1.0, left=True),
        result("durbin", 1.0, 1.0, 1.0, left=True),
    ]
    one = score(results, "ours", 1)
    assert one.slowdowns == ("gemm sequential",)
    assert one.declined == ("mvt sequential",), "there is nothing to gain on durbin"
    assert one.lost == pytest.approx(math.log(4) / math.log(64))
    assert json.loads(json.dumps(one.to_json()))["declined"] == ["mvt sequential"]


def test_holdouts_leave_out_what_they_say():
    assert HOLDOUTS["kernel"].kernels("gemm") == ("gemm",)
    assert set(HOLDOUTS["family"].kernels("lu")) >= {"lu", "cholesky", "ludcmp"}
    assert "gemm" not in HOLDOUTS["family"].kernels("lu")
    assert HOLDOUTS["polybench"].kernels("lu") == polybench.names()
    assert all(rule.nests for name, rule in HOLDOUTS.items() if name != "hardware")
    assert not HOLDOUTS["hardware"].kernels("lu")
    here = record(product, "").hardware
    keep = other_hardware(here)
    assert not keep(record(product, ""))
    assert keep(record(product, "", hardware=HardwareProfile("another", "neon", 128)))


def test_each_method_has_vectors_of_its_own_and_ports_alike():
    encoder = Encoder.load()
    made = methods(["nearest", "raw", "untrained", "random"], encoder, None, None)
    nests = [n for k in (product, product_transposed) for n in _nests(k)]
    usual = encoder.encode_many(nests)
    versions = set()
    for method in made:
        vectors = method.encoder.encode_many(nests)
        versions.add(method.encoder.version)
        for mine, ours in zip(vectors, usual, strict=True):
            np.testing.assert_array_equal(mine.loops, ours.loops)
            assert mine.nest.shape == ours.nest.shape
            assert np.array_equal(mine.nest, ours.nest) == (method.name == "nearest")
        again = method.encoder.encode_many(nests)
        np.testing.assert_array_equal(again[0].nest, vectors[0].nest)
    assert len(versions) == len(made)
    with pytest.raises(InputError, match="no method"):
        methods(["best"], encoder, None, None)
    with pytest.raises(InputError, match="no cost model"):
        methods(["ours"], encoder, None, None)
    assert set(METHODS) >= {"ours", "contrastive"}


def _nests(kernel):
    from client_kit import nests_of

    return nests_of(kernel)


def test_a_held_out_nest_is_not_found(tmp_path: Path):
    path = fill(tmp_path / "book.db", [record(product, ""), record(product_transposed, "")])
    (nest,) = _nests(product)
    with LayeredBook([Book.open(path)]) as all_of_it:
        assert all_of_it.records_of(nest, "sequential")
        assert nest.fingerprint in {n.record.fingerprint for n in all_of_it.nearest(nest)}
    with LayeredBook([Book.open(path)], without=[nest.fingerprint]) as some:
        assert some.records_of(nest, "sequential") == []
        found = {near.record.fingerprint for near in some.nearest(nest)}
        assert found
        assert nest.fingerprint not in found


def test_a_kernel_is_served_and_timed_and_not_measured_again(tmp_path: Path):
    workload = polybench.load("mvt")
    arguments = workload.arguments("MINI")
    _, nests = program.prepare_nests(frontend.trace(workload.kernel, arguments))
    path = fill(tmp_path / "book.db", [record(product_transposed, "interchange L0 L1\n")])
    settings = Settings(["mvt"], ["sequential"], ["kernel"], "MINI", (1,))
    entrants = methods(["nearest"], Encoder.load(), None, None)
    log = tmp_path / "log.jsonl"
    with LayeredBook([Book.open(path)]) as layered:
        (first,) = evaluate(layered.books, entrants, settings, log)
        (again,) = evaluate(layered.books, entrants, settings, log)
    assert again == first
    assert len(log.read_text().splitlines()) == 1
    served = first.comparison.served
    assert set(served) == {"tuner", "nearest 1"}
    assert len(served["nearest 1"].nests) == len(nests)
    assert all(one.seconds > 0 and not one.error for one in served.values())
    assert first.comparison.docc_s > 0
