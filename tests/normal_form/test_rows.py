"""Neighbouring loops over the same rows become one loop, and compute the same, exactly."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sdfg_kit import check_library, function_in, prepared_text, random

from loopbook.errors import SdfgError
from loopbook.interpreter import Interpreted
from loopbook.normal_form.rows import row_by_row
from loopbook.program import walk
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.read import read
from loopbook.program.tree import Loop, Program
from loopbook.sdfg import program as sdfg_program
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.rows import with_rows

ROWS, COLUMNS = 6, 5


def centred(A, B):
    s = np.empty(6)
    T = np.empty((6, 5))
    for i in range(6):
        s[i] = 0.0
        for j in range(5):
            s[i] += A[i, j]
    for i in range(6):
        for j in range(5):
            T[i, j] = A[i, j] - s[i]
    for i in range(6):
        for j in range(1, 5):
            B[i, j] = T[i, j] * T[i, j - 1]


def centred_in_blocks(A, B):
    s = np.empty((2, 3))
    T = np.empty((2, 3, 5))
    for b in range(2):
        for i in range(3):
            s[b, i] = 0.0
            for j in range(5):
                s[b, i] += A[3 * b + i, j]
    for b in range(2):
        for i in range(3):
            for j in range(5):
                T[b, i, j] = A[3 * b + i, j] - s[b, i]
    for b in range(2):
        for i in range(3):
            for j in range(1, 5):
                B[3 * b + i, j] = T[b, i, j] + T[b, i, j - 1]


def reads_the_next_row(A, B):
    T = np.empty((6, 5))
    for i in range(6):
        for j in range(5):
            T[i, j] = A[i, j] * 2.0
    for i in range(5):
        for j in range(5):
            B[i, j] = T[i + 1, j] + T[i + 1, 4 - j]


def reads_the_row_before(A, B):
    T = np.empty((6, 5))
    for i in range(6):
        for j in range(5):
            T[i, j] = A[i, j] * 2.0
    for i in range(6):
        for j in range(5):
            if i > 0:
                B[i, j] = T[i - 1, j] + T[i, 4 - j]


def turned(A, B):
    T = np.empty((5, 6))
    for i in range(6):
        for j in range(5):
            T[j, i] = A[i, j] * 3.0
    for i in range(5):
        for j in range(6):
            B[j, i] = T[i, j] * T[i, 5 - j]


def added_up_over_time(A, B):
    T = np.empty((6, 5))
    for i in range(6):
        for j in range(5):
            T[i, j] = 0.0
    for t in range(3):
        for i in range(6):
            for j in range(5):
                T[i, j] = T[i, j] + A[i, j] * t
        for i in range(6):
            for j in range(5):
                B[i, j] = T[i, j] * T[i, 4 - j]


def overlapping(A, B):
    t = np.empty(32)
    for i in range(6):
        for j in range(5):
            t[4 * i + j] = A[i, j] * 2.0
        for j in range(5):
            B[i, j] = t[4 * i + j] * t[4 * i]


def across_memory(A, B):
    m = np.empty(5)
    s = np.empty(6)
    for j in range(5):
        m[j] = 0.0
    for j in range(5):
        for i in range(6):
            m[j] += A[i, j]
    for i in range(6):
        s[i] = 0.0
        for j in range(5):
            s[i] += A[i, j] * m[j]
    for i in range(6):
        for j in range(5):
            B[i, j] = s[i] * A[i, j]


ARGUMENTS: list[Any] = [random(ROWS, COLUMNS), random(ROWS, COLUMNS)]

Kernel = Callable[..., None]


def tree_of(kernel: Kernel) -> Program:
    return read(json.loads(prepared_text(kernel, ARGUMENTS)))


def outermost(program: Program) -> int:
    return sum(isinstance(node, Loop) for node in program.body.children)


def indices(program: Program) -> set[tuple[str, ...]]:
    """Loops' variables in the indices of what the program has for itself."""
    found = set()
    for node in walk.preorder(program):
        for memlet in node.memlets if isinstance(node, Block) else ():
            ends = (node.nodes[place] for place in (memlet.source, memlet.target))
            names = {end.container for end in ends if isinstance(end, AccessNode)}
            if memlet.subset and names.isdisjoint(program.arguments):
                found.add(tuple(sorted(s for index in memlet.subset for s in index.symbols)))
    return found


