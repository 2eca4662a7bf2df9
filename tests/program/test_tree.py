"""The program tree: what is read is written again as it was, and damage is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sdfg_kit import matmul, matmul_args, prepared, random, rows, sweep

from loopbook.errors import SdfgError
from loopbook.program import tree
from loopbook.program.accesses import accesses, symbols, written
from loopbook.program.dataflow import Allocation, LibraryCall, MathsCall, Reference, Statement
from loopbook.program.read import MAX_DEPTH, read
from loopbook.program.types import Array, Pointer, Scalar, Tensor
from loopbook.program.walk import preorder
from loopbook.program.write import write
from loopbook.sdfg import frontend
from loopbook.workloads import polybench, synthetic

Json = dict[str, Any]


def chained(A, B, x):
    y = (A @ B) @ x
    return np.exp(y) + np.sqrt(np.abs(x))


def searching(A, x):
    for i in range(A.shape[0]):
        if A[i] > x:
            break
        A[i] = x
    k = 0
    while A[k] < x:
        k = k + 1
        if k >= A.shape[0] - 1:
            break
    for j in range(A.shape[0]):
        if A[j] < 0.5:
            continue
        A[j] = A[j] * 2.0
    return k


def gathered(A, index, B):
    for i in range(A.shape[0]):
        k = index[i]
        if k >= 0 and k < A.shape[0]:
            B[i] = A[k]
        else:
            B[i] = np.sqrt(A[i])


def text_of(kernel: Callable[..., Any], *args: Any) -> str:
    return frontend.trace(kernel, args)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """SDFGs as docc's front end writes them, and as they are prepared."""
    workload = synthetic.load(next(iter(synthetic.names(1, seed=5))))
    adi = polybench.load("adi")
    return {
        "matmul": text_of(matmul, *matmul_args()),
        "matmul prepared": prepared(matmul, matmul_args()).to_json(),
        "rows prepared": prepared(rows, [random(4, 5), random(5, 6), random(6)]).to_json(),
        "sweep": text_of(sweep, random(6, 6)),
        "adi": text_of(adi.kernel, *adi.arguments("MINI")),
        "synthetic": text_of(workload.kernel, *workload.arguments("S")),
        "chained": text_of(chained, random(4, 5), random(5, 6), random(6)),
        "searching": text_of(searching, random(9), 0.5),
        "gathered": text_of(gathered, random(9), np.arange(9) - 2, random(9)),
    }


def test_what_is_read_is_written_again_as_it_was(texts: dict[str, str]):
    for name, text in texts.items():
        document = json.loads(text)
        program = read(document)
        assert write(program) == json.loads(text), name
        assert not any(isinstance(node, tree.Opaque) for node in preorder(program)), name


def test_the_tree_shares_nothing_with_its_documents(texts: dict[str, str]):
    document = json.loads(texts["chained"])
    program = read(document)
    written_once = write(program)
    for value in (document, written_once):
        spoil(value)
    assert write(program) == json.loads(texts["chained"])


def spoil(value: Any) -> None:
    """Change everything below a JSON value, in place."""
    for inner in list(value.values() if isinstance(value, dict) else value):
        if isinstance(inner, dict | list):
            spoil(inner)
    value.clear()


def test_leaves_are_of_the_class_that_fits_them(texts: dict[str, str]):
    def kinds(name: str) -> set[type]:
        return {type(node) for node in preorder(read(json.loads(texts[name])))}

    assert {Statement, tree.Loop} <= kinds("matmul")
    assert {LibraryCall, Allocation, Reference, tree.Jump} & kinds("chained") >= {Allocation}
    assert {tree.While, tree.Branch, tree.Jump, tree.Assignments} <= kinds("searching")


def test_types_are_understood(texts: dict[str, str]):
    program = read(json.loads(texts["matmul"]))
    assert program.containers["A"] == Pointer(Scalar("double"))
    assert program.containers["_s0"] == Scalar("int64")
    assert (program.containers["A"].is_array, program.containers["A"].element) == (True, "double")
    memlets = [access.memlet for access in accesses(program) if access.container == "A"]
    assert memlets
    assert all(memlet and isinstance(memlet.type, Tensor) for memlet in memlets)


