"""``@loopbook.native`` gives Python's numbers whatever its arguments look like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from client_kit import blocked, fill, product, record
from docc.python import native as docc_native
from hypothesis import given, settings
from hypothesis import strategies as st

import loopbook
from loopbook.errors import InterpretedWarning

WAYS: dict[str, Callable[[Any], Any]] = {
    "sequential": loopbook.native,
    "openmp": loopbook.native(target="openmp"),
    "docc": docc_native(target="loopbook"),
}


@pytest.fixture(scope="module", autouse=True)
def own_book(tmp_path_factory):
    """One with a recipe for the product that is wrong where its arguments overlap."""
    folder = tmp_path_factory.mktemp("book")
    parallel = f"{blocked()}parallel L0.tile\n"
    records = [record(product, blocked()), record(product, parallel, target="openmp")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPBOOK_BOOK", str(fill(folder / "book.db", records)))
        patch.setenv("LOOPBOOK_STARTER", "")
        yield


def doubled(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = 2.0 * A[i, j] + 1.0


def shifted(a, b):
    for i in range(1, a.shape[0]):
        b[i] = a[i - 1] + 1.0


@pytest.fixture(scope="module")
def programs():
    """Each kernel compiled each way, once for all tests."""
    made: dict[Any, Any] = {}

    def program(way: str, kernel: Any) -> Any:
        if (way, kernel) not in made:
            made[way, kernel] = WAYS[way](kernel)
        return made[way, kernel]

    return program


def check(program: Any, *args: Any) -> None:
    """Both Python and the program, on arguments that overlap alike: same values, same returns."""
    expected = alike(args)
    program.func(*expected)
    program(*args)
    for got, want in zip(args, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10)


def alike(args: tuple[Any, ...]) -> list[Any]:
    """Copies of the arguments that overlap as they do: views of copies of what owns them."""
    owners: dict[int, np.ndarray] = {}
    copies = []
    for value in args:
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        copy = owners.setdefault(id(owner), owner.copy(order="K"))
        offset = value.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        copies.append(np.ndarray(value.shape, value.dtype, copy.data, offset, value.strides))
    return copies


def square(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((n, n)) / n**2


# -- arguments that overlap -----------------------------------------------------------------------


TWICE = [("sequential", "aba abb aaa aac"), ("openmp", "aba aaa aac"), ("docc", "aba")]


@pytest.mark.parametrize(("way", "patterns"), TWICE)
def test_an_array_that_is_passed_twice(programs, way, patterns):
    program = programs(way, product)
    arrays = {name: square(37, seed) for seed, name in enumerate("abc")}
    for pattern in ["abc", *patterns.split(), "abc"]:
        check(program, *(arrays[name] for name in pattern))


@pytest.mark.parametrize("way", WAYS)
def test_arrays_that_overlap_in_part(programs, way):
    program = programs(way, product)
    field = square(40, 7)
    flat = field.reshape(-1)
    here, there = flat[:1369].reshape(37, 37), flat[100:1469].reshape(37, 37)
    with pytest.warns(InterpretedWarning, match="A and C overlap in part"):
        check(program, here, square(37, 1), there)
    check(program, here, there, square(37, 1))  # both are only read


def test_one_element_further(programs):
    program = programs("sequential", shifted)
    line = np.arange(9.0)
    check(program, line, line)
    check(program, line.copy(), line)
    with pytest.warns(InterpretedWarning, match="overlap"):
        check(program, line[:-1], line[1:])
    check(program, line[:4], line[4:8])  # beside each other
    check(program, line[:8:2], line[1::2])  # between each other


def test_interleaved_columns_do_not_overlap(programs, recwarn):
    pairs = np.random.default_rng(0).random((6, 10))
    check(programs("sequential", doubled), pairs[:, 0::2], pairs[:, 1::2])
    assert not [w for w in recwarn if w.category is InterpretedWarning]


# -- sizes of 1 and 0 -----------------------------------------------------------------------------


SHAPES = {
    "sequential": ((5, 1), (5, 3), (1, 1), (6, 6), (1, 4)),
    "openmp": ((5, 1), (5, 3), (1, 1), (6, 6)),
    "docc": ((5, 1), (5, 3)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_first_call_with_sizes_of_one(programs, way):
    program = programs(way, doubled)
    data = np.random.default_rng(3)
    for shape in SHAPES[way]:
        check(program, data.random(shape), np.zeros(shape))


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_written_beside_an_empty_array(programs, way):
    program = programs(way, doubled)
    check(program, np.ones((5, 3)), np.zeros((5, 3)))
    beside = np.full(16, 7.0)
    with pytest.warns(InterpretedWarning, match="A is empty"):
        program(np.ones((0, 8)), beside[:0].reshape(0, 8))
    assert (beside == 7.0).all()


# -- layouts --------------------------------------------------------------------------------------

LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": np.copy,
    "Fortran": np.asfortranarray,
    "transposed": lambda a: a.T.copy().T,
    "every other": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "part": lambda a: np.pad(a, 2)[2:-2, 2:-2],
}


@pytest.mark.parametrize("way", WAYS)
def test_layouts(programs, way):
    program = programs(way, product)
    a, b, c = (square(11, seed) for seed in range(3))
    for layout in LAYOUTS.values():
        check(program, layout(a), b, c)
        check(program, a, layout(b), layout(c))
    both = np.asfortranarray(a)
    check(program, both, b, both)


def test_what_is_read_only_and_repeats_itself(programs):
    row = np.broadcast_to(np.random.default_rng(1).random(5), (4, 5))
    out = np.zeros((4, 5))
    programs("sequential", doubled)(row, out)
    np.testing.assert_allclose(out, 2 * row + 1)
    with pytest.raises(ValueError, match="read-only"):
        programs("sequential", doubled)(np.zeros((4, 5)), row)


def test_written_elements_that_lie_in_one_place(programs):
    same = np.lib.stride_tricks.as_strided(np.zeros(6), (4, 3), (8, 8))
    data = np.random.default_rng(1).random((4, 3))
    with pytest.warns(InterpretedWarning, match="overlaps itself"):
        check(programs("sequential", doubled), data, same)


# -- all of it together ---------------------------------------------------------------------------


def mirrored(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = 0.5 * B[i, j] + A[j, i]


@st.composite
def calls(draw: st.DrawFn) -> tuple[np.ndarray, ...]:
    """Two squares, of one size, cut out of one buffer anywhere and anyhow, or out of two."""
    n = draw(st.sampled_from((0, 1, 2, 7)))
    shared = np.random.default_rng(draw(st.integers(0, 9))).random(8 * max(n, 1) ** 2)
    arrays: list[np.ndarray] = []
    for memory in (shared, shared.copy() if draw(st.booleans()) else shared):
        if arrays and draw(st.booleans()):
            arrays.append(arrays[0])
            continue
        step = draw(st.sampled_from((1, 2)))
        start = draw(st.integers(0, len(memory) - step * n * n))
        one = memory[start : start + step * n * n : step].reshape(n, n)
        arrays.append(draw(st.sampled_from((one, one.T, one[::-1]))))
    return tuple(arrays)


@pytest.mark.filterwarnings("ignore::loopbook.errors.InterpretedWarning")
@settings(max_examples=100)
@given(args=calls())
def test_any_two_arrays(programs, args):
    check(programs("openmp", mirrored), *args)
