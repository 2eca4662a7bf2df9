"""Arrays of narrow whole numbers, stored as such."""

from __future__ import annotations

import json

import numpy as np
import pytest

from loopbook import native
from loopbook.errors import InterpretedWarning
from loopbook.frontend import lower
from loopbook.program.json_text import loaded
from loopbook.program.local import NARROW
from loopbook.program.read import read
from loopbook.program.types import Scalar
from loopbook.sdfg import frontend, transformed
from loopbook.sdfg.narrow import NotNarrowError, narrowed, with_narrow

TYPES = (np.uint8, np.int8, np.uint16, np.int16, np.uint32)


def everything(A, B, x, y, k):
    """Products and sums beyond the type, in expressions and loops; columns; indices; both ends."""
    limit = x[0]
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1] * y[i] + x[i]
        if x[i] > limit:
            limit = x[i]
    A[1:] += A[:-1] * 3
    B[:] = A.T
    counts = np.zeros(16, x.dtype)
    for i in range(y.shape[0]):
        counts[y[i] & 15] += 1
    wide = x.astype(np.int64) * y
    quotients = (x // 3, x % 7, x >> 1, ~y, y - x)
    return (
        limit,
        counts,
        wide,
        quotients,
        A @ x,
        np.where(x > y, x, y),
        x / 3,
        A.sum(axis=0),
        A == B,
    )


def arguments(dtype, seed=0):
    limits, rng = np.iinfo(dtype), np.random.default_rng(seed)
    shapes = ((6, 6), (6, 6), (6,), (6,))
    made = (rng.integers(limits.min, limits.max, s, np.int64, endpoint=True) for s in shapes)
    return [*(array.astype(dtype) for array in made), 3]


def flat(value):
    return [y for x in value for y in flat(x)] if isinstance(value, tuple) else [value]


def same(got, expected):
    for one, other in zip(flat(tuple(got)), flat(tuple(expected)), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_are_numpys(dtype, order):
    compiled = native(everything, strict=True)
    for seed in (0, 1):
        own = [np.array(v, order=order) if np.ndim(v) else v for v in arguments(dtype, seed)]
        expected, reference = everything(*(args := arguments(dtype, seed))), args
        same(compiled(*own), expected)
        same(own[:4], reference[:4])


def test_nothing_is_copied():
    def brighter(picture, out):
        for i in range(picture.shape[0]):
            for j in range(picture.shape[1]):
                out[i, j] = min(int(picture[i, j]) + 40, 255)

    pictures = np.zeros((4, 5), np.uint8), np.ones((4, 5), np.uint8)
    lowered = lower(brighter, pictures, loops_too=True)
    assert lowered is not None
    assert ".astype" in lowered.source
    prepared = lowered.narrow.prepare(*pictures)
    assert [value.dtype for value in prepared] == [np.dtype(np.uint8)] * 2


def test_read_only_arrays_are_read():
    def most(a):
        found = a[0]
        for i in range(a.shape[0]):
            found = max(found, a[i])
        return found

    array = np.arange(9, dtype=np.uint8)
    array.flags.writeable = False
    assert native(most, strict=True)(array) == 8


@pytest.mark.parametrize("dtype", [np.int16, np.int8, np.uint16])
def test_a_temporary_stays_apart_from_a_result_that_cannot_hold_it(dtype):
    def passed_on(a):
        b = a.copy()
        for i in range(1, len(b)):
            b[i] = max(b[i], b[i - 1] - 3)
        return b.astype(np.uint8)

    a = np.random.default_rng(0).integers(-100, 100, 12).astype(dtype)
    np.testing.assert_array_equal(native(passed_on, strict=True)(a), passed_on(a))


def test_arrays_that_overlap_are_pythons():
    def shifted(a, b):
        for i in range(a.shape[0]):
            a[i] = b[i] + 3

    x, y = np.arange(9, dtype=np.uint8), np.arange(9, dtype=np.uint8)
    with pytest.warns(InterpretedWarning, match="overlap"):
        native(shifted)(x[1:], x[:-1])
    shifted(y[1:], y[:-1])
    np.testing.assert_array_equal(x, y)


def test_what_cannot_be_narrow_is_compiled_with_words(monkeypatch):
    def refuse(program):
        raise NotNarrowError("a test")

    def lighter(a):
        return np.minimum(a + 1, 200)

    monkeypatch.setattr(transformed, "narrowed", lambda tree: refuse(tree) if noted(tree) else tree)
    got = native(lighter, strict=True)(np.arange(9, dtype=np.uint8))
    np.testing.assert_array_equal(got, lighter(np.arange(9, dtype=np.uint8)))


def noted(tree):
    return NARROW in tree.extra.value.get("metadata", {})


def doubled(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] + a[i]


def program(kinds, text=None):
    text = text or frontend.trace(doubled, [np.arange(5), np.arange(5)])
    return read(loaded(with_narrow(text, kinds)))


def test_types_change_and_operands_are_loaded_as_words():
    found = narrowed(program({0: "uint32", 1: "uint16"}))
    a, b = (found.containers[name] for name in found.arguments[:2])
    assert (a.element, b.element) == ("uint32", "uint16")
    words = [kind for name, kind in found.containers.items() if name.startswith("word_")]
    assert all(kind == Scalar(dtype="int64") for kind in words)


def test_a_program_without_a_note_stays():
    plain = program({})
    assert narrowed(plain) is plain


@pytest.mark.parametrize("kinds", [{0: "uint7"}, {0: "fp128"}, {2: "uint8"}])
def test_what_has_to_be_words_is_refused(kinds):
    with pytest.raises(NotNarrowError, match="cannot be stored"):
        narrowed(program(kinds))


def test_a_note_of_what_is_not_there_is_refused():
    document = json.loads(frontend.trace(doubled, [np.arange(5), np.arange(5)]))
    document["metadata"][NARROW] = json.dumps({"nowhere": "uint8"})
    with pytest.raises(NotNarrowError, match="nowhere"):
        narrowed(read(loaded(json.dumps(document))))
