"""What docc normalises wrongly is found and not taken; what it normalises rightly is."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from sdfg_kit import elements, matmul, matmul_args, random, waves

from loopbook.program.json_element import NOWHERE
from loopbook.program.read import read
from loopbook.sdfg import frontend, marks, passes, program
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.validation import compared
from loopbook.toolchain.run import compare

pytestmark = pytest.mark.apart


def lu(A):
    for k in range(A.shape[0]):
        for i in range(k + 1, A.shape[0]):
            A[i, k] = A[i, k] / A[k, k]
        for p in range(k + 1, A.shape[0]):
            for j in range(k + 1, A.shape[0]):
                A[p, j] = A[p, j] - A[p, k] * A[k, j]


def lu_from_nought(A):
    for k in range(A.shape[0]):
        for i in range(A.shape[0] - k - 1):
            A[1 + i + k, k] = A[1 + i + k, k] / A[k, k]
        for j in range(A.shape[0] - k - 1):
            for p in range(A.shape[0] - k - 1):
                A[1 + p + k, 1 + j + k] -= A[1 + p + k, k] * A[k, 1 + j + k]


def cholesky_left(A):
    for j in range(A.shape[0]):
        for k in range(j):
            for i in range(j, A.shape[0]):
                A[i, j] -= A[i, k] * A[j, k]
        A[j, j] = np.sqrt(A[j, j])
        for p in range(j + 1, A.shape[0]):
            A[p, j] = A[p, j] / A[j, j]


def shortest(A):
    for k in range(A.shape[0]):
        for i in range(A.shape[0]):
            for j in range(A.shape[0]):
                A[i, j] = min(A[i, j], A[i, k] + A[k, j])


def halves(A, B):
    for i in range(A.shape[0] - 1):
        for j in range(A.shape[1]):
            B[i, j] = 2.0 * A[i + 1, j]
        for j in range(A.shape[1]):
            A[i + 1, j] = B[i, j] + 1.0


def dominant(n: int = 17) -> np.ndarray:
    return random(n, n) + 2 * n * np.eye(n)


def definite(n: int = 17) -> np.ndarray:
    matrix = random(n, n)
    return matrix @ matrix.T + n * np.eye(n)


WRONG: dict[str, tuple[Any, list[Any]]] = {
    "lu": (lu, [dominant()]),
    "lu from nought": (lu_from_nought, [dominant()]),
    "cholesky": (cholesky_left, [definite()]),
    "shortest": (shortest, [random(17, 17)]),
}
RIGHT: dict[str, tuple[Any, list[Any]]] = {
    "matmul": (matmul, matmul_args()),
    "halves": (halves, [random(9, 10), random(9, 10)]),
    "waves": (waves, [3, random(20), random(20)]),
}


CASES = WRONG | RIGHT


@cache
def prepared_form(name: str) -> str:
    """A program as we prepare it: docc takes a second or two for each."""
    return program.prepare_apart(frontend.trace(*CASES[name]))[0]


@pytest.fixture
def prepared(name: str) -> str:
    return prepared_form(name)


@pytest.fixture
def prepared_wrong() -> dict[str, str]:
    return {name: prepared_form(name) for name in WRONG}


def forms(kernel: Any, args: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The SDFG document before and after docc's normalisation."""
    sdfg = passes.simplify(program.parse(frontend.trace(kernel, args)), fuse=False)
    before = json.loads(sdfg.to_json())
    return before, json.loads(passes.reorder(sdfg, fuse=False).to_json())


