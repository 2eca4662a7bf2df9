"""What is computed in an array of its own and then copied is computed where it is copied to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sdfg_kit import as_docc_sends, check_library, function_in, normal_form_of, random

import loopbook
from loopbook.program.accesses import names
from loopbook.program.dataflow import Allocation
from loopbook.program.local import local_arrays
from loopbook.program.read import read
from loopbook.program.walk import preorder
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.program import prepare_document

N = 9


def mirrored(A, C):
    for i in range(A.shape[1]):
        C[i:, i] = C[i, i:] = A[:, i] @ A[:, i:] / 3.0


def mirrored_behind(A, C):
    for i in range(A.shape[1] - 1):
        C[i + 1 :, i] = C[i, i + 1 :] = A[:, i] @ A[:, i + 1 :]


def made_by_number(n, A):
    C = np.zeros((n, n))
    for i in range(n):
        C[i:, i] = C[i, i:] = A[:, i] @ A[:, i:n]
    return C


def a_column_along(A, C):
    C[:-1, 0] = C[1:, 0] = A[:-1, :] @ A[0, :]


def turned_round(A, C):
    for i in range(A.shape[1]):
        t = A[:, i] @ A[:, i:]
        C[i:, i] = t
        C[i, i:] = t[::-1]


def cleared_between(A, C):
    for i in range(A.shape[1]):
        t = A[:, i] @ A[:, i:]
        C[i, :] = 0.5
        C[i, i:] = t


def looked_at_between(A, C):
    for i in range(1, A.shape[1]):
        t = A[i - 1 :, i] @ C[i - 1 :, i:]
        C[i:, i] = t
        C[i, i:] = t


def scaled_later(A, C):
    for i in range(A.shape[1]):
        t = A[:, i] @ A[:, i:]
        C[i, i:] = t
        C[i:, i] = 2.0 * t


def in_part(A, C):
    for i in range(A.shape[1]):
        t = A[:, i] @ A[:, i:]
        C[i, i:-1] = t[:-1]
        C[i:-1, i] = t[:-1]


def spread(A, x):
    x[:] = np.std(A, axis=0)[: x.shape[0]]


def spread_or_one(A, x):
    t = np.std(A, axis=0)
    t[t <= 0.25] = 1.0
    x[:] = t


KERNELS = {
    mirrored: True,
    mirrored_behind: True,
    a_column_along: False,
    turned_round: False,
    cleared_between: False,
    looked_at_between: False,
    scaled_later: False,
    in_part: False,
}


def arrays_left(kernel: Callable[..., Any], args: list[Any]) -> int:
    """How many arrays of its own a program of our front end still has when it is prepared."""
    program = normal_form_of(kernel, args)
    assert local_arrays(program)
    return len(local_arrays(program).keys() & names(program))


@pytest.mark.parametrize("kernel", KERNELS)
def test_results_stay_what_they_are(kernel: Callable[..., None]):
    args = [random(N, N), random(N, N)]
    expected = [value.copy() for value in args]
    kernel(*expected)
    loopbook.native(kernel)(*args)
    np.testing.assert_allclose(args[1], expected[1], rtol=1e-12)


@pytest.mark.parametrize("kernel", [mirrored, mirrored_behind])
def test_what_docc_allocates_is_not_needed_either(kernel: Callable[..., None], tmp_path: Path):
    args = [random(N, N), random(N, N)]
    text = as_docc_sends(kernel, args)
    program = read(prepare_document(text)[0])
    assert not any(isinstance(node, Allocation) for node in preorder(program))
    check_library(kernel, [args], build_tuned(text, "sequential", {}, tmp_path).library)


@pytest.mark.parametrize("kernel", [spread, spread_or_one])
def test_no_store_is_lost_behind_an_array_with_two_lives(kernel, tmp_path: Path):
    args = [random(N, N) * np.arange(N), np.zeros(N)]
    library = build_tuned(as_docc_sends(kernel, args), "sequential", {}, tmp_path).library
    check_library(kernel, [args], library)


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_is_only_copied_needs_no_array(kernel: Callable[..., None]):
    assert (arrays_left(kernel, [random(N, N), random(N, N)]) == 0) == KERNELS[kernel]


def test_a_number_that_is_a_size_is_that_size():
    assert arrays_left(made_by_number, [N, random(N, N)]) == 0


def test_a_number_that_was_a_size_may_be_less():
    fast = loopbook.native(made_by_number)
    A = random(N, N)
    for n in (N, N - 3, 4, N):
        np.testing.assert_allclose(fast(n, A), made_by_number(n, A), rtol=1e-12)


def random_copies(seed: int, folder: Path) -> Callable[..., None]:
    """Slices of two arrays that get one value, in a loop."""
    draw = Random(seed)
    low, high = draw.randint(0, 2), draw.randint(0, 1)
    count = f"{low}:{N - high} - i" if draw.random() < 0.3 else f"i + {low}:{N + 2 - high}"

    def target() -> str:
        part = draw.choice([count, count, count.replace(str(low), str(low + 1), 1)])
        other = draw.choice(["i", "0", "i + 1", f"{N - 1} - i"])
        ends = [part, other] if draw.random() < 0.5 else [other, part]
        return f"{draw.choice('CCB')}[{', '.join(ends)}]"

    value = draw.choice(["A[:, i] @ A[:, {}]", "A[i, {}] + A[0, {}]", "A[:, i] @ A[:, {}] / 3.0"])
    lines = [f"        t = {value.replace('{}', count)}"]
    for _ in range(draw.randint(1, 3)):
        scale = draw.choice(["t", "t", "t", "2.0 * t", "t[::-1]"])
        lines.append(f"        {target()} = {scale}")
    file = folder / f"copies{seed}.py"
    body = "\n".join(lines)
    file.write_text(f"def copies(A, B, C):\n    for i in range({N - 3}):\n{body}\n")
    return function_in(file, "copies")


@pytest.mark.parametrize("seed", range(12))
def test_random_copies(seed: int, tmp_path: Path):
    kernel = random_copies(seed, tmp_path)
    args = [random(N + 2, N + 2) for _ in range(3)]
    expected = [value.copy() for value in args]
    try:
        kernel(*expected)
    except ValueError:
        pytest.skip("its shapes do not fit")
    loopbook.native(kernel)(*args)
    for got, want in zip(args, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
