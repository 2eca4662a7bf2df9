"""Rows and columns that are overwritten while they are read are copied, not the whole array."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sdfg_kit import function_in, normal_form_of, random

import loopbook
from loopbook.program.accesses import names
from loopbook.program.local import local_arrays

N = 9


def shortest(A, x):
    for k in range(A.shape[0]):
        A[:] = np.minimum(A[:], np.add.outer(A[:, k], A[k, :]))


def eliminated(A, x):
    for k in range(A.shape[0]):
        A[:] = A - np.outer(A[:, k], A[k, :]) / (2.0 + A[k, k])


def smoothed(A, x):
    for k in range(1, A.shape[0]):
        A[1:, :] = 0.5 * A[1:, :] + 0.25 * A[k, :]


def by_an_element(A, x):
    A[:, 1:] = A[:, 1:] / (1.0 + A[3, 3])


def of_other_length(A, x):
    for k in range(1, A.shape[0]):
        A[:k, :k] = A[:k, :k] + np.outer(A[:k, 0], A[0, :k])


def turned(A, x):
    for _ in range(3):
        A[:] = 0.5 * A + 0.25 * A[::-1, :]


def transposed(A, x):
    for k in range(A.shape[0]):
        A[:] = A + A.T * A[k, 0]


KERNELS = {
    shortest: True,
    eliminated: True,
    smoothed: True,
    by_an_element: True,
    of_other_length: False,  # how much to copy is not known at the beginning
    turned: False,
    transposed: False,
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_whole_arrays_are_needed_only_where_all_elements_are_elsewhere(kernel):
    program = normal_form_of(kernel, [random(N, N), random(N)])
    assert (not local_arrays(program).keys() & names(program)) == KERNELS[kernel]


def check(kernel: Callable[..., None]) -> None:
    for n in (1, 2, N) if kernel is shortest else (N,):
        args = [random(n, n), random(n)]
        expected = [value.copy() for value in args]
        kernel(*expected)
        loopbook.native(kernel)(*args)
        np.testing.assert_allclose(args[0], expected[0], rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_results_stay_what_they_are(kernel: Callable[..., None]):
    check(kernel)


def test_which_rows_are_read_may_be_known_in_the_nest_alone():
    def gathered(A, p):
        for k in range(2):
            A[:, :] = 0.5 * A + 0.25 * A[p, :] + A[p[k], 1:2] * A[p, k].reshape(-1, 1)

    A, p = random(N, N), np.argsort(random(N))
    expected = A.copy()
    gathered(expected, p)
    loopbook.native(gathered)(A, p)
    np.testing.assert_allclose(A, expected, rtol=1e-12)


def random_update(seed: int, folder: Path) -> Callable[..., Any]:
    """An array that gets new values of itself, of some of its rows, columns and elements."""
    draw = Random(seed)
    low, high = draw.randint(0, 2), draw.randint(0, 2)
    across, down = f"{low}:{N - high}", f"{draw.choice([low, 0, 1])}:"
    rows = N - int(down[:-1])

    def part() -> str:
        place = draw.choice(["k", "0", f"{N - 1}", "k - 1", "x.shape[0] - k"])
        start = draw.choice([int(down[:-1]), 0])
        return draw.choice(
            [
                f"A[{place}, {across}]",
                f"A[{start}:{start + rows}, {place}].reshape(-1, 1)",
                f"A[{place}, {place}]",
                f"x[{across}]",
                f"A[{down}, {across}]",
            ]
        )

    value = f"0.5 * A[{down}, {across}] + 0.25 * {part()} {draw.choice('+-*')} {part()}"
    file = folder / f"update{seed}.py"
    file.write_text(
        f"def update(A, x):\n    for k in range(1, {N}):\n        A[{down}, {across}] = {value}\n"
    )
    return function_in(file, "update")


@pytest.mark.parametrize("seed", range(12))
def test_random_updates(seed: int, tmp_path: Path):
    check(random_update(seed, tmp_path))
