"""Scalars that one loop alone reads are computed in it: both forms of a kernel are alike then."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sdfg_kit import as_docc_sends, check_library, random

from loopbook.normal_form.sinking import sunk
from loopbook.program import walk
from loopbook.program.read import read
from loopbook.program.tree import Loop, Program
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.program import prepare_document
from loopbook.workloads import polybench
from loopbook.workloads.call import Call

SHAPE = 8, 9


def rank_update(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def into_itself(alpha, A):
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, :] += alpha * A[i, k] * A[0, :]


def kept_for_later(A, out):
    for i in range(A.shape[0]):
        s = 2.0 * A[i, 0]
        A[i, 1:] = s * A[i, 1:]
        out[i] = s


def summed(A, out):
    s = 0.0
    for i in range(A.shape[0]):
        s = s + A[i, 0]
        A[i, 1:] = s * A[i, 1:]
    out[0] = s


def perfect(program: Program) -> bool:
    """Whether each loop that holds a loop holds nothing else."""
    loops = [node for node in walk.preorder(program) if isinstance(node, Loop)]
    return all(
        len(one.body.children) == 1
        for one in loops
        if any(isinstance(node, Loop) for node in one.body.children)
    )


@pytest.mark.parametrize(
    ("kernel", "args", "alike"),
    [
        (rank_update, [1.5, 0.5, random(8, 8), random(*SHAPE)], True),
        (into_itself, [0.25, random(*SHAPE)], False),
        (kept_for_later, [random(*SHAPE), np.zeros(8)], False),
        (summed, [random(*SHAPE), np.zeros(1)], False),
    ],
)
def test_loops_are_perfect_where_that_is_legal(
    kernel: Callable[..., None], args: list[Any], alike: bool, tmp_path: Path
):
    text = as_docc_sends(kernel, args)
    program = read(prepare_document(text)[0])
    assert perfect(program) == alike
    library = build_tuned(text, "sequential", {}, tmp_path, vector_maths=True).library
    check_library(kernel, [args], library)


def test_a_program_with_nothing_to_move_stays():
    program = read(json.loads(as_docc_sends(summed, [random(*SHAPE), np.zeros(1)])))
    assert perfect(sunk(program)) == perfect(program)


@pytest.mark.parametrize("name", ["syrk"])
def test_numpy_s_form_has_the_nests_of_the_loops(name: str):
    workload = polybench.load(name)
    loops = prepare_document(Call.of(workload, workload.arguments("MINI")).text)[1]
    arrays = prepare_document(as_docc_sends(rank_update, [1.5, 0.5, random(8, 8), random(8, 9)]))[1]
    assert [one.fingerprint for one in arrays] == [one.fingerprint for one in loops]
