"""Canonical forms: the same for the same work, whoever wrote it, another for other work."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import otherhand
from loopbook.embed.corpus import trace_kernels
from loopbook.embed.graph import canonical_graph, signature
from loopbook.embed.variants import renamed
from loopbook.program.canonical_form import canonical_form
from loopbook.program.nest import Nest
from loopbook.program.nests import read_nests

from ..embed import kit
from ..embed.kit import kernel_of

SQUARE = (13, 13)
SAME = [
    ("atax", "permuted"),
    ("doitgen", "temporaries"),
    ("doitgen", "vectors"),
    ("floyd-warshall", "permuted"),
    ("floyd-warshall", "swapped"),
    ("gemm", "permuted"),
    ("gemm", "temporaries"),
    ("gemm", "vectors"),
    ("gesummv", "permuted"),
    ("jacobi-2d", "permuted"),
    ("jacobi-2d", "temporaries"),
    ("jacobi-2d", "vectors"),
    ("mvt", "permuted"),
    ("mvt", "temporaries"),
    ("mvt", "vectors"),
    ("seidel-2d", "shifted"),
    ("seidel-2d", "temporaries"),
    ("seidel-2d", "swapped"),
    ("syrk", "permuted"),
    ("syrk", "temporaries"),
    ("trmm", "permuted"),
    ("trmm", "temporaries"),
]
"""Kernels of PolyBench and other forms of theirs that do the same with the same layout."""


def nests_of(source: str, shapes: Sequence[tuple[int, ...]]) -> list[Nest]:
    (document,) = trace_kernels([kernel_of(source, shapes)])
    return read_nests(json.loads(document.text))


def mark(nest: Nest) -> str:
    return signature(canonical_graph(nest))


def marks_of(document: dict) -> list[str]:
    return sorted(mark(nest) for nest in read_nests(document))


@pytest.mark.parametrize(("kernel", "form"), SAME)
def test_another_hand_writes_the_same_canonical_form(kernel: str, form: str) -> None:
    assert mark_of(kernel, "kernel") == mark_of(kernel, form)


@cache
def mark_of(kernel: str, form: str) -> str:
    path = otherhand.files()[kernel]
    nest = otherhand.principal(otherhand.forms(path)[form], otherhand.arguments(path, form))
    return mark(nest)


def test_transposed_operands_are_another_form() -> None:
    text = (
        "def kernel(A, B, C):\n    for i in range(13):\n        for j in range(13):\n"
        "            for k in range(13):\n                C[i, j] += A[i, k] * B[{}]\n"
    )
    shapes = (SQUARE,) * 3
    (plain,), (turned,) = (
        nests_of(text.format("k, j"), shapes),
        nests_of(text.format("j, k"), shapes),
    )
    assert mark(plain) != mark(turned)


def test_a_sum_in_a_scalar_is_kept_where_it_is_stored() -> None:
    (nest,) = nests_of(
        "def kernel(A, x, y):\n    for i in range(11):\n        total = 0.0\n"
        "        for j in range(13):\n            total += A[i, j] * x[j]\n"
        "        y[i] = 0.5 * total\n",
        ((11, 13), (13,), (11,)),
    )
    short = canonical_form(nest)
    assert [loop.kind for loop in short.loops] == ["map", "reduce"]
    assert {c.data for c in short.containers} == {"A", "x", "y"}
    assert all(access.subset for access in short.accesses)
    assert len(short.blocks) == 1


def test_what_is_carried_from_one_iteration_to_the_next_stays_a_scalar() -> None:
    (nest,) = nests_of(
        "def kernel(x, y):\n    last = 0.5\n    for i in range(40):\n"
        "        y[i] = x[i] - last\n        last = last + x[i] * y[i]\n",
        ((40,), (40,)),
    )
    assert "last" in {c.data for c in canonical_form(nest).containers}


def test_a_value_that_a_branch_may_have_set_stays_a_scalar() -> None:
    (nest,) = nests_of(
        "def kernel(x, y):\n    for i in range(40):\n        top = 1.0\n"
        "        if x[i] > 0.5:\n            top = x[i]\n        y[i] = top * y[i]\n",
        ((40,), (40,)),
    )
    short = canonical_form(nest)
    assert short.branches
    assert "top" in {c.data for c in short.containers}


def test_a_chain_of_copies_ends_where_it_is_read() -> None:
    source = (
        "def kernel(A, B, s, t):\n    for i in range(11):\n        for j in range(13):\n"
        "            s[j] = A[i, j] + 1.0\n        for k in range(13):\n            t[k] = s[k]\n"
        "        for m in range(13):\n            B[i, m] = t[m]\n"
    )
    short = [canonical_form(nest) for nest in nests_of(source, ((11, 13), (11, 13), (13,), (13,)))]
    filled = next(n for n in short if any(c.data == "A" for c in n.containers))
    assert {c.data for c in filled.containers} == {"A", "B"}
    assert len(filled.loops) == 2


@pytest.fixture(scope="module")
def documents() -> list[dict]:
    """One kernel of each family, as SDFG documents."""
    return [json.loads(d.text) for d in kit.documents(variants=1)]


@pytest.fixture(scope="module")
def marks(documents: list[dict]) -> list[list[str]]:
    return [marks_of(document) for document in documents]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), which=st.integers(0, 20))
def test_names_and_the_order_of_nested_loops_do_not_matter(
    documents: list[dict], marks: list[list[str]], seed: int, which: int
) -> None:
    which, rng = which % len(documents), random.Random(seed)
    assert marks_of(renamed(documents[which], rng)) == marks[which]


def test_every_canonical_form_is_a_whole_nest(documents: list[dict]) -> None:
    for document in documents:
        for nest in (canonical_form(nest) for nest in read_nests(document)):
            assert [loop.index for loop in nest.loops] == list(range(len(nest.loops)))
            assert all(loop.parent < loop.index for loop in nest.loops)
            assert nest.operations
            for access in nest.accesses:
                around = nest.ancestry(nest.blocks[access.block].parent)
                assert len(access.strides) == len(around)
                assert nest.operations[access.operation].block == access.block
            inside = {child for _, child in nest.contains}
            assert inside >= {("block", b.index) for b in nest.blocks}
            assert inside >= {("operation", o.index) for o in nest.operations}
