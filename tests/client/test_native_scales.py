"""What is compiled for small arrays is not what large ones are computed with."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.client.native import NativeProgram
from loopbook.client.variants import dispatch
from loopbook.client.variants import scale as scale_module
from loopbook.client.variants.case import Case
from loopbook.client.variants.scale import SCALES, scale
from loopbook.client.variants.scale import _caches as caches

KIB = 1024


def scaled(x, y):
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i]


def doubled(x, y):
    y[:] = np.sqrt(x) * 2.0


@pytest.fixture
def small_caches(monkeypatch):
    monkeypatch.setattr(scale_module, "_caches", lambda: [KIB, 16 * KIB, 256 * KIB])


@pytest.fixture
def compiled(monkeypatch):
    """The sizes that were compiled for."""
    sizes = []
    place = NativeProgram._place

    def noting(program, traced, args, folder, **options):
        sizes.append(len(args[0]))
        return place(program, traced, args, folder, **options)

    monkeypatch.setattr(NativeProgram, "_place", noting)
    return sizes


def test_scales_count_the_caches_that_are_too_small(small_caches):
    sizes = [0, KIB, KIB + 1, 16 * KIB, 16 * KIB + 1, 256 * KIB, 256 * KIB + 1, 2**40]
    assert [scale(n) for n in sizes] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert scale(2**40) == SCALES - 1


def test_caches_are_those_of_this_machine():
    sizes = list(caches())
    assert sizes == sorted(sizes)
    assert len(sizes) < SCALES
    assert 0 not in sizes


def test_an_array_that_is_passed_twice_counts_once(small_caches):
    x = np.zeros(KIB // 8)
    assert Case(("a", "b"), (x, x)).scale == 0
    assert Case(("a", "b"), (x, x.copy())).scale == 1


@pytest.mark.parametrize("kernel", [scaled, doubled])
def test_each_scale_is_compiled_for_once(kernel, small_caches, compiled):
    program = loopbook.native(kernel, strict=True)
    for n in (40, 50, 4000, 45, 5000, 400, 4001, 500):
        x, y, expected = np.arange(float(n)), np.zeros(n), np.zeros(n)
        program(x, y)
        kernel(x, expected)
        np.testing.assert_array_equal(y, expected)
    assert compiled == [40, 4000, 400]


@pytest.mark.parametrize("kernel", [scaled, doubled])
def test_each_scale_is_compared_with_python_once(kernel, small_caches, monkeypatch):
    compared = []
    check = dispatch.check

    def noting(func, case, *rest):
        compared.append(case.args[0].size)
        return check(func, case, *rest)

    monkeypatch.setattr(dispatch, "check", noting)
    program = loopbook.native(kernel, strict=True, check=True)
    for n in (40, 50, 4000, 4001):
        program(np.arange(float(n)), np.zeros(n))
    assert compared == [40, 4000]