def faults(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [part.fault for part in compared(read(before), read(after))]


@pytest.mark.parametrize("name", WRONG)
def test_docc_turns_a_dependence_round_and_we_see_it(name):
    found = faults(*forms(*WRONG[name]))
    assert found == ["A carries a dependence against it"], "has docc learnt to see this?"


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_taken(name):
    assert not any(faults(*forms(*RIGHT[name])))


@pytest.mark.parametrize(
    ("name", "target"), [*((name, "sequential") for name in CASES), ("lu", "openmp")]
)
def test_numbers_of_the_prepared_program_are_right(name, target, prepared, tmp_path):
    kernel, args = CASES[name]
    expected = copy.deepcopy(args)
    kernel(*expected)
    built = build_tuned(prepared, target, {}, tmp_path)
    got = frontend.binding(kernel, args).results(built.library)
    compare(got, [a for a in expected if isinstance(a, np.ndarray)])


def test_one_wrong_nest_leaves_the_others_normalised():
    def both(A, B, C):
        for k in range(A.shape[0]):
            for i in range(k + 1, A.shape[0]):
                A[i, k] = A[i, k] / A[k, k]
            for p in range(k + 1, A.shape[0]):
                for j in range(k + 1, A.shape[0]):
                    A[p, j] = A[p, j] - A[p, k] * A[k, j]
        for r in range(C.shape[0]):
            for s in range(C.shape[1]):
                C[r, s] = 0.0
                for t in range(A.shape[1]):
                    C[r, s] += A[r, t] * B[t, s]

    args = [dominant(), random(17, 9), random(17, 9)]
    nests = program.prepare_nests(frontend.trace(both, args))[1]
    assert [len(nest.loops) for nest in nests] == [4, 2, 3]
    ids = [loop.element_id for nest in nests for loop in nest.loops]
    assert len(ids) == len(set(ids))


def test_only_what_docc_itself_gets_wrong_is_said_to_be(prepared_wrong):
    own = {name: bool(marks.misordered(text)) for name, text in prepared_wrong.items()}
    assert own == {name: name == "shortest" for name in own}


def test_an_order_that_is_the_same_is_kept_whatever_it_holds():
    before, _ = forms(*WRONG["shortest"])
    assert faults(before, before) == [""]


def test_a_loop_with_other_bounds_is_no_copy():
    before, after = forms(*RIGHT["halves"])
    loops = [e for e in elements(after["root"]) if "indvar" in e]
    loops[-1]["condition"] = loops[-1]["condition"].replace("<", "< 1 +")
    assert any("other values" in fault for fault in faults(before, after))


def test_a_statement_that_touches_something_else_is_no_copy():
    before, after = forms(*RIGHT["halves"])
    edges = [e for b in elements(after["root"]) for e in b.get("dataflow", {}).get("edges", ())]
    changed = next(e for e in edges if e.get("subset"))
    changed["subset"] = [f"1 + {index}" for index in changed["subset"]]
    assert any("touches other" in fault for fault in faults(before, after))


def test_a_statement_that_is_gone_is_missed():
    before, after = forms(*RIGHT["halves"])
    after["root"]["children"].pop()
    assert any("other statements" in fault for fault in faults(before, after))


def test_a_statement_that_may_leave_its_loop_is_not_moved():
    both = forms(*RIGHT["halves"])
    for form in both:
        inner = [e for e in elements(form["root"]) if e.get("indvar", "i")[0] == "j"]
        leaving = {"type": "break", "element_id": 9001, "debug_info": NOWHERE}
        body = {"type": "sequence", "element_id": 9002, "debug_info": NOWHERE}
        choice = {"type": "if_else", "element_id": 9003, "debug_info": NOWHERE}
        case = {"condition": "3 < j", "root": body | {"children": [leaving]}}
        inner[0]["root"]["children"].append(choice | {"branches": [case]})
    assert "a jump cannot be moved" in faults(*both)


def test_an_index_from_memory_is_no_obstacle_where_nothing_carries_it():
    def pick(A, B, C, places):
        for j in range(A.shape[1]):
            for i in range(A.shape[0]):
                C[i] += A[i, places[j]] + B[i, j]

    args = [random(9, 10), random(9, 10), random(9), np.arange(10)[::-1].copy()]
    before, after = forms(pick, args)
    assert [f["root"]["children"][0]["indvar"] for f in (before, after)] == ["j", "i"]
    assert not any(faults(before, after))
