"""Nests and fingerprints depend on what a program computes, not on how it is written down."""

from __future__ import annotations

import ast
import importlib.util
import json
import random as pseudo
from pathlib import Path
from typing import Any

import pytest
from sdfg_kit import matmul, matmul_args, nests_of, prepared, random, sweep, waves

from loopbook.program.accesses import accesses
from loopbook.program.nest import Nest
from loopbook.program.nests import read_nests
from loopbook.sdfg import frontend, program
from loopbook.workloads import polybench

KERNELS = (
    "gemm",
    "2mm",
    "syrk",
    "syr2k",
    "jacobi-2d",
    "heat-3d",
    "deriche",
    "symm",
    "gesummv",
    "lu",
)


class Renaming(ast.NodeTransformer):
    """Gives the arguments and variables of a function names that sort the other way round."""

    def __init__(self, function: ast.FunctionDef) -> None:
        stored = {
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        own = sorted(stored | {argument.arg for argument in function.args.args}, reverse=True)
        self._names = {name: f"q{number:02}x" for number, name in enumerate(own)}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._names[node.arg]
        return node


def renamed_kernel(path: Path, folder: Path) -> Any:
    tree = ast.parse(path.read_text())
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "kernel":
            Renaming(statement).visit(statement)
    copy = folder / f"renamed_{path.name}"
    copy.write_text(ast.unparse(tree))
    spec = importlib.util.spec_from_file_location(copy.stem, copy)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


@pytest.mark.parametrize("name", KERNELS)
def test_renaming_a_kernels_variables_keeps_nests_as_they_are(name: str, tmp_path):
    workload = polybench.load(name)
    args = workload.arguments("MINI")
    nests = nests_of(workload.kernel, args)
    others = nests_of(renamed_kernel(workload.path, tmp_path), args)
    assert [nest.canonical for nest in others] == [nest.canonical for nest in nests]
    assert [nest.fingerprint for nest in others] == [nest.fingerprint for nest in nests]
    # Recipes speak of containers by canonical name, so these must be handed out alike too.
    shapes = [[(a.name, a.dtype, a.written) for a in nest.arrays] for nest in nests]
    assert shapes == [[(a.name, a.dtype, a.written) for a in nest.arrays] for nest in others]


def test_sizes_do_not_matter():
    small, large = (nests_of(matmul, matmul_args(*sizes))[0] for sizes in ((4, 5, 6), (40, 7, 9)))
    assert small.fingerprint == large.fingerprint


def test_different_kernels_have_different_fingerprints():
    seen: dict[str, str] = {}
    for name in ("gemm", "trmm", "syrk", "jacobi-2d", "heat-3d", "seidel-2d", "lu", "cholesky"):
        workload = polybench.load(name)
        nests = nests_of(workload.kernel, workload.arguments("MINI"))
        heaviest = max(nests, key=lambda nest: len(nest.loops))
        assert seen.setdefault(heaviest.fingerprint, name) == name


def product_other_way(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[j, k]


def product_subtracted(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] -= A[i, k] * B[k, j]


def test_indices_operations_and_types_matter():
    squares = [random(7, 7), random(7, 7), random(7, 7)]
    singles = [value.astype("float32") for value in squares]
    nests = [
        nests_of(matmul, squares)[0],
        nests_of(product_other_way, squares)[0],
        nests_of(product_subtracted, squares)[0],
        nests_of(matmul, singles)[0],
    ]
    assert len({nest.fingerprint for nest in nests}) == len(nests)


def shifted(value: Any, by: int) -> Any:
    """A document with other element ids."""
    if isinstance(value, dict):
        return {
            key: inner + by
            if key in ("element_id", "src", "dst") and isinstance(inner, int)
            else shifted(inner, by)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [shifted(inner, by) for inner in value]
    return value


def shuffled(value: Any, chance: pseudo.Random) -> Any:
    """A document with its keys, and the nodes and edges of its dataflow, in another order."""
    if isinstance(value, dict):
        items = [(key, shuffled(inner, chance)) for key, inner in value.items()]
        chance.shuffle(items)
        for key, inner in items:
            if key in ("nodes", "edges"):
                chance.shuffle(inner)
        return dict(items)
    if isinstance(value, list):
        return [shuffled(inner, chance) for inner in value]
    return value


@pytest.mark.parametrize("name", KERNELS)
def test_element_ids_and_order_in_the_file_do_not_matter(name: str):
    workload = polybench.load(name)
    document = json.loads(prepared(workload.kernel, workload.arguments("MINI")).to_json())
    expected = [as_read(nest) for nest in read_nests(document)]
    for seed in range(5):
        changed = shuffled(shifted(document, 1000 * seed), pseudo.Random(seed))
        assert [as_read(nest) for nest in read_nests(changed)] == expected


def as_read(nest: Nest) -> tuple[str, list[str], list[str]]:
    """A nest's canonical form, what it names in which order, and what steps meet in which order:
    two arrays may change places in the first, but recipes name only one of them."""
    names = [container.data for container in nest.containers]
    return nest.canonical, names, [access.container for access in accesses(nest.loop)]


def test_loops_and_containers_are_named_in_order():
    nest = nests_of(matmul, matmul_args())[0]
    assert [loop.name for loop in nest.loops] == ["L0", "L1", "L2"]
    assert [loop.depth for loop in nest.loops] == [0, 1, 2]
    assert [loop.kind for loop in nest.loops] == ["map", "map", "reduce"]
    assert [(array.name, array.data, array.written) for array in nest.arrays] == [
        ("A0", "A", False),
        ("A1", "B", False),
        ("A2", "C", True),
    ]
    assert nest.arrays[0].dtype == "double"


def test_strides_say_how_each_loop_moves_an_access():
    nest = nests_of(matmul, matmul_args())[0]
    names = {container.index: container.data for container in nest.containers}
    strides = {names[a.container]: a.strides for a in nest.accesses if a.subset}
    zero, unit, symbolic = 0, 1, 3
    assert strides["A"] == (symbolic, zero, unit)
    assert strides["B"] == (zero, unit, symbolic)
    assert strides["C"] == (symbolic, unit, zero)


def test_loops_around_loops_are_one_nest():
    nests = nests_of(waves, [4, random(20), random(20)])
    assert len(nests) == 1
    assert [loop.parent for loop in nests[0].loops] == [-1, 0, 0]
    assert nests[0].children(0) == nests[0].loops[1:]


def test_a_cut_nest_is_the_same_nest():
    sdfg = prepared(sweep, [random(8, 8)])
    nest = program.nests(sdfg)[0]
    alone = program.nests(program.parse(program.cut(sdfg, nest)))
    assert [n.fingerprint for n in alone] == [nest.fingerprint]


def test_prepared_text_is_prepared_once():
    sdfg = prepared(matmul, matmul_args())
    text = sdfg.to_json()
    again = program.prepare(text)
    assert [n.canonical for n in program.nests(again)] == [n.canonical for n in program.nests(sdfg)]


def test_traced_text_names_no_tests(tmp_path):
    sdfg = prepared(matmul, matmul_args())
    assert "sdfg_kit" not in program.cut(sdfg, program.nests(sdfg)[0])
    assert frontend.trace(matmul, matmul_args())
