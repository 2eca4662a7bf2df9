"""Compiled loops whose sizes and conditions depend on what is in the arguments."""

from __future__ import annotations

import math

import numpy as np
import pytest

import loopbook
from loopbook.client.variants import translations
from loopbook.errors import SdfgError

pytestmark = pytest.mark.usefixtures("no_book")


@loopbook.native(strict=True)
def counts(i, line, x):
    return np.bincount(i), np.searchsorted(line, x)


def test_each_call_is_looked_into():
    i, line, x = np.array([2, 0, 2, 1]), np.linspace(0, 1, 5), np.array([0.9, 0.3])
    for factor in (1, 1, 400, 0, 1):  # after the first one the short way, for the same shapes
        found, wanted = counts(i * factor, line, x), counts.func(i * factor, line, x)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    for one, other in ((i, line[::-1].copy()), (i - 1, line)):
        with pytest.raises(SdfgError, match="refuses these arguments"):
            counts(one, other, x)


def test_an_index_may_turn_out_to_be_negative():
    """Of a number or of data: it counts from the end, in a function of loops too."""

    @loopbook.native(strict=True)
    def taken(x, y, places, k):
        for i in range(x.shape[0]):
            x[i] = y[k - 1] + y[places[i] - 1]
        x[k - 2] = 7.0

    places, y = np.array([3, 0, 1, -1]), np.arange(1.0, 5.0)
    for k in (3, 1, 0):
        found, wanted = np.zeros(6), np.zeros(6)
        taken(found[1:-1], y, places, k)
        taken.func(wanted[1:-1], y, places, k)
        np.testing.assert_array_equal(found, wanted)


def test_a_label_of_few_bits_may_be_a_place_of_many_later():
    """docc keeps the first type of a variable; it begins with all bits, then."""

    @loopbook.native(strict=True)
    def roots(labels, parents):
        for i in range(labels.shape[0]):
            place = labels[i]
            while parents[place] != place:
                place = parents[place]
            labels[i] = place

    labels, parents = np.array([4, 3, 0, 1], np.int32), np.array([0, 0, 1, 2, 3])
    found, wanted = labels.copy(), labels.copy()
    roots(found, parents)
    roots.func(wanted, parents)
    np.testing.assert_array_equal(found, wanted)


def test_unsigned_words_wrap_around_and_compare_as_such():
    @loopbook.native(strict=True)
    def mixed(x, y, s):
        h = np.uint64(14695981039346656037)
        for v in x:
            h = (h ^ (v >> np.uint64(7))) * np.uint64(1099511628211)
        x += s
        return h, x // y, x % np.uint64(1000), x < y, x.astype(np.float64), h % np.uint64(10)

    rng = np.random.default_rng(0)
    for n in (1, 2, 40):
        x, y = (rng.integers(0, 2**64, n, dtype=np.uint64) for _ in range(2))
        x[0], y[-1] = 2**63, 3
        own, s = x.copy(), np.uint64(2**64 - 5)
        for one, other in zip(mixed(own, y, s), mixed.func(x, y, s), strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        np.testing.assert_array_equal(own, x)


def test_what_is_returned_is_pythons_number_or_numpys():
    @loopbook.native(strict=True)
    def found(x, least):
        best, place, total = 0.0, -1, 0
        for i in range(len(x)):
            if x[i] > least:
                best, place = x[i], np.argmax(x[: i + 1])
                total += x[i]
        return best, place, max(0, x[0]), total, best * 2 if place > 0 else 1

    for x in (np.arange(-2.0, 4.0), np.arange(-2, 4), np.arange(6.0)[::-1].copy()):
        for least in (0.5, 9.0):
            one, other = found(x, least), found.func(x, least)
            assert one == other
            assert [type(v) for v in one] == [type(v) for v in other]


def test_what_is_too_small_says_nothing_of_others():
    """Of two rows nothing is left, for which there is no code; of nine there is."""

    @loopbook.native(strict=True)
    def joined(x):
        rest = np.zeros((x.shape[0] - 2, 2))
        for i in range(x.shape[0] - 2):
            rest[i, 0] = x[i, 0] + x[i + 1, 1]
        return rest

    for n in (2, 3, 2, 9):
        x = np.arange(n * n * 1.0).reshape(n, n)
        if n == 2:
            with pytest.raises(SdfgError, match="is empty"):
                joined(x)
        else:
            np.testing.assert_array_equal(joined(x), joined.func(x))


def test_what_has_no_form_in_loops_is_not_tried_for_all_sizes(monkeypatch):
    tried = []
    real = translations.translated
    monkeypatch.setattr(
        translations, "translated", lambda *args, **given: tried.append(1) or real(*args, **given)
    )
    spectrum = loopbook.native(lambda x: np.fft.rfft(x), strict=True)
    for n in range(5, 12):
        with pytest.raises(SdfgError, match="no loops yet"):
            spectrum(np.ones(n))
    assert len(tried) == 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16])
def test_places_in_rows_are_numpys(dtype):
    @loopbook.native(strict=True)
    def places(x):
        return np.argmin(x, axis=1), np.argmax(x, axis=1), np.argmax(x)

    for size in (2, 16, 256, 300, 1000):
        x = np.random.default_rng(size).integers(-99, 99, (40, size)).astype(dtype)
        x[3], x[4, -1], x[5, size // 2] = 0, 100, -100
        if x.dtype.kind == "f":
            x[6, size // 3 :: 7], x[7], x[8, -1] = np.nan, np.nan, np.nan
        for one, other in zip(places(x), places.func(x), strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_step_and_its_copy_name_one_place():
    """docc reads an element once where a variable and a copy of it lead there."""

    @loopbook.native(strict=True)
    def transformed(re, im):
        n = len(re)
        j = 0
        for i in range(1, n):
            bit = n >> 1
            while j & bit:
                j ^= bit
                bit >>= 1
            j |= bit
            if i < j:
                re[i], re[j] = re[j], re[i]
                im[i], im[j] = im[j], im[i]
        length = 2
        while length <= n:
            angle = -2 * math.pi / length
            c, s = math.cos(angle), math.sin(angle)
            for start in range(0, n, length):
                p, q = 1.0, 0.0
                for k in range(length // 2):
                    a, b = start + k, start + k + length // 2
                    x = re[b] * p - im[b] * q
                    y = re[b] * q + im[b] * p
                    re[b], im[b] = re[a] - x, im[a] - y
                    re[a] += x
                    im[a] += y
                    p, q = p * c - q * s, p * s + q * c
            length <<= 1

    for n in (128, 64):
        x = np.random.default_rng(n).standard_normal(n)
        re, im = x.copy(), np.zeros(n)
        transformed(re, im)
        np.testing.assert_allclose(re + 1j * im, np.fft.fft(x), atol=1e-12)
