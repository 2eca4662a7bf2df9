"""The front end on whole programs: generated ones, loops that stay as they are, compiled ones."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower, refusals
from loopbook.workloads import polybench
from loopbook.workloads.arrays import generate

from .kit import agree, as_docc, check, copied, data, flat

SIZES = ((4, 3), (5, 5), (1, 2), (0, 3))


@pytest.mark.parametrize(("seeds", "wide"), [(60, False), (24, True)])
@pytest.mark.parametrize("whole", [False, True])
def test_generated_programs_are_what_numpy_computes(whole, seeds, wide):
    refused = 0
    for seed in range(seeds):
        program = generate(seed, whole, wide)
        for dtype in (np.int64, np.int32) if whole else (np.float64, np.float32):
            kernel, args = program.kernel(), program.arguments(*SIZES[seed % 4], dtype)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    kernel(*copied(args))
                except (ValueError, IndexError):  # nothing has neither an extreme nor a first row
                    continue
            try:
                check(kernel, *args)
            except LoweringError:
                refused += 1
    assert refused <= 6


def test_the_same_seed_gives_the_same_program():
    assert generate(7).source == generate(7).source
    assert len({generate(seed).source for seed in range(50)}) == 50
    assert all(2 <= len(generate(seed).constructs) <= 10 for seed in range(50))


def test_loops_stay_as_they_are():
    for name in polybench.names():
        workload = polybench.load(name)
        smallest = next(iter(workload.parameters))
        assert lower(workload.kernel, workload.arguments(smallest)) is None, workload.name


def normalise(A, w, n):
    B = A - A.mean(axis=0)
    B /= np.sqrt((B * B).sum(axis=0) + 1e-9)
    for _i in range(n):
        w = np.maximum(B @ (B.T @ w), 0.0) + 0.1 * w
        w /= np.sum(np.abs(w)) + 1.0
    return w, B[1:-1, ::2].T


def test_one_translation_serves_all_sizes():
    lowered = check(normalise, data(6, 8), data(6), 3)
    for rows, columns in ((7, 5), (9, 6), (20, 7)):
        args = [data(rows, columns, seed=5), data(rows, seed=2), 2]
        assert lowered.holds(*args)
        first, second = copied(args), copied(args)
        agree([*flat(normalise(*first)), *first], [*flat(lowered.plain(*second)), *second])
    assert not lowered.holds(data(6, 6), data(5), 2)
    assert not lowered.holds(data(6, 1), data(6), 2)


def test_short_axes_have_a_translation_of_their_own():
    def lengths(p):
        return np.sqrt((p**2).sum(axis=1))

    lowered = check(lengths, data(6, 3))
    assert "range(3)" not in lowered.source
    assert ", 2]" in lowered.source
    assert lowered.holds(data(9, 3))
    assert not lowered.holds(data(9, 2))
    assert not lowered.holds(data(9, 5))
    assert ", 2]" not in check(lengths, data(6, 5)).source


def test_nothing_is_allocated_for_what_can_be_written_at_once():
    def gemm(alpha, beta, C, A, B):
        C[:] = alpha * A @ B + beta * C

    def blur(A, B):
        B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3.0

    assert check(gemm, 1.5, 0.5, data(3, 4), data(3, 5), data(5, 4)).temporaries == ()
    assert check(blur, data(7), data(7, seed=1)).temporaries == ()


def test_source_lines_are_known():
    def kernel(x):
        y = x * 2
        return y.sum()

    lowered = check(kernel, data(4))
    first = kernel.__code__.co_firstlineno
    assert set(lowered.line_map.values()) <= {first, first + 1, first + 2}
    assert f"# {first + 2}" in lowered.source
    assert "def outer(x):" in lowered.source


def butterflies(n, r, k, y):
    """The passes of a radix-r transform, each of another shape."""
    for i in range(k):
        v = np.transpose(np.reshape(y, (r**i, r, r ** (k - i - 1))), (1, 0, 2))
        y[:] = np.reshape(np.reshape(v, (n,)) * (i + 1), (n,))
    return y.reshape((r, r ** (k - 1)))


def test_a_loop_over_shapes_is_written_out():
    for r, k in ((2, 4), (3, 3), (2, 1)):
        for dtype in (np.float64, np.complex128):
            check(butterflies, r**k, r, k, data(r**k, dtype=dtype))
    args = [16, 2, 4, data(16)]
    assert refusals(butterflies, args) == []
    lowered = lower(butterflies, args)
    assert lowered is not None
    assert not lowered.holds(8, 2, 3, data(8))


def attention(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return (P / P.sum(axis=1, keepdims=True)) @ V


def blurred(image):
    h = image[:, :-4] + 4 * image[:, 1:-3] + 6 * image[:, 2:-2] + 4 * image[:, 3:-1] + image[:, 4:]
    return h[:-4, :] + 4 * h[1:-3, :] + 6 * h[2:-2, :] + 4 * h[3:-1, :] + h[4:, :]


@pytest.mark.parametrize(
    ("function", "shapes"),
    [(attention, ((9, 4), (7, 4), (7, 5))), (blurred, ((12, 11),))],
)
def test_compiled_loops_give_numpys_numbers(function, shapes):
    """Both are wrong by whole numbers where docc's own front end translates them."""

    args = [data(*shape) for shape in shapes]
    lowered = lower(function, args)
    assert lowered is not None
    kernel = as_docc(lowered.kernel)
    kernel.compiled(lowered.prepare(*args))
    compiled = lowered.wrap(kernel)
    agree(flat(function(*copied(args))), flat(compiled(*args)), lowered.source)
