"""Workloads made of arrays reach docc as loops, and Python says whether these are right."""

from __future__ import annotations

import copy
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_kit import ATTENTION, PRODUCT

from loopbook.client.bench import bench
from loopbook.client.layered import LayeredBook
from loopbook.errors import KernelError, SdfgError
from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_baseline
from loopbook.toolchain.interleaved import Runnable, in_turn
from loopbook.toolchain.run import compare, returned_arrays
from loopbook.toolchain.times import Schedule
from loopbook.tuner.task import PythonTask
from loopbook.workloads import polybench, reference
from loopbook.workloads.call import Call
from loopbook.workloads.workload import Workload, load_workload

HEAD = """
import numpy as np

PARAMETERS = {"S": {"N": 7, "M": 5}, "L": {"N": 9, "M": 9}}


def initialize(N, M):
    r = np.random.default_rng(N)
    return {"A": np.asfortranarray(r.random((N, M))), "z": r.random(N) + 1j, "n": np.int64(3)}


"""

RESULTS = """
def kernel(A, z, n):
    z *= 2.0 - 1.0j
    A[1:] += A[:-1]
    return A[::-1, 1], A.sum(), z.conj(), n + 1, A.shape[0], np.float32(0.5) * A.astype(np.float32)
"""
"""Arguments in Fortran's order and complex ones, written; results that are views, and scalars."""


def workload(folder: Path, text: str) -> Workload:
    path = folder / "mine.py"
    path.write_text(text)
    return load_workload(path)


def python(one: Workload, arguments: list) -> list[np.ndarray]:
    own = copy.deepcopy(arguments)
    returned = one.kernel(*own)
    return [*one.results(own), *returned_arrays(returned)]


@pytest.mark.apart
def test_loops_are_handed_on_as_they_are():
    for name in ("mvt", "nussinov", "deriche"):
        one = polybench.load(name)
        arguments = one.arguments("MINI")
        call = Call.of(one, arguments)
        assert (call.kernel, call.lowered, call.refusal) == (one.kernel, None, None)
        assert all(a is b for a, b in zip(call.arguments, arguments, strict=True))
        own = frontend.trace(one.kernel, arguments)
        assert in_order(PythonTask(one).text(arguments)) == in_order(own)


@pytest.mark.apart
def test_loops_that_docc_does_not_read_are_translated(tmp_path):
    body = "    for i in range(A.shape[0]):\n        for j in range(A.shape[1]):\n"
    body += "            A[i, j] = math.erf(A[i, j])\n"
    one = workload(tmp_path, f"import math\n{HEAD}def kernel(A):\n{body}")
    arguments = one.arguments("S")
    call = Call.of(one, arguments)
    assert call.lowered is not None
    library = build_baseline(call.text, "none", tmp_path / "built").library
    compare(call.binding().results(library), python(one, arguments))


def in_order(text: str) -> Any:
    """An SDFG with the nodes of a block, which docc writes in any order, in one."""

    def sort(element: dict[str, Any]) -> dict[str, Any]:
        ends = {key: sorted(element[key], key=repr) for key in ("nodes", "edges") if key in element}
        return element | ends

    return json.loads(text, object_hook=sort)


@pytest.mark.apart
def test_results_are_those_of_the_function(tmp_path):
    one = workload(tmp_path, HEAD + RESULTS)
    for preset in ("L", "S"):  # equal sizes, then others: another translation
        arguments = one.arguments(preset)
        call = Call.of(one, arguments)
        assert call.lowered is not None
        library = build_baseline(call.text, "none", tmp_path / preset).library
        got, expected = call.binding().results(library), python(one, arguments)
        assert [(g.shape, g.dtype) for g in got] == [(e.shape, e.dtype) for e in expected]
        compare(got, expected)


def test_arguments_may_be_left_to_their_defaults(tmp_path):
    text = HEAD + "def kernel(A, factor=3.0):\n    A *= factor\n"
    one = workload(tmp_path, text)
    call = Call.of(one, [np.ones((2, 3))])
    assert call.lowered is not None
    call.lowered.plain_kernel(*call.arguments)
    assert call.results(call.arguments)[0].tolist() == [[3.0] * 3] * 2


def test_what_is_passed_twice_is_one_array_and_what_overlaps_is_left_to_docc(tmp_path):
    text = HEAD + "def kernel(A, B):\n    B[0] = 1.0\n    return A[1:] - A[:-1]\n"
    one = workload(tmp_path, text)
    A = np.arange(12.0).reshape(4, 3)
    call = Call.of(one, [A, A])
    assert call.lowered is not None
    values = [value.copy() for value in call.arguments]
    call.lowered.plain_kernel(*values)
    compare(call.results(values), python(one, [A, A]))
    assert "overlap in memory" in str(Call.of(one, [A, A[1:]]).refusal)


