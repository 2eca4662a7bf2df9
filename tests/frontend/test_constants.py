"""Arrays that a function reads from outside: elements that are known, others in memory."""

from __future__ import annotations

import math
from enum import Enum, IntEnum

import numpy as np
import pytest

import loopbook
from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
SMALL = np.array([200, 100, 50], np.uint8)
TURNS = np.array([1, 1j, -1, -1j])
EVEN = np.array([True, False, True])
SCALE = np.array(2.5, np.float32)
STEPS = np.array([0, 1, 2])
BOTH = (SOBEL.T / 4.0, np.eye(3))


def convolved(image, weights=SOBEL):
    out = np.zeros((image.shape[0] - 2, image.shape[1] - 2))
    for i in range(3):
        for j in range(3):
            out += weights[i, j] * image[i : i + out.shape[0], j : j + out.shape[1]]
    return out


def both(image):
    return convolved(image), convolved(image, SOBEL.T), [convolved(image, w) for w in BOTH][1]


def narrow(image):
    return SMALL + SMALL, SMALL[1] + image[0, :3].astype(np.uint8), SMALL[STEPS]


def turned(image):
    return image[:4, 0] * TURNS, TURNS.imag[1], TURNS[3] * image[0, 0], abs(TURNS[1])


def masked(image):
    return np.where(EVEN, image[:, :3], 0.0), image[:, :3][:, EVEN], image * SCALE


def unrolled(image):
    total = np.zeros_like(image)
    for step, weight in zip(STEPS, SOBEL[:, 2], strict=True):
        total += weight * np.roll(image, step, axis=1)
    return total, SOBEL[0, 2] if STEPS[1] == 1 else SOBEL[0, 0]


def itself(image):
    image += BOTH[1].sum()
    return SOBEL


@pytest.mark.parametrize("function", [both, narrow, turned, masked, unrolled, itself])
def test_it_gives_the_same(function):
    check(function, data(6, 5))


def test_what_is_returned_is_not_the_array_itself():
    lowered = lower(itself, [data(6, 5)])
    assert lowered is not None
    lowered.plain(data(6, 5))[...] = 7
    np.testing.assert_array_equal(lowered.plain(data(6, 5)), SOBEL)


def test_known_elements_are_written_out():
    lowered = lower(unrolled, [data(6, 5)])
    assert lowered is not None
    assert "constant" not in lowered.kernel_source


def stores(image):
    SOBEL[0, 0] = 3
    return image + SOBEL[0, 0]


def of_an_object(image):
    return image + math.constants  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("function", "what"), [(stores, "from outside"), (of_an_object, "of something else")]
)
def test_what_is_refused(function, what, monkeypatch):
    monkeypatch.setattr(math, "constants", SOBEL, raising=False)
    with pytest.raises(LoweringError, match=what):
        lower(function, [data(3, 3)])


DECIDED = [
    "if 1.5 > 0.5:\n    x[0] = s\nif 2 > 2.0:\n    x[1] = s",
    "for i in range(3):\n    if LIMIT > 2: x[i] = s\n    else: x[i] = -s",
    "for i in range(3):\n    x[i] = s if LIMIT > 0.5 and LIMIT < 2.5 else -s",
]


@pytest.mark.parametrize("body", DECIDED)
def test_branches_on_constants_are_decided(body):
    """In loops of scalars alone, too: docc forgets on what condition they store."""
    func = function(body, "x, s")
    func.__globals__["LIMIT"] = 2
    assert " if " not in check(func, data(5), 0.5).kernel_source


def test_choices_of_numbers_have_loops():
    body = "for i in range(3):\n    x[i] = np.where(x[i] > s, 2.0, s)"
    assert "where" not in check(function(body, "x, s"), data(5), 0.5).kernel_source


KNOWN = [
    "o = np.ones((3, 3), bool)\nreturn ~o & (A > 0), ~o | (A > 0), ~o ^ (A > 0), o ^ o, ~o * 2",
    "o = np.ones((3, 3), bool)\nreturn np.where(~o & (o | o), A, -A), np.where(o & (A > 0), 1, 2)",
    "k = (A * 3).astype(int)\nm = A > 0\nreturn k <= k, k != k, m ^ m, k[:1] < k[:1], A == A",
    "return np.logical_not(np.zeros(3, bool)), np.logical_xor(np.ones((3, 3), bool), A > 0)",
]


@pytest.mark.parametrize("body", KNOWN)
def test_truth_values_that_are_known_are_constants(body):
    """docc does not parse `not True`, and refuses what is compared with itself."""
    assert "not True" not in check(function(body, "A"), data(3, 3)).kernel_source


class Cell(IntEnum):
    EMPTY = 0
    TREE = 1
    FIRE = 2


class Kind(Enum):
    SOFT = "soft"
    HARD = "hard"


def burnt(x):
    found = x.copy()
    found[x == Cell.FIRE] = Cell.EMPTY
    count = 0
    for i in range(len(x)):
        if x[i] == Cell.TREE:
            count += Cell.FIRE
    return found, count, np.where(x > Cell.EMPTY, Cell.FIRE, Cell.TREE), x[Cell.TREE], x * Cell.FIRE


def kept(x, kind):
    if kind is Kind.SOFT:
        return np.sign(x) * np.maximum(np.abs(x) - 1, 0)
    return np.where(np.abs(x) > 1, x, 0)


def most(x):
    return Cell.FIRE if x[0] > 1 else Cell.TREE


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float32])
def test_members_of_enumerations_are_numbers(dtype):
    for n in (9, 4):
        x = np.random.default_rng(n).integers(0, 3, n).astype(dtype)
        got, expected = loopbook.native(burnt)(x), burnt(x)
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one, other)
            assert getattr(one, "dtype", type(one)) == getattr(other, "dtype", type(other))
    x = x.astype(np.int64)
    loopbook.native(burnt, strict=True)(x)


def test_members_that_are_passed_and_given_back():
    x = np.linspace(-2, 2, 7)
    compiled = loopbook.native(kept, strict=True)
    for kind in (Kind.SOFT, Kind.HARD, Kind.SOFT):
        np.testing.assert_array_equal(compiled(x, kind), kept(x, kind))
    for one in (x, -x):
        assert loopbook.native(most)(one) is most(one)


class Own(int):
    pass


STRANGE = Own(3)


def strange(x):
    return x * STRANGE, type(STRANGE).__name__


def test_numbers_of_classes_of_ones_own_stop_nothing():
    got = loopbook.native(strange)(np.arange(3))
    np.testing.assert_array_equal(got[0], np.arange(3) * 3)
    assert got[1] == "Own"
