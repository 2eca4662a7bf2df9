"""Loops whose end lies below zero do not run, although docc's library nodes count unsigned."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sdfg_kit import elements, random, steps

from loopbook.errors import IllegalStepError
from loopbook.program.read import read, read_containers
from loopbook.program.signed import sign_counters, unsigned
from loopbook.sdfg import frontend, passes, program
from loopbook.sdfg.build import build_tuned
from loopbook.steps.workbench import Workbench
from loopbook.toolchain.run import compare

UINT64 = 10
"""docc's number for the type."""

ARGS = [random(9, 7), np.zeros(9)]


def sums(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i] += A[i, j]


def counters(document: dict[str, Any]) -> set[str]:
    return {loop["indvar"] for loop in elements(document["root"]) if "indvar" in loop}


def unsigned_counters(document: dict[str, Any]) -> set[str]:
    return counters(document) & unsigned(read_containers(document)).keys()


def counting_unsigned(kernel: Callable[..., Any], *args: Any) -> dict[str, Any]:
    """What docc's frontend makes of a kernel, with loops as its library nodes have them."""
    document = json.loads(frontend.trace(kernel, args))
    for name in counters(document):
        document["containers"][name]["primitive_type"] = UINT64
    return document


def test_docc_counts_unsigned_and_we_do_not():
    def relu(A, B):
        T = np.maximum(A @ B, 0)
        return T @ A

    document = json.loads(frontend.trace(relu, [random(5, 5), random(5, 5)]))
    sdfg = passes.simplify(program.parse(json.dumps(document)), fuse=False)
    passes.reorder(sdfg, fuse=False)
    raw = json.loads(sdfg.to_json())
    assert unsigned_counters(raw)
    ours = json.loads(program.prepare(json.dumps(document)).to_json())
    assert counters(ours)
    assert not unsigned(read_containers(ours))


@pytest.mark.parametrize("target", ["sequential", "openmp"])
def test_arrays_shorter_than_a_strip_are_not_run_past(target, tmp_path):
    text = json.dumps(counting_unsigned(sums, *ARGS))
    built = build_tuned(text, target, {0: steps("strip_and_sink L0 16")}, tmp_path)
    assert built.recipes[0]
    for rows in (2, 8, 15, 16, 37):
        args = [random(rows, 7), np.zeros(rows)]
        got = frontend.binding(sums, args).results(built.library)
        sums(*args)
        compare(got, args)


def test_fingerprints_stay():
    (nest,) = program.nests(program.prepare(json.dumps(counting_unsigned(sums, *ARGS))))
    (plain,) = program.nests(program.prepare(frontend.trace(sums, ARGS)))
    assert nest.fingerprint == plain.fingerprint


@pytest.mark.parametrize("update", ["i - 1", "2*i", "i + _s1"])
def test_loops_that_may_need_to_wrap_stay_unsigned_and_are_not_rewritten(update):
    document = json.loads(program.prepare(frontend.trace(sums, ARGS)).to_json())
    outer = next(e for e in elements(document["root"]) if "indvar" in e)
    outer["update"] = update
    document["containers"]["i"]["primitive_type"] = UINT64
    given = read(document)
    assert sign_counters(given) is given
    sdfg = program.parse(json.dumps(document))
    bench = Workbench(program.tree_of(sdfg), program.nests(sdfg)[0])
    with pytest.raises(IllegalStepError, match="below zero"):
        bench.apply("strip_and_sink", ("L0", 4))


def test_what_is_an_argument_or_data_stays_unsigned():
    document = counting_unsigned(sums, *ARGS)
    document["arguments"].append("i")
    assert unsigned_counters(document) == {"i", "j"}
    signed = sign_counters(read(document))
    assert unsigned(signed.containers).keys() == {"i"}