def test_a_translation_serves_all_sizes_that_it_holds_for(tmp_path):
    one = workload(tmp_path, HEAD + RESULTS)
    equal = Call.of(one, one.arguments("L")).lowered
    assert Call.of(one, one.arguments("L", {"N": 8, "M": 8})).lowered is equal
    other = Call.of(one, one.arguments("S")).lowered
    assert other is not equal
    assert Call.of(one, one.arguments("S", {"N": 6})).lowered is other


def test_what_has_no_loops_is_left_to_docc_and_both_are_named_where_it_fails(tmp_path):
    one = workload(tmp_path, HEAD + "def kernel(A, z, n):\n    return np.linalg.svd(A)\n")
    call = Call.of(one, one.arguments("S"))
    assert call.kernel is one.kernel
    assert "np.linalg.svd()" in str(call.refusal)
    with pytest.raises(
        SdfgError, match=r"docc cannot parse kernel.*nor has it.*mine.py:13: np.linalg.svd"
    ):
        _ = call.text


@pytest.mark.apart
def test_python_says_that_the_loops_are_right_where_docc_is_wrong(tmp_path):
    one = workload(tmp_path, ATTENTION)
    said = reference.ask(one, one.parameters, "S")
    assert said.call is not None
    assert (said.preset, said.wrong, said.call.lowered is None) == ("S", "", False)
    reference.check(one, one.parameters)


@pytest.mark.apart
def test_bench_compares_with_python_and_with_what_docc_makes_of_arrays(tmp_path):
    def told(text: str) -> dict[str, Any]:
        one = workload(tmp_path, text)
        return bench(one, "S", "sequential", LayeredBook([]), seconds=0.05, measure=False)

    seen = told(ATTENTION)
    assert (seen["correct"], seen["lowered"], seen["baseline"]) == (True, True, "loops")
    assert seen["docc_wrong"] is True
    assert "loses the transpose" in seen["docc_wrong_reason"]
    assert seen["python_speedup"] == pytest.approx(seen["python_s"] / seen["optimized_s"])
    assert seen["fastest"] in ("loopbook", "python")

    unseen = told(UNSEEN)
    assert (unseen["correct"], unseen["docc_wrong"]) == (True, True)
    assert "is off by" in unseen["docc_wrong_reason"]

    failed = told(COMPLEX)
    assert (failed["correct"], failed["docc_wrong"], failed["baseline"]) == (True, False, "loops")
    assert "complex128" in failed["docc_failed"]


COMPLEX = HEAD + "def kernel(z):\n    return z * z.conj()\n"

UNSEEN = """
import numpy as np

PARAMETERS = {"S": {"N": 12}}


def initialize(N):
    k = np.arange(N)
    k[3] = -1
    return {"k": k, "x": np.arange(N) + 1.0}


def kernel(k, x):
    y = np.zeros(x.shape[0])
    for i in range(k.shape[0]):
        y[i] = x[k[i]]
    return y
"""
"""docc reads in front of the array, and nothing in the program tells."""


def test_python_is_not_waited_for(tmp_path):
    def forever():
        while True:
            pass

    def raises():
        raise ValueError("two\nlines")

    quick = Schedule(repeats=3, seconds=1.0, at_least=2)
    runs = [Runnable(lambda: forever, [], 0.05), Runnable(lambda: raises, [])]
    late, failed, good = in_turn([*runs, Runnable(lambda: _double, [np.ones(3)])], quick)
    assert (late.seconds, late.error) == ([], "takes more than 0.05 s")
    assert (failed.fastest, failed.error) == (None, "raises ValueError: two lines")
    assert (len(good.seconds), good.error) == (3, "")
    assert good.fastest == min(good.seconds) > 0
    with pytest.raises(KernelError, match="SIGKILL"):
        in_turn([Runnable(lambda: _killed, [])], quick)


def _double(a: np.ndarray) -> None:
    assert a.tolist() == [1.0, 1.0, 1.0]  # new data for each run
    a *= 2.0


def _killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.apart
def test_loops_in_python_are_timed_where_that_takes_no_time(tmp_path):
    one = workload(tmp_path, PRODUCT.replace('"M": {"N": 40}', '"M": {"N": 4000}'))
    told = bench(one, "S", "sequential", LayeredBook([]), seconds=0.05, measure=False)
    assert (told["lowered"], told["baseline"]) == (False, "docc")
    assert told["python_s"] > 0