def computed(kernel: Kernel, program: Program, shuffled: int | None = None) -> dict[str, list[Any]]:
    """What is in the arrays after a run on exact numbers; faults are errors.

    Args:
        shuffled: seed for the order in which iterations run that may run in any.
    """
    numbers = range(3, 3 + ROWS * COLUMNS)
    memory = {
        name: [k * k % 101 + place for k in numbers]
        for place, name in enumerate(inspect.signature(kernel).parameters)
    }
    return Interpreted(program, shuffled)({**memory, "_s0": ROWS, "_s1": COLUMNS})


@pytest.mark.parametrize(("kernel", "loops"), [(centred, 1), (centred_in_blocks, 1)])
def test_neighbours_over_the_same_rows_become_one_loop(kernel: Kernel, loops: int):
    tree = tree_of(kernel)
    fused = row_by_row(tree)
    assert outermost(tree) > outermost(fused) == loops
    assert computed(kernel, fused) == computed(kernel, tree)
    assert computed(kernel, fused, shuffled=1) == computed(kernel, tree)
    assert all(len(variables) <= 1 for variables in indices(fused))


@pytest.mark.parametrize(
    "kernel",
    [
        reads_the_next_row,
        reads_the_row_before,
        turned,
        added_up_over_time,
        overlapping,
        across_memory,
    ],
)
def test_what_other_iterations_need_stays(kernel: Kernel):
    tree = tree_of(kernel)
    fused, want = row_by_row(tree), computed(kernel, tree)
    assert computed(kernel, fused) == computed(kernel, fused, shuffled=1) == want


def random_chain(seed: int, folder: Path) -> Kernel:
    """Some loops over rows that hand arrays and sums to each other, with rows and columns in either
    direction."""
    rng = Random(seed)
    lines = ["import numpy as np", "", "", "def chain(A, B):"]
    lines += [f"    {name} = np.empty((6, 5))" for name in ("T", "U", "V")]
    lines += [f"    {name} = np.empty(6)" for name in ("s", "u")]
    arrays, sums = ["A"], [""]
    for _ in range(rng.randint(3, 6)):
        source = f"{rng.choice(arrays)}[{rng.choice(['i', 'i', 'i', '5 - i'])}, {{}}]"
        row, column = "    for i in range(6):", "        for j in range(5):"
        if rng.random() < 0.3:
            name = rng.choice("su")
            lines += [row, f"        {name}[i] = 1.0", column]
            lines += [f"            {name}[i] += {source.format('j')}"]
            sums.append(f" * {name}[i]")
        else:
            name = rng.choice("TUVB")
            value = source.format(rng.choice(["j", "4 - j", "0"])) + rng.choice(sums)
            lines += [row, column, f"            {name}[i, j] = {value} + 1.0"]
            arrays.append(name)
    lines += ["    for i in range(6):", "        for j in range(5):"]
    lines += [f"            B[i, j] = {arrays[-1]}[i, j] + {rng.choice(arrays)}[i, 4 - j]", ""]
    path = folder / f"chain_{seed}.py"
    path.write_text("\n".join(lines))
    return function_in(path, "chain")


@pytest.mark.parametrize("seed", range(12))
def test_random_chains_of_loops_stay_right(seed: int, tmp_path: Path):
    kernel = random_chain(seed, tmp_path)
    tree = tree_of(kernel)
    fused, want = row_by_row(tree), computed(kernel, tree)
    assert computed(kernel, fused) == computed(kernel, fused, shuffled=1) == want


@pytest.mark.parametrize("kernel", [reads_the_next_row, turned])
def test_what_may_not_be_fused_is_the_same_program(kernel: Kernel):
    tree = tree_of(kernel)
    assert row_by_row(tree) is tree
    with pytest.raises(SdfgError, match="no loops"):
        with_rows(prepared_text(kernel, ARGUMENTS))


@pytest.mark.parametrize("kernel", [centred, centred_in_blocks, across_memory, added_up_over_time])
def test_compiled_it_gives_the_same_numbers(kernel: Kernel, tmp_path: Path):
    text = with_rows(prepared_text(kernel, ARGUMENTS))
    assert sdfg_program.prepare_document(text)[0] == json.loads(text)  # it is not taken apart again
    built = build_tuned(text, "sequential", {}, tmp_path)
    check_library(kernel, [ARGUMENTS], built.library)
