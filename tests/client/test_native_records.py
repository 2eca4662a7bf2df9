"""``@loopbook.native`` for calls with dicts, lists, objects and functions."""

from __future__ import annotations

import types
import warnings
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import loopbook
from loopbook.client.variants.constants import Constants
from loopbook.client.variants.layouts import Wanted
from loopbook.errors import InterpretedWarning, SdfgError

pytestmark = pytest.mark.usefixtures("no_book")

Rates = namedtuple("Rates", "fast slow")


@dataclass
class Wave:
    c: float
    u: np.ndarray
    log: list = field(default_factory=lambda: ["not", object()])
    ORDER = 2

    @property
    def square(self):
        return self.c * self.c

    def slope(self, scale):
        return scale * self.square * (self.u[1:] - self.u[:-1])

    def step(self, options, parts, rates, f, *more, **named):
        self.u[1:] += options["dt"] * self.slope(self.ORDER) + f(parts[0][1:])
        self.u *= rates.fast
        shift = sum(more) + named.get("shift", 0.0) + rates[1]
        return {"u": self.u + shift, "n": len(parts), "all": [p * 2 for p in parts]}


class Fixed(Wave):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


def twice(x):
    return 2 * x


def test_what_records_hold_is_passed_one_by_one():
    step = loopbook.native(Wave.step, strict=True)
    for count in (6, 7):
        given = {"dt": 0.5, "unused": object()}, [np.ones(count), np.arange(float(count))]
        rest = Rates(0.5, 3.0), twice, 1.0, 2.0
        ours, theirs = Wave(1.5, np.arange(float(count))), Wave(1.5, np.arange(float(count)))
        got = step(ours, *given, *rest, shift=0.25)
        expected = theirs.step(*given, *rest, shift=0.25)
        assert list(got) == list(expected)
        assert got["n"] == 2
        np.testing.assert_allclose(got["u"], expected["u"])
        np.testing.assert_allclose(got["all"], expected["all"])
        np.testing.assert_allclose(ours.u, theirs.u)


def test_a_compiled_method_is_bound():
    class Scaled:
        by = 3.0

        @loopbook.native(strict=True)
        def of(self, x):
            return x * self.by + 1

    np.testing.assert_array_equal(Scaled().of(np.arange(4.0)), np.arange(4.0) * 3 + 1)


def test_what_the_caller_has_too_is_not_changed_behind_its_back():
    def stores(p, x):
        for name in p:
            p[name] = x * 2

    def appends(xs, x):
        xs.append(x)
        return x + 1

    cases: list[tuple[Any, Any]] = [(stores, {"y": 1.0}), (appends, [1.0])]
    for function, given in cases:
        with pytest.raises(SdfgError, match="as Python"):
            loopbook.native(function, strict=True)(given, np.ones(3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loopbook.native(function)(given, np.ones(3))
        assert isinstance(given["y"], np.ndarray) if isinstance(given, dict) else len(given) == 2


class Walk:
    def __init__(self, count):
        self.u, self.t, self.last = np.ones(count), 0.0, None

    def step(self, options, f):
        """What a simulation does."""
        self.u += f
        old = self.u
        self.u = self.u * options["dt"] + self.t
        self.last = old[::2]
        options["calls"] += 1
        if options["dt"] < 1:
            self.t += options["dt"]

    def value(self, f):
        self.t = self.t + f.sum()
        return self.t if self.t > 3 else 3.0, self.u


def test_what_is_stored_into_objects_and_dicts_is_there_after_the_call():
    step, value = loopbook.native(Walk.step, strict=True), loopbook.native(Walk.value, strict=True)
    ours, theirs = Walk(5), Walk(5)
    mine, others = {"dt": 0.5, "calls": 0}, {"dt": 0.5, "calls": 0}
    for number in range(3):
        f = np.arange(5.0) - number
        before = ours.u
        assert step(ours, mine, f) is None
        theirs.step(others, f)
        assert mine == others
        assert type(ours.t) is type(theirs.t)
        for name in ("u", "t", "last"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name))
        assert ours.u is not before
        assert ours.last is not None
        assert np.shares_memory(ours.last, before)
    got, expected = value(ours, f), theirs.value(f)
    np.testing.assert_allclose(got[0], expected[0])
    assert got[1] is ours.u
    assert ours.t == theirs.t


def checked(self, f):
    self.t = self.t + 1
    if f.sum() > 0:
        raise ValueError("too late")


def at_times(self, f):
    if f.sum() > 0:
        self.u = self.u + f


def test_an_array_that_is_not_replaced_stays_the_same_one():
    compiled = loopbook.native(at_times, strict=True)
    walk, u = Walk(3), None
    for f in (np.ones(3), -np.ones(3), np.ones(3)):
        u = walk.u
        compiled(walk, f)
        assert (walk.u is u) == (f[0] < 0)
    np.testing.assert_array_equal(walk.u, 3.0)


def called(self, f):
    self.t = self.t + self.slope(f)


def frozen(self, f):
    self.c = self.c * 2
    return f * self.c


def test_what_might_be_lost_is_stored_by_python():
    walk = Walk(3)
    with pytest.raises(SdfgError, match="before a check"):
        loopbook.native(checked, strict=True)(walk, np.ones(3))
    with pytest.warns(InterpretedWarning), pytest.raises(ValueError, match="too late"):
        loopbook.native(checked)(walk, np.ones(3))
    assert walk.t == 1.0
    for function in (called, frozen):
        with pytest.raises(SdfgError, match="which the caller has too"):
            loopbook.native(function, strict=True)(Fixed(1.5, np.ones(3)), np.ones(3))


def test_functions_of_the_same_code_are_one():
    def apply(f, x):
        return f(x)

    def times(by):
        return lambda x: x * by

    import inspect

    wanted = Wanted(apply, inspect.signature(apply))
    x = np.ones(3)
    assert wanted.packed([times(2), x]) == wanted.packed([times(2), x])
    assert wanted.packed([times(2), x]) != wanted.packed([times(2.0), x])


def test_attributes_of_objects_outside_may_get_other_values():
    settings = types.SimpleNamespace(dt=0.5, inner=types.SimpleNamespace(k=1))

    def used(x):
        return x * settings.dt + settings.inner.k + np.pi

    constants = Constants(used)
    before = constants.key()
    assert constants.unchanged()
    settings.inner.k = 2
    assert not constants.unchanged()
    assert constants.key() != before


def test_what_a_called_function_reads_is_looked_at():
    scope = {}
    text = "def inner(x, n=2):\n    return x * rate * n\ndef outer(x):\n    return inner(x) + 1\n"
    exec(text, scope | {"rate": 2.0}, scope)
    scope["inner"].__globals__.update(scope, rate=2.0)
    constants, inner = Constants(scope["outer"]), scope["inner"]
    seen = {constants.key()}
    for change in (
        lambda: inner.__globals__.update(rate=3.0),
        lambda: setattr(inner, "__defaults__", (3,)),
        lambda: setattr(inner, "__code__", (lambda x, n: x).__code__),
    ):
        assert constants.unchanged()
        change()
        assert not constants.unchanged()
        seen.add(constants.key())
    assert len(seen) == 4
