"""Temporaries that our front end has made for a call disappear like those that docc allocates."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sdfg_kit import normal_form_of, random

import loopbook
from loopbook.frontend import Lowered, lower
from loopbook.program.accesses import names
from loopbook.program.local import LOCAL, local_arrays, with_known_sizes
from loopbook.program.read import read
from loopbook.sdfg.frontend import trace
from loopbook.sdfg.local import with_local
from loopbook.sdfg.program import prepare_tree


def differences(A, B):
    t = 4.0 * A[1:-1, 1:-1] - A[2:, 1:-1] - A[:-2, 1:-1]
    B[1:-2, 1:-2] = t[1:, 1:] - t[:-1, :-1]


def limited(A, B):
    d = A[1:, :] - A[:-1, :]
    t = np.where(d * A[1:, :] > 0.25, 0.0, d)
    B[1:-1, :] = t[1:, :] - t[:-1, :]


def too_dear(A, B):
    t = np.exp(A)
    B[2:-2, :] = t[:-4, :] + t[1:-3, :] + t[2:-2, :] + t[3:-1, :] + t[4:, :]


def handed_on(A, B):
    t = A @ B
    u = 2.0 * t
    B[:] = u + t.T


def overwritten(A, B):
    t = A[1:, :] * 2.0
    A[1:, :] = t + A[:-1, :]
    B[1:, :] = t * A[1:, :]


def returned(A, B):
    t = A * 2.0
    u = t[1:, :] + t[:-1, :]
    return u, u * B[1:, :]


def of_a_range(A, B):
    n = A.shape[0] - 3
    t = np.empty((n, n))
    t[:] = A[:n, :n] + 1.0
    B[1:n, :n] = t[1:, :] * t[:-1, :]


def prepared(func: Callable[..., Any], args: list[np.ndarray]) -> tuple[int, int]:
    """How many temporaries a function is compiled with, and how many nests."""
    program = loopbook.native(func)
    expected = [a.copy() for a in args]
    wanted = func(*expected)
    got = program(*args)
    for one, other in zip([*args, *(got or ())], [*expected, *(wanted or ())], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert program.plan is not None
    return len(program.plan.nests), len(lowered_of(func, args).local)


def lowered_of(func: Callable[..., Any], args: Sequence[Any]) -> Lowered:
    lowered = lower(func, args)
    assert lowered is not None
    return lowered


@pytest.mark.parametrize(
    ("func", "nests"),
    [
        (differences, 1),
        (limited, 1),
        (too_dear, 2),  # an exponential is computed once for all its neighbours
        (handed_on, 3),
        (overwritten, 2),
        (returned, 1),
        (of_a_range, 1),
    ],
)
def test_a_chain_of_nests_becomes_as_few_as_can_be(func, nests):
    left, local = prepared(func, [random(11, 11), random(11, 11)])
    assert local
    assert left == nests


def test_a_comparison_with_nan_is_decided_as_in_numpy():
    A, B = random(9, 9), random(9, 9)
    A[3, 4] = A[8, 8] = np.nan
    expected = B.copy()
    limited(A, expected)
    loopbook.native(limited)(A, B)
    np.testing.assert_allclose(B, expected, equal_nan=True)


# --- what is noted --------------------------------------------------------------------------------


def noted(
    local: dict[str, str],
    n: int = 6,
    m: int = 4,
    t: tuple[int, int] = (8, 4),
    guards: Sequence[str] = (),
) -> dict[str, Any]:
    def kernel(A, n, t_0):
        for i in range(n):
            t_0[i, 0] = A[i, 0]

    args = [np.zeros((n, m)), 3, np.zeros(t)]
    lowered: Any = SimpleNamespace(
        kernel_parameters=["A", "n", "t_0"],
        made=local,
        local=local.keys(),
        guards=guards,
        conversions=(),
        definitions=(),
        in_line=(),
    )
    text = with_local(trace(kernel, args), lowered, args)
    return json.loads(json.loads(text)["metadata"].get(LOCAL, "{}"))


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("(A.shape[0] + 2, A.shape[1])", ["(_s0 + 2)", "_s1"]),
        ("(n * 2, 4)", ["(n * 2)", "4"]),
        ("A.shape[0]", ["_s0"]),
        ("(max(A.shape[0] - 1, 0), 4)", ["(_s0 - 1)", "4"]),
        ("(A.shape[0] // 2, A.shape[1])", None),
        ("(unknown, A.shape[1])", None),
        ("(A.shape[5], 1)", None),
        ("(A.shape[0], True)", None),
        ("((", None),
    ],
)
def test_shapes_are_noted_in_docc_s_names(shape, expected):
    assert noted({"t_0": shape}).get("arrays", {}).get("t_0") == expected


def test_a_size_that_only_a_temporary_has_is_told_by_others():
    assert noted({"t_0": "(A.shape[0] + 2, A.shape[1])"})["sizes"] == {"_s2": "(_s0 + 2)"}
    assert noted({"t_0": "(A.shape[0] + 2, A.shape[1])"}, n=8)["sizes"] == {}


def test_a_number_that_is_a_size_is_told_by_it():
    assert noted({"t_0": "(n + 2, n)"}, n=6, m=3, t=(5, 3)) == {
        "arrays": {"t_0": ["(_s1 + 2)", "_s1"]},
        "sizes": {"_s2": "(_s1 + 2)", "n": "_s1"},
    }


@pytest.mark.parametrize(
    ("guard", "size"),
    [
        ("A.shape[0] - A.shape[1] - 2 == 0", "(-2 + _s0)"),
        ("A.shape[0] - 2 == A.shape[1]", "(-2 + _s0)"),
        ("A.shape[1] * 3 == 2 * A.shape[0]", None),
        ("A.shape[1] ** 2 == A.shape[0] + 10", None),
        ("A.shape[0] > A.shape[1]", None),
        ("A[0, 0] == 0", None),
        ("n == 3", None),
    ],
)
def test_sizes_that_have_to_fit_are_told_by_each_other(guard: str, size: str | None):
    found = noted({"t_0": "(A.shape[0], A.shape[1])"}, t=(6, 4), guards=[guard, guard])
    assert found["sizes"].get("_s1") == size
    assert found["arrays"]["t_0"] == ["_s0", size or "_s1"]


def squared(Z, A, B):
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            A[i, j] = abs(Z[i, j])
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            if A[i, j] > 0.5:
                Z[i, j] = Z[i, j] * Z[i, j] + B[i, j]


def square_planes(n, m, turns):
    z = np.zeros((n, m), np.complex128)
    count = np.zeros((n, m), np.int64)
    for k in range(turns):
        inside = np.abs(z) < 2
        count[inside] = k
        z[inside] = z[inside] ** 2 + 0.3j
    return z, count


def test_rows_of_pairs_are_told_by_the_numbers_of_complex_ones():
    args = np.ones((40, 50)) * 1j, np.ones((40, 50)), np.ones((40, 50)) * 1j
    lowered = lower(squared, args)
    assert lowered is not None
    given = lowered.prepare(*args)
    text = with_local(trace(lowered.kernel, given), lowered, given)
    (number,) = (name for name, _ in lowered.definitions)
    assert json.loads(json.loads(text)["metadata"][LOCAL])["sizes"]["_s1"] == f"(2*{number})"
    _, _, (first, second) = prepare_tree(text)
    assert [loop.kind for loop in (first.loops[0], second.loops[0])] == ["map", "map"]


@pytest.mark.parametrize("sizes", [(6, 6), (6, 4), (4, 6)])
def test_two_numbers_that_are_one_size_are_one(sizes):
    lowered = lower(square_planes, (*sizes, 3))
    assert lowered is not None
    given = lowered.prepare(*sizes, 3)
    text = with_local(trace(lowered.kernel, given), lowered, given)
    told = json.loads(json.loads(text)["metadata"][LOCAL])["sizes"]
    assert ("m" in told) == (sizes[0] == sizes[1])
    compiled = loopbook.native(square_planes, strict=True)
    for more in ((0, 0), (0, 1), (0, 0), (1, 0)):
        n, m = sizes[0] + more[0], sizes[1] + more[1]
        for one, other in zip(compiled(n, m, 3), square_planes(n, m, 3), strict=True):
            np.testing.assert_allclose(one, other)


def without_debts(A, B):
    line = A.ravel()
    line[np.flatnonzero(line < 0)] = 0
    return A.T


def doubled_diagonal(A, B):
    line = A.reshape(-1)
    line[:: A.shape[1] + 1] *= 2
    return A[:, ::-1] + B, A[::-1] * 1


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        *((without_debts, dtype) for dtype in (np.float64, np.uint64, np.int64)),
        *((doubled_diagonal, dtype) for dtype in (np.float64, np.complex128, np.uint64)),
    ],
)
@pytest.mark.parametrize("shape", [(6, 4), (7, 6), (2, 3)])
def test_rows_of_what_is_made_are_no_rows_of_a_line(function, dtype, shape):
    """The kernel has all elements in one line, and their number is not that of the rows."""
    A, B = (random(*shape) * 9 - 2).astype(dtype), random(*shape).astype(dtype)
    given, expected = A.copy(), function(A, B)
    found = loopbook.native(function, strict=True)(given, B)
    np.testing.assert_array_equal(given, A)
    for one, other in zip([*found], [*expected], strict=True):
        np.testing.assert_allclose(one, other)


def between(A, w, B):
    t = w[1:, :] - w[:-1, :]
    u = t * A
    B[:] = u * t


def test_what_is_between_neighbours_fits():
    args = [random(7, 5), random(8, 5), random(7, 5)]
    program = normal_form_of(between, args)
    assert not local_arrays(program).keys() & names(program)
    fast = loopbook.native(between)
    for n in (7, 3, 1):
        A, w, B = random(n, 5), random(n + 1, 5), np.zeros((n, 5))
        fast(A, w, B)
        np.testing.assert_allclose(B, (w[1:] - w[:-1]) ** 2 * A, rtol=1e-12)
    with pytest.raises(ValueError, match="broadcast"):
        fast(random(7, 5), random(9, 5), random(7, 5))


def test_without_a_note_arguments_are_everybody_s():
    args = [random(8, 8), random(8, 8)]
    lowered = lowered_of(limited, args)
    given = lowered.prepare(*args)
    plain = trace(lowered.kernel, given)
    assert not local_arrays(read(json.loads(plain)))

    text = with_local(plain, lowered, given)
    program = read(json.loads(text))
    assert set(local_arrays(program)) == set(lowered.local)
    changed = with_known_sizes(program)
    assert changed is not program


def grid(n, m):
    C = np.linspace(0.0, 1.0, n) + np.linspace(0.0, 1.0, m)[:, None] * 1j
    Z = np.zeros(C.shape, np.complex128)
    for _ in range(3):
        Z = Z * Z + C
    return Z


def chained(A, B, C):
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            t = A[i] @ B[j]
            u = A[j] * B[i, 0, 0]
            C[i] += t @ u


@pytest.mark.parametrize(("k", "n"), [(2, 3), (4, 2), (3, 6), (6, 3), (5, 5)])
def test_sizes_of_complex_arrays_are_told_in_pairs(k: int, n: int):
    A, B = (random(k, n, n) + 1j * random(k, n, n) for _ in range(2))
    C = np.zeros((k, n, n), complex)
    expected = C.copy()
    chained(A, B, expected)
    loopbook.native(chained)(A, B, C)
    np.testing.assert_allclose(C, expected, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(9, 9), (9, 5), (4, 8)])
def test_complex_numbers_take_two_places(sizes: tuple[int, int]):
    lowered = lowered_of(grid, sizes)
    made = {name for name, _, dtype in lowered.allocations if dtype.kind == "c"}
    given = dict(zip(lowered.kernel_parameters, lowered.prepare(*sizes), strict=True))
    assert made
    for name in made:
        assert (
            eval(lowered.made[name], {}, dict(zip("nm", sizes, strict=True))) == given[name].shape
        )
    fast = loopbook.native(grid)
    for n, m in (sizes, (3, 6), (6, 3), sizes):
        np.testing.assert_allclose(fast(n, m), grid(n, m), rtol=1e-12)
