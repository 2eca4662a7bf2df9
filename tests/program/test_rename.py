"""Loops get variables of their own, and programs keep their meaning."""

from __future__ import annotations

import json
from collections import Counter

from sdfg_kit import random

from loopbook.program import walk
from loopbook.program.accesses import accesses, written
from loopbook.program.read import read
from loopbook.program.rename import renamed, with_own_variables
from loopbook.program.tree import Loop
from loopbook.program.write import write
from loopbook.sdfg import frontend, program
from loopbook.sdfg.build import build_baseline
from loopbook.toolchain.run import compare


def twice(A, B):
    for i in range(A.shape[0]):
        A[i] = 2.0 * A[i]
    for i in range(B.shape[0]):
        for j in range(i, B.shape[0]):
            B[i] = B[i] + A[j]
        for j in range(i):
            B[i] = B[i] - A[j]


def last(A, B):
    for i in range(A.shape[0]):
        A[i] = A[i] + 1.0
    for i in range(B.shape[0] - 2):
        B[i] = B[i] + 1.0
    B[i + 1] = 7.0


def sliced(A, B):
    for i in range(A.shape[0]):
        A[i, : i + 1] += 0.5 * A[i, : i + 1]
    for i in range(B.shape[0]):
        B[i, :i] *= 0.25


def loops(document: dict) -> list[dict]:
    found = []

    def walk(value):
        if isinstance(value, dict):
            if "indvar" in value:
                found.append(value)
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(document["root"])
    return found


def separated(kernel, args) -> tuple[str, dict]:
    text = frontend.trace(kernel, args)
    return text, write(with_own_variables(read(json.loads(text))))


def test_no_two_loops_share_a_variable_and_all_are_declared():
    _, document = separated(twice, [random(9), random(9)])
    names = [loop["indvar"] for loop in loops(document)]
    assert len(names) == 4
    assert len(set(names)) == 4
    assert set(names) <= document["containers"].keys()


def test_a_document_without_shared_variables_stays_as_it_is():
    def single(A):
        for i in range(A.shape[0]):
            A[i] = A[i] + 1.0

    text, document = separated(single, [random(5)])
    assert document == json.loads(text)


def test_a_variable_that_is_used_after_its_loop_keeps_its_name(monkeypatch):
    # Our own frontend names such loops apart before docc sees them; docc's clients do not.
    monkeypatch.setattr(frontend, "understood", lambda func, args: func)
    text, document = separated(last, [random(6), random(9)])
    before = [loop["indvar"] for loop in loops(json.loads(text))]
    after = [loop["indvar"] for loop in loops(document)]
    assert before.count("i") == after.count("i") > 0


def test_renamed_programs_compute_the_same(tmp_path):
    for number, (kernel, args) in enumerate(
        [(twice, [random(13), random(13)]), (last, [random(6), random(9)])]
    ):
        text, document = separated(kernel, args)
        before = build_baseline(text, "none", tmp_path / f"{number}before")
        after = build_baseline(json.dumps(document), "none", tmp_path / f"{number}after")
        binding = frontend.binding(kernel, args)
        # Against docc, not Python: in docc, as in C, a variable ends one step past its loop.
        compare(binding.results(after.library), binding.results(before.library))


def test_slices_of_renamed_loops_are_the_same_elements(monkeypatch, tmp_path):
    monkeypatch.setattr(frontend, "understood", lambda func, args: func)
    args = [random(7, 7), random(5, 5)]
    _, document = separated(sliced, args)
    names = [loop["indvar"] for loop in loops(document)]
    assert len(set(names)) == len(names)
    built = build_baseline(json.dumps(document), "none", tmp_path)
    found = frontend.binding(sliced, args).results(built.library)
    expected = [array.copy() for array in args]
    sliced(*expected)
    compare(found, expected)


def test_separate_variables_let_docc_see_parallel_loops():
    nests = program.nests(program.prepare(frontend.trace(twice, [random(9), random(9)])))
    assert {nest.loops[0].kind for nest in nests} == {"map"}


def test_what_is_not_understood_keeps_the_names_that_it_may_use():
    document = json.loads(frontend.trace(twice, [random(9), random(9)]))
    names = Counter(loop["indvar"] for loop in loops(document))
    (shared, *_) = (name for name, count in names.items() if count > 1)
    odd = {"type": "offload", "element_id": 10**6, "over": f"{shared} + 1"}
    document["root"]["children"].append(odd)
    after = write(with_own_variables(read(document)))
    assert [loop["indvar"] for loop in loops(after)].count(shared) == names[shared]
    assert after["root"]["children"][-1] == odd


def test_a_renamed_subtree_shares_what_mentions_none_of_the_names():
    program = read(json.loads(frontend.trace(twice, [random(9), random(9)])))
    first, second = walk.outermost(program)
    after = renamed(program.body, {"A": "C"})
    assert "A" not in written(after)
    assert "C" in {access.container for access in accesses(after)}
    assert renamed(program.body, {"elsewhere": "C"}) is program.body
    assert isinstance(second, Loop)
    assert renamed(second, {second.variable: "q"}) is not second
    assert renamed(first, {"B": "C"}) is first
