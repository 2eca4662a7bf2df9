"""``@loopbook.native`` for calls with tuples and with keyword-only parameters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import loopbook
from loopbook.client.variants import dispatch
from loopbook.client.variants.unpacked import unpacked
from loopbook.errors import InterpretedWarning

pytestmark = pytest.mark.usefixtures("no_book")


def moved(w, moments, rates=(0.5, 0.25), *, by: float = 2.0):
    m, v = moments
    m[:] = rates[0] * m + w
    v[:] = rates[1] * v + w * w
    w -= by * m / (1.0 + v)
    return w.sum(), (m, v)


def test_tuples_and_names_are_compiled():
    program = loopbook.native(moved, strict=True)
    for rates, named in (((0.5, 0.25), {}), ((0.75, 0.5), {"by": 3.0})):
        ours = np.arange(5.0), (np.ones(5), np.zeros(5))
        theirs = np.arange(5.0), (np.ones(5), np.zeros(5))
        total, parts = program(*ours, rates, **named)
        expected, others = moved(*theirs, rates, **named)
        np.testing.assert_allclose(total, expected)
        for one, other in zip((ours[0], *parts), (theirs[0], *others), strict=True):
            np.testing.assert_allclose(one, other)
        assert parts[0] is ours[1][0]


def test_what_a_function_closes_over_stays_its_own():
    scale = 3.0

    def scaled(x, shape=(2, -1)):
        return (x * scale).reshape(shape)

    program = loopbook.native(scaled)
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterpretedWarning)
        np.testing.assert_array_equal(program(np.arange(6.0)), scaled(np.arange(6.0)))


def test_a_lambda_and_what_has_been_renamed_are_given_tuples():
    def scaled(x, by):
        return x * by[0]

    scaled.__name__ = "other"
    by_lambda = lambda x, by: x * by[0]  # noqa: E731
    for func in (scaled, by_lambda):
        for by in ((2.0, 1.0), [2.0, 1.0]):
            program = loopbook.native(func, strict=True)
            np.testing.assert_array_equal(program(np.arange(6.0), by), np.arange(6.0) * 2)


def test_what_is_refused_for_a_list_is_not_examined_again(monkeypatch):
    def exchanged(pair):
        pair[0], pair[1] = pair[1], pair[0]

    examined = []

    def counted(func, layouts):
        examined.append(layouts)
        return unpacked(func, layouts)

    monkeypatch.setattr(dispatch, "unpacked", counted)
    program = loopbook.native(exchanged)
    for _ in range(3):
        pair = [1.0, 2.0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InterpretedWarning)
            program(pair)
        assert pair == [2.0, 1.0]
    assert len(examined) == 1
