"""Greatest and least numbers of those for which something else holds."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import prepared_text

import loopbook
from loopbook.program.json_text import loaded
from loopbook.program.read import read
from loopbook.sdfg.decided import decide
from loopbook.sdfg.guarded_extremes import PREFIX, with_guards_apart


def rising(a, d, w):
    for i in range(a.shape[0]):
        m = 0.0
        for j in range(i):
            if a[j] < a[i] and d[j] > m:
                m = d[j]
        d[i] = m + w[i]


def rising_whole(a, d, w):
    for i in range(a.shape[0]):
        m = 0
        for j in range(i):
            if d[j] > m and a[j] < a[i]:
                m = d[j]
        d[i] = m + 1


def within(a, d, w):
    for i in range(a.shape[0]):
        m = w[i]
        for j in range(a.shape[0]):
            if a[j] < a[i]:  # noqa: SIM102
                if a[j] * w[j] <= m:
                    m = a[j] * w[j]
        d[i] = m


def three(a, d, w):
    for i in range(a.shape[0]):
        m = w[i]
        for j in range(a.shape[0]):
            if a[j] < a[i] and w[j] > 0.5 and m >= a[j]:
                m = a[j]
        d[i] = m


def counted_too(a, d, w):
    for i in range(a.shape[0]):
        m = 0.0
        for j in range(a.shape[0]):
            if a[j] < a[i] and a[j] > m:
                m = a[j]
                w[i] += 1.0
        d[i] = m


def something_else(a, d, w):
    for i in range(a.shape[0]):
        m = 0.0
        for j in range(a.shape[0]):
            if a[j] < a[i] and a[j] > m:
                m = w[j]
        d[i] = m


def asked_again(a, d, w):
    for i in range(a.shape[0]):
        m = 0.0
        for j in range(a.shape[0]):
            if a[j] < a[i] and a[j] > m:
                m = a[j]
            w[j] = w[j] + m
        d[i] = m


APART = [rising, rising_whole, within, three]
LEFT = [counted_too, something_else, asked_again]


def _given(kernel, n):
    random = np.random.default_rng(n)
    whole = kernel is rising_whole
    return [random.random(n), np.zeros(n, int) if whole else random.random(n), random.random(n)]


def _has_guards(kernel) -> bool:
    program = decide(read(loaded(prepared_text(kernel, _given(kernel, 9)))))
    return any(name.startswith(PREFIX) for name in with_guards_apart(program).containers)


@pytest.mark.parametrize("kernel", APART)
def test_guards_stand_apart(kernel):
    assert _has_guards(kernel)


@pytest.mark.parametrize("kernel", LEFT)
def test_what_does_more_stays(kernel):
    assert not _has_guards(kernel)


@pytest.mark.parametrize("kernel", APART + LEFT)
@pytest.mark.parametrize("special", [0.0, np.nan, np.inf, -np.inf])
def test_numbers_are_python_s(kernel, special):
    native = loopbook.native(kernel, strict=True)
    for n in (1, 2, 7, 40):
        given = _given(kernel, n)
        given[0][n // 2 :: 5] = given[2][n // 3 :: 7] = special
        expected, got = ([one.copy() for one in given] for _ in range(2))
        kernel(*expected)
        native(*got)
        for one, other in zip(expected, got, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def among(a, d, res):
    m = d[0]
    for j in range(a.shape[0]):
        if a[j] > 5 and d[j] > m:
            m = d[j]
    res[0] = m


def test_the_least_whole_number_stays():
    least = np.iinfo(np.int64).min
    res = np.zeros(1, int)
    loopbook.native(among)(np.arange(6), np.full(6, least), res)
    assert res[0] == least
