"""Variants of documents: changed as they say, and still SDFGs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from loopbook.embed import variants
from loopbook.embed.corpus import (
    access_pattern,
    nest_classes,
    polybench_documents,
    trace_kernels,
)
from loopbook.embed.kernels import Kernel, kernels
from loopbook.program.nest import Bound, Nest
from loopbook.program.nests import read_nests
from loopbook.workloads.synthetic import FAMILIES

from . import kit
from .kit import kernel_of

ORDERS = ("ijk", "kji", "jki")


def product(order: str, b: str = "k, j") -> Kernel:
    extents = {"i": "C.shape[0]", "j": "C.shape[1]", "k": "D.shape[0]"}
    lines = ["def kernel(A, B, C, D):"]
    for depth, index in enumerate(order, 1):
        lines.append("    " * depth + f"for {index} in range({extents[index]}):")
    lines.append("    " * 4 + f"C[i, j] += A[i, k] * B[{b}] + D[k]")
    return kernel_of("\n".join(lines) + "\n", ((9, 9), (9, 9), (9, 9), (9,)), "product")


def traced(kernel: Kernel) -> dict:
    (document,) = trace_kernels([kernel])
    return json.loads(document.text)


@pytest.fixture(scope="module")
def document() -> dict:
    return traced(product("ijk"))


def only_nest(document: dict) -> Nest:
    (nest,) = read_nests(document)
    return nest


def test_retyped_exchanges_precisions(document: dict) -> None:
    single = variants.retyped(document)
    assert {a.dtype for a in only_nest(document).arrays} == {"double"}
    assert {a.dtype for a in only_nest(single).arrays} == {"float"}
    assert {o.dtype for o in only_nest(single).operations} == {"float"}
    assert variants.retyped(single) == document


def test_resized_makes_bounds_constant(document: dict) -> None:
    nest = only_nest(variants.resized(document, random.Random(1)))
    assert {loop.bound for loop in only_nest(document).loops} == {Bound.SYMBOLIC}
    assert Bound.CONSTANT in {loop.bound for loop in nest.loops}
    assert all(loop.trip for loop in nest.loops if loop.bound == Bound.CONSTANT)


def test_permuted_reaches_every_order(document: dict) -> None:
    rng = random.Random(0)
    orders = set()
    for _ in range(60):
        nest = only_nest(variants.permuted(document, rng))
        orders.add("".join(loop.indvar for loop in nest.loops))
        assert len(nest.accesses) == len(only_nest(document).accesses)
    assert len(orders) == 6


def test_permuted_leaves_triangles_alone() -> None:
    source = (
        "def kernel(A):\n"
        "    for i in range(A.shape[0]):\n"
        "        for j in range(i):\n"
        "            A[i, j] = A[i, j] * 2.0\n"
    )
    triangle = traced(kernel_of(source, ((11, 11),)))
    for seed in range(10):
        assert variants.permuted(triangle, random.Random(seed)) == triangle


def test_reordered_keeps_what_is_read_and_written(document: dict) -> None:
    def accesses(document: dict) -> list[tuple]:
        nest = only_nest(document)
        names = {c.index: c.data for c in nest.containers}
        return sorted((names[a.container], a.write, a.subset) for a in nest.accesses)

    changed = [variants.reordered(document, random.Random(seed)) for seed in range(8)]
    assert all(accesses(other) == accesses(document) for other in changed)
    assert len({json.dumps(other) for other in changed}) > 1


@pytest.mark.parametrize(
    "change",
    [
        variants.renamed,
        lambda document, rng: variants.retyped(document),
        variants.resized,
        variants.reordered,
        variants.permuted,
        variants.random_variant,
    ],
)
def test_docc_still_reads_them(
    document: dict, change: Callable[[dict, random.Random], dict]
) -> None:
    from loopbook.sdfg.passes import parse

    before = json.dumps(document)
    for seed in range(3):
        parse(json.dumps(change(document, random.Random(seed))))
    assert json.dumps(document) == before, "the original must stay as it is"


def test_generated_kernels_are_the_same_for_the_same_seed() -> None:
    first = list(kernels(seed=3, classes=22, variants=3))
    assert first == list(kernels(seed=3, classes=22, variants=3))
    assert first != list(kernels(seed=4, classes=22, variants=3))
    assert len({kernel.label for kernel in first}) == 22
    assert {kernel.family.partition(".")[0] for kernel in first} == set(FAMILIES)
    assert len({kernel.source for kernel in first}) > 44


def test_classes_join_variants_and_keep_others_apart() -> None:
    documents = kit.documents(classes=8)
    classes = nest_classes(documents, seed=0, views=2)
    assert len({c.name for c in classes}) == len(classes)
    for nest_class in classes:
        assert len(nest_class.views) >= 3
        for view in nest_class.views:
            assert len(view.loop_parts) == len(view.graph.loops)
            assert len(view.container_parts) == len(view.graph.containers)


def test_access_pattern_ignores_layout_and_order_only() -> None:
    def text(order: str, b: str) -> str:
        return access_pattern(only_nest(traced(product(order, b))))

    assert text("ijk", "k, j") == text("ijk", "j, k") == text("ikj", "k, j")
    assert text("ijk", "k, j") != text("ijk", "i, k")


def test_polybench_has_the_access_pattern_of_synthetic_work() -> None:
    (gemm,) = polybench_documents("gemm")
    assert gemm.label == "polybench gemm"
    plain = "".join(
        [
            "def kernel(A, B, C):\n",
            "    for i in range(C.shape[0]):\n",
            "        for j in range(C.shape[1]):\n",
            "            for k in range(A.shape[1]):\n",
            "                C[i, j] += A[i, k] * B[j, k]\n",
        ]
    )
    product = only_nest(traced(kernel_of(plain, ((9, 9), (9, 9), (9, 9)))))
    patterns = [access_pattern(nest) for nest in read_nests(json.loads(gemm.text))]
    assert access_pattern(product) in patterns
