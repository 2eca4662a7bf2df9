"""The nest graph: what it holds, and what it must not depend on."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopbook.embed.corpus import trace_kernels
from loopbook.embed.graph import (
    FEATURES,
    KINDS,
    RELATION_GROUP,
    RELATIONS,
    WIDTH,
    NestGraph,
    nest_graph,
    side_by_side,
)
from loopbook.embed.inference import Encoder
from loopbook.embed.kernels import Kernel
from loopbook.embed.variants import renamed
from loopbook.program.nest import Nest
from loopbook.program.nests import read_nests

from . import kit
from .kit import kernel_of

PRODUCT = kernel_of(
    "def kernel(A, B, C):\n"
    "    for i in range(A.shape[0]):\n"
    "        for j in range(B.shape[1]):\n"
    "            for k in range(A.shape[1]):\n"
    "                C[i, j] += A[i, k] * B[k, j]\n",
    ((11, 17), (17, 13), (11, 13)),
)


def nests_of(*sources: Kernel) -> list[Nest]:
    return [n for d in trace_kernels(sources) for n in read_nests(json.loads(d.text))]


@pytest.fixture(scope="module")
def documents() -> list[dict]:
    """One kernel of each family, as SDFG documents."""
    return [json.loads(d.text) for d in kit.documents(variants=1)]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


def relation_names(graph: NestGraph, source: int, target: int) -> set[str]:
    chosen = (graph.source == source) & (graph.target == target)
    return {RELATIONS[r] for r in graph.relation[chosen]}


def test_product_has_its_loops_accesses_and_strides() -> None:
    (nest,) = nests_of(PRODUCT)
    graph = nest_graph(nest)
    assert graph.features.shape == (graph.nodes, WIDTH)
    assert graph.features.dtype == np.float32
    counts = dict(zip(KINDS, np.bincount(graph.kind, minlength=len(KINDS)), strict=True))
    assert counts["loop"] == 3
    assert counts["access"] == len(nest.accesses)
    assert counts["container"] == len(nest.containers)
    assert [KINDS[graph.kind[node]] for node in graph.loops] == ["loop"] * 3
    assert len(graph.containers) == len(nest.arrays) == 3
    start = int(np.flatnonzero(graph.kind == KINDS.index("access"))[0])
    read = next(a for a in nest.accesses if nest.containers[a.container].data == "A")
    i, j, k = (next(x.index for x in nest.loops if x.indvar == name) for name in "ijk")
    assert relation_names(graph, start + read.index, i) == {"moves symbolic-0"}
    assert relation_names(graph, start + read.index, j) == {"moves zero"}
    assert relation_names(graph, k, start + read.index) == {"moved unit"}
    assert relation_names(graph, 0, 1) == {"contains"}
    assert relation_names(graph, 1, 0) == {"inside"}


def test_longer_strides_of_an_array_differ_from_shorter_ones() -> None:
    source = (
        "def kernel(A, B):\n"
        "    for i in range(A.shape[0]):\n"
        "        for j in range(A.shape[1]):\n"
        "            for k in range(A.shape[2]):\n"
        "                B[i, j, k] = A[i, j, k] + 1.0\n"
    )
    (nest,) = nests_of(kernel_of(source, ((5, 6, 7), (5, 6, 7))))
    graph = nest_graph(nest)
    start = int(np.flatnonzero(graph.kind == KINDS.index("access"))[0])
    read = next(a for a in nest.accesses if a.subset and not a.write)
    strides = [relation_names(graph, start + read.index, loop) for loop in range(3)]
    assert strides == [{"moves symbolic-1"}, {"moves symbolic-0"}, {"moves unit"}]


def test_bounds_lead_from_the_loop_that_decides_them() -> None:
    source = (
        "def kernel(A):\n"
        "    for i in range(A.shape[0]):\n"
        "        for j in range(i):\n"
        "            A[i, j] = A[i, j] * 2.0\n"
    )
    (nest,) = nests_of(kernel_of(source, ((11, 11),)))
    graph = nest_graph(nest)
    assert "bounds" in relation_names(graph, 0, 1)
    assert "bounded by" in relation_names(graph, 1, 0)


def test_a_stencil_shows_its_neighbourhood() -> None:
    source = (
        "def kernel(A, B):\n"
        "    for i in range(1, A.shape[0] - 1):\n"
        "        for j in range(1, A.shape[1] - 1):\n"
        "            B[i, j] = A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i - 1, j]\n"
    )
    (nest,) = nests_of(kernel_of(source, ((11, 13), (11, 13))))
    graph = nest_graph(nest)
    node = dict(zip((a.data for a in nest.arrays), graph.containers, strict=True))["A"]
    row = graph.features[node]
    assert row[FEATURES.index("container places")] == pytest.approx(np.log1p(4))
    assert row[FEATURES.index("container rows")] == pytest.approx(np.log1p(2))


def test_side_by_side_keeps_the_parts_apart(documents: list[dict]) -> None:
    graphs = [nest_graph(nest) for document in documents for nest in read_nests(document)]
    whole = side_by_side(graphs)
    assert whole.count == len(graphs)
    assert whole.nodes == sum(graph.nodes for graph in graphs)
    assert (whole.owner[whole.source] == whole.owner[whole.target]).all()
    assert (np.diff(whole.owner) >= 0).all()
    assert len(whole.loops) == sum(len(graph.loops) for graph in graphs)


def test_every_relation_has_a_group() -> None:
    assert len(RELATION_GROUP) == len(RELATIONS)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), which=st.integers(0, 20))
def test_names_ids_and_key_order_do_not_matter(
    documents: list[dict], encoder: Encoder, seed: int, which: int
) -> None:
    document = documents[which % len(documents)]
    changed = renamed(document, random.Random(seed))
    assert changed.keys() == document.keys()
    assert not set(changed["containers"]) & set(document["containers"])
    before, after = read_nests(document), read_nests(changed)
    assert [n.fingerprint for n in before] == [n.fingerprint for n in after]
    for a, b in zip(encoder.encode_many(before), encoder.encode_many(after), strict=True):
        np.testing.assert_allclose(a.nest, b.nest, atol=1e-6)
        np.testing.assert_allclose(a.loops, b.loops, atol=1e-6)
        np.testing.assert_allclose(a.containers, b.containers, atol=1e-6)
        assert a.loop_names == b.loop_names
        assert a.container_names == b.container_names
