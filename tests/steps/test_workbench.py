"""Every step on a real nest: right numbers for all sizes, names as documented, refusals."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sdfg_kit import (
    bench_of,
    can_apply,
    check_recipe,
    doubled,
    matmul,
    matmul_args,
    pair,
    prepared,
    random,
    rows,
    sdfg_of,
    stepped,
    steps,
    sweep,
    waves,
)

from loopbook.errors import IllegalStepError
from loopbook.sdfg import program
from loopbook.steps import checked
from loopbook.steps.workbench import Workbench

BLOCKED = """
tile L0 4
tile L1 8
interchange L0 L1.tile
interchange L1 L2
interchange L0 L2
stage L2 A2 out
peel L0
vectorize L1*
unroll L0*
"""


def every_third(STEPS, A, B):
    for t in range(STEPS):
        for i in range(1, A.shape[0], 3):
            A[i] = A[i] * B[i] + A[i - 1] + t


def gates(h, W, z):
    for i in range(h.shape[0]):
        for j in range(4 * h.shape[1]):
            for k in range(h.shape[1]):
                z[4 * h.shape[1] * i + j] += h[i, k] * W[4 * h.shape[1] * k + j]


# docc leaves out loops that run once, so no size is 1. No size is a multiple of all tiles either.
MATRICES = [matmul_args(9, 10, 11), matmul_args(8, 16, 4), matmul_args(7, 7, 7)] + [
    matmul_args(m, n, k) for m, n, k in ((5, 17, 3), (13, 7, 33), (3, 31, 2))
]
TABLES = [[random(m, n), random(m, n)] for m, n in ((9, 10), (2, 3), (8, 32), (5, 67), (3, 31))]
SQUARES = [[random(m, n)] for m, n in ((9, 10), (3, 2), (12, 5), (2, 7), (33, 8))]
ROWS = [[random(m, n), random(n, n), random(n)] for m, n in ((6, 8), (3, 2), (5, 17), (7, 3))]
LINES = [[3, random(n), random(n)] for n in (30, 2, 8, 9, 17, 41)]

GATES = [[random(m, n), random(4 * n * n), random(4 * n * m)] for m, n in ((9, 5), (4, 7), (3, 2))]

RECIPES = {
    "tile": (matmul, MATRICES, "tile L0 4\ntile L1 8\ntile L2 3"),
    "tile with a step": (every_third, LINES, "tile L1 3\ntile L1 2"),
    "peel with a step": (every_third, LINES, "tile L1 3\npeel L1\nunroll L1*"),
    "peel tiles of tiles with a step": (every_third, LINES, "tile L1 5\ntile L1 2\npeel L1.tile2"),
    "interchange": (matmul, MATRICES, "interchange L1 L2"),
    "skew": (sweep, SQUARES, "skew L0 L1 1\ninterchange L0 L1"),
    "distribute": (rows, ROWS, "fuse L1 L2\ndistribute L1"),
    "fuse": (rows, ROWS, "fuse L1 L2"),
    "fuse_tiles": (pair, LINES, "tile L1 8\ntile L2 8\nfuse_tiles L1.tile L2.tile"),
    "collapse": (matmul, MATRICES, "collapse L0 2"),
    "peel": (doubled, TABLES, "tile L1 4\npeel L1\nunroll L1"),
    "peel over tiles": (doubled, TABLES, "tile L1 8\ntile L1 3\npeel L1.tile2\npeel L1*"),
    "peel with a predicate": (doubled, TABLES, "tile L1 4\npeel L1 predicate"),
    "stage in": (
        matmul,
        MATRICES,
        "tile L0 4\ntile L1 8\ninterchange L0 L1.tile\ninterchange L1 L2\n"
        "interchange L0 L2\nstage L0 A1 in",
    ),
    "stage out": (matmul, MATRICES, BLOCKED),
    "stage out of rows of four times a size": (gates, GATES, BLOCKED),
    "stage in of rows of four times a size": (gates, GATES, "tile L2 8\nstage L2 A1 in"),
    "stage in tiles of tiles": (matmul, MATRICES, "tile L2 8\ntile L2 3\nstage L2.tile2 A0 in"),
    "stage out of tiles of tiles": (doubled, TABLES, "tile L1 8\ntile L1 3\nstage L1.tile2 A1"),
    "buffer for tiles of tiles": (
        matmul,
        MATRICES,
        "tile L0 4\ntile L2 8\ninterchange L0 L1\ninterchange L0 L2.tile\ntile L2 3\n"
        "buffer L0 L0 L2",
    ),
    "stage": (matmul, MATRICES, "tile L2 8\nstage L2 A1 auto"),
    "vectorize": (matmul, MATRICES, "interchange L1 L2\nvectorize L1"),
    "unroll": (doubled, TABLES, "tile L0 4\npeel L0\nunroll L0*"),
}


@pytest.mark.parametrize("name", RECIPES)
def test_numbers_are_right_for_every_size(name: str, tmp_path):
    kernel, cases, text = RECIPES[name]
    check_recipe(kernel, cases, steps(text), tmp_path)


def test_parallel_numbers_are_right(tmp_path):
    check_recipe(matmul, MATRICES, steps(BLOCKED + "parallel L0.tile"), tmp_path, "openmp")


@pytest.mark.parametrize(
    ("kernel", "args", "text", "names"),
    [
        (matmul, matmul_args(), "tile L1 8", "L0 L1.tile L1 L2"),
        (matmul, matmul_args(), "tile L1 8\ntile L1 4", "L0 L1.tile L1.tile2 L1 L2"),
        (matmul, matmul_args(), "interchange L0 L1", "L1 L0 L2"),
        (matmul, matmul_args(), "collapse L0 2", "L0.flat L2"),
        (doubled, TABLES[0], "tile L0 4\npeel L0", "L0.tile L0 L1 L0.rest L1.rest"),
        (rows, ROWS[0], "fuse L1 L2", "L0 L1 L3 L4"),
        (rows, ROWS[0], "fuse L1 L2\ndistribute L1", "L0 L1 L1.part1 L3 L4"),
        (
            pair,
            LINES[0],
            "tile L1 8\ntile L2 8\nfuse_tiles L1.tile L2.tile",
            "L0 L1.tile.fused L1 L2",
        ),
        (
            matmul,
            matmul_args(),
            BLOCKED,
            "L0.tile L1.tile L2.load L2.load1 L2 L0 L1 L0.rest L1.rest L2.store L2.store1",
        ),
    ],
)
def test_loops_are_named_as_documented(kernel, args, text: str, names: str):
    bench = bench_of(kernel, args)
    for op, arguments in steps(text):
        before = set(bench.names)
        bench.apply(op, arguments)
        made = [re.sub(r"\d*$", "", name) for name in bench.names if name not in before]
        told = checked(op, arguments).made()
        assert all(name in told or f"*.{name.split('.')[-1]}" in told for name in made)
    assert list(bench.names) == names.split()
    ids = list(bench.names.values())
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("tile L9 4", 0, "there is no loop L9, only L0, L1, L2"),
        ("tile L0 4\nvectorize L7*", 1, "there is no loop L7"),
        ("tile L0 4\ntile L1 4\nstage L2 A9 in", 2, "there is no container A9"),
        ("melt L0", 0, "unknown step melt"),
        ("tile L0", 0, "needs a size"),
        ("tile L0 4 4", 0, "takes 2 arguments, not 3"),
        ("tile L0 many", 0, "many"),
        ("interchange L0 L2", 0, "is not all that the first one holds"),
        ("unroll L2", 0, "L2 does not always run equally often"),
        ("parallel L2", 0, "L2 is no parallel loop"),
        ("peel L0", 0, "runs through no tile"),
        ("tile L0 0", 0, "size of 2 or more"),
        ("interchange L0* L1*", 0, "only one name"),
    ],
)
def test_illegal_steps_say_which_and_why(text: str, position: int, message: str):
    sdfg = prepared(matmul, matmul_args())
    with pytest.raises(IllegalStepError, match=re.escape(message)) as caught:
        stepped(sdfg, program.nests(sdfg)[0], steps(text))
    assert caught.value.position == position
    assert str(caught.value).startswith(f"step {position + 1}: ")
    assert "\n" not in str(caught.value)


def test_what_is_found_by_an_index_array_is_not_staged():
    """docc itself allows it, copies one element, and reads past it."""

    def gathered(x, p, y):
        for i in range(y.shape[0]):
            y[i] = 0.5 * x[p[i]]

    args = [random(50), np.arange(50)[::-1].copy(), random(50)]
    sdfg = prepared(gathered, args)
    nest = program.nests(sdfg)[0]
    names = {container.data: container.name for container in nest.arrays}
    bench = Workbench(program.tree_of(sdfg), nest)
    bench.apply("tile", ("L0", 8))
    assert not can_apply(bench, "stage", ("L0", names["x"], "in"))
    assert can_apply(bench, "stage", ("L0", names["p"], "in"))


@pytest.mark.parametrize("text", ["tile L0 4", "peel L0", "unroll L0", "tile L1 2"])
def test_what_may_be_left_early_is_left_alone(text: str):
    """docc itself tiles such a loop: its break leaves one tile, and the next one runs."""

    def found(a, b):
        for i in range(a.shape[0]):
            for j in range(b.shape[0]):
                b[j] += a[i]
            if a[i] > 0.5:
                for j in range(b.shape[0]):
                    b[j] += 1.0
                break

    def inner(a, b):
        for i in range(a.shape[0]):
            for j in range(b.shape[0]):
                if a[i] > b[j]:
                    break
                b[j] = a[i]

    kernel = inner if "L1" in text else found
    sdfg = prepared(kernel, [random(50), random(50)])
    with pytest.raises(IllegalStepError, match="may be left early"):
        stepped(sdfg, program.nests(sdfg)[0], steps(text))


def test_a_refused_step_changes_nothing():
    sdfg = prepared(sweep, [random(9, 9)])
    bench = Workbench(program.tree_of(sdfg), program.nests(sdfg)[0])
    before = sdfg_of(bench).to_cpp()
    assert not can_apply(bench, "parallel", ("L0",))
    with pytest.raises(IllegalStepError):
        bench.apply("parallel", ("L0",))
    assert list(bench.names) == ["L0", "L1"]
    assert sdfg_of(bench).to_cpp() == before


def test_tiles_that_overwrite_each_others_input_are_not_fused():
    """docc itself allows this one, and computes something else."""
    bench = bench_of(waves, [3, random(30), random(30)])
    bench.apply("tile", ("L1", 8))
    bench.apply("tile", ("L2", 8))
    assert not can_apply(bench, "fuse_tiles", ("L1.tile", "L2.tile"))
    with pytest.raises(IllegalStepError, match=r"writes what others of the first need"):
        bench.apply("fuse_tiles", ("L1.tile", "L2.tile"))


def test_steps_of_one_nest_leave_the_others_alone():
    def two(A, B):
        for i in range(A.shape[0]):
            A[i] = A[i] * 2.0
        for j in range(B.shape[0]):
            for k in range(B.shape[1]):
                B[j, k] = B[j, k] + 1.0

    sdfg = prepared(two, [random(9), random(8, 7)])
    first, second = program.nests(sdfg)
    bench = stepped(sdfg, second, steps("tile L0 4\ninterchange L0 L1"))
    after = program.nests(sdfg_of(bench))
    assert after[0].canonical == first.canonical
    assert len(after[1].loops) == 3
