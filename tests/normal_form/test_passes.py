"""Array programs, as docc's front end reads them, get the form of loops, and compute the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sdfg_kit import check_recipe, prepared_text, random

from loopbook.program import walk
from loopbook.program.dataflow import Allocation, LibraryNode
from loopbook.program.read import read
from loopbook.program.tree import Loop, Program
from loopbook.steps.temporaries import temporaries

N = 9


def scaled_product(A, x, y, s):
    y[:] = s * A @ x


def row_product(A, x, y):
    y[:] = x @ A


def two_products(A, x, y, z):
    t = A @ x
    u = A @ y
    z[:] = t + u


def stored_back(A, B, s):
    A[:] = A * s + B


def chain(A, B):
    t = A * A
    B[1:-1, :] = t[2:, :] - t[:-2, :]


def chosen(A, B):
    t = np.where(A > 0.5, A, 0.25 * A)
    B[:] = t * t


def two_at_once(A, B, C):
    t = A - B
    u = A + B
    C[:] = t * u
    B[:] = u - t


def in_loops(A, B):
    for i in range(A.shape[0]):
        A[i, : i + 1] = A[i, : i + 1] * 0.5 + B[i, : i + 1]


def stencil(A):
    A[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])


def reversed_rows(A):
    A[:, :-1] = A[:, 1:] * 0.5


def against_the_order(A):
    A[:, 1:] = A[:, :-1] * 0.5


def copied(A, B):
    t = A.copy()
    A[:] = B + t[:, ::-1]
    B[:] = t


def normalised(A, B):
    t = np.exp(A - 1.0)
    B[:] = t / (1.0 + t)


def turned_rows(x, y):
    for k in range(1, x.shape[0]):
        y[:k] += 0.5 * np.flip(y[:k]) + x[:k]


SQUARE: list[Any] = [random(N, N), random(N, N), random(N, N)]

CASES: list[tuple[Callable[..., None], list[Any], int]] = [
    (scaled_product, [random(N, N), random(N), random(N), 0.7], 0),
    (row_product, [random(N, N), random(N), random(N)], 0),
    (stored_back, [*SQUARE[:2], 0.7], 0),
    (chain, SQUARE[:2], 0),
    (chosen, SQUARE[:2], 0),
    (two_at_once, SQUARE, 0),
    (in_loops, SQUARE[:2], 0),
    (reversed_rows, SQUARE[:1], 0),
    (stencil, SQUARE[:1], 1),
    (against_the_order, SQUARE[:1], 1),
    (copied, SQUARE[:2], 1),
    (two_products, [random(N, N), random(N), random(N), random(N)], 1),
    (normalised, SQUARE[:2], 0),
]
"""Programs, arguments, and how many temporaries have to stay."""


def tree_of(kernel: Callable[..., None], args: list[Any]) -> Program:
    return read(json.loads(prepared_text(kernel, args)))


def calls(program: Program) -> list[str]:
    """The library calls of a program."""
    return [
        node.code
        for block in walk.preorder(program)
        for node in getattr(block, "nodes", ())
        if isinstance(node, LibraryNode)
    ]


@pytest.mark.parametrize(("kernel", "args", "left"), CASES, ids=[c[0].__name__ for c in CASES])
def test_temporaries_that_need_not_be_are_gone(
    kernel: Callable[..., None], args: list[Any], left: int, tmp_path: Path
) -> None:
    program = tree_of(kernel, args)
    assert len(temporaries(program)) == left
    assert calls(program) == ["Malloc"] * left + ["Free"] * left
    check_recipe(kernel, [args], [], tmp_path)


def test_memory_is_not_allocated_in_loops(tmp_path: Path) -> None:
    program = tree_of(turned_rows, [random(N), random(N)])
    for _, node in walk.places(program):
        if isinstance(node, Loop):
            assert not any(isinstance(inner, Allocation) for inner in walk.preorder(node))
    assert calls(program) == ["Malloc", "Free"]
    check_recipe(turned_rows, [[random(N), random(N)]], [], tmp_path)


def test_what_reads_later_elements_runs_in_order(tmp_path: Path) -> None:
    """An iteration of `reversed_rows` reads what the next one writes: no threads, no vectors that
    store first."""
    check_recipe(reversed_rows, [[random(40, 70)]], [], tmp_path, "openmp")


def test_programs_of_loops_stay_as_they_are() -> None:
    def loops(A, B):
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                B[i, j] = 2.0 * A[i, j]

    assert "loopbook_formed" not in prepared_text(loops, SQUARE[:2])