def test_accesses_and_symbols_of_a_loop(texts: dict[str, str]):
    program = read(json.loads(texts["gathered"]))
    (loop,) = (node for node in preorder(program) if isinstance(node, tree.Loop))
    arrays = {"A", "index", "B"}
    found = {(a.container, a.write) for a in accesses(loop) if a.container in arrays}
    assert found == {("A", False), ("index", False), ("B", True)}
    assert "B" in written(loop)
    assert {"i", "_s0"} <= symbols(loop)
    calls = [n for b in preorder(loop) if isinstance(b, Statement) for n in b.operations()]
    assert [n.op for n in calls if isinstance(n, MathsCall)] == ["cmath:sqrt"]


def test_what_is_not_known_is_kept(texts: dict[str, str]):
    document = json.loads(texts["rows prepared"])
    loop = document["root"]["children"][0]["root"]["children"][0]
    loop["prefetch"] = {"distance": 4}
    document["root"]["children"].append(
        {"type": "offload", "element_id": 5000, "debug_info": {}, "to": ["gpu"]}
    )
    document["containers"]["odd"] = {"type": "function", "storage_type": {}, "returns": [1]}
    document["version"] = [0, 9]
    program = read(copy.deepcopy(document))
    opaque = [node for node in preorder(program) if isinstance(node, tree.Opaque)]
    assert [node.kept.value for node in opaque] == [loop, document["root"]["children"][-1]]
    assert write(program) == document


def test_new_elements_and_copies_get_ids_of_their_own(texts: dict[str, str]):
    program = read(json.loads(texts["sweep"]))
    (loop,) = program.body.children
    assert isinstance(loop, tree.Loop)
    fresh = replace(loop, id=None, body=tree.Sequence((tree.Jump("break"),)))
    twice = replace(program, body=replace(program.body, children=(loop, loop, fresh)))
    document = write(twice.declaring(buffer=Array(Scalar("float"), loop.init)))
    assert document["containers"]["buffer"]["num_elements"] == "1"
    numbers: list[int] = []

    def visit(value: Any) -> None:
        if isinstance(value, dict):
            numbers.extend([value["element_id"]] if "element_id" in value else [])
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, dict | list):
                visit(inner)

    visit(document)
    assert len(numbers) == len(set(numbers))
    assert max(numbers) == document["element_counter"]
    again = read(document)
    assert [type(node) for node in preorder(again)] == [type(node) for node in preorder(twice)]
    first, second, _ = document["root"]["children"]
    assert first == json.loads(texts["sweep"])["root"]["children"][0]
    assert second != first


def test_programs_that_are_nested_too_deeply_are_refused(texts: dict[str, str]):
    for depth in (MAX_DEPTH + 1, 3000):
        document = json.loads(texts["sweep"])
        for number in range(depth):
            outer = {"type": "sequence", "element_id": 10**6 + number, "debug_info": {}}
            outer["debug_info"] = document["root"]["debug_info"]
            document["root"] = {**outer, "children": [document["root"]]}
        with pytest.raises(SdfgError, match="nested too deeply"):
            read(document)


ODD = (None, True, -1, 0, 10**30, 1.5, "", "i +", [], {}, [[]], {"type": "map"}, ["x"])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damage_is_refused_with_our_error_or_kept(texts: dict[str, str], data: st.DataObject):
    document = json.loads(texts[data.draw(st.sampled_from(sorted(texts)))])
    for _ in range(data.draw(st.integers(1, 3))):
        owner: Any = document
        while True:
            keys = list(owner) if isinstance(owner, dict) else list(range(len(owner)))
            key = data.draw(st.sampled_from(keys))
            if (
                not owner[key]
                or not isinstance(owner[key], dict | list)
                or data.draw(st.booleans())
            ):
                break
            owner = owner[key]
        if data.draw(st.booleans()):
            del owner[key]
        else:
            owner[key] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
        if not document:
            break
    expected = copy.deepcopy(document)
    try:
        program = read(document)
    except SdfgError:
        return
    assert program.counter >= expected["element_counter"]
    expected["element_counter"] = program.counter  # never less than an element's number
    assert write(program) == expected
    symbols(program)
    list(accesses(program))


def test_new_elements_get_numbers_of_their_own_whatever_the_document_says():
    document = json.loads(prepared(matmul, matmul_args()).to_json()) | {"element_counter": 0}
    program = read(document)
    numbers = [node.id or 0 for node in preorder(program) if isinstance(node, tree.Loop)]
    assert program.counter >= max(numbers)
    assert write(program)["element_counter"] == program.counter
