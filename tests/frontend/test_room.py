"""Temporaries that are kept from one call to the next."""

from __future__ import annotations

import threading

import numpy as np

from loopbook.frontend import lower, room

from .kit import data


def scaled(x):
    y = np.sort(x)
    z = y - np.median(x)
    return z, y[1:], z.sum()


def calls(x):
    """The function around a kernel that notes what it is given."""
    lowered = lower(scaled, [x])
    assert lowered is not None
    given = []

    def kernel(*args):
        named = dict(zip(lowered.kernel_parameters, args, strict=True))
        given.append({name: named[name] for name in lowered.temporaries})
        lowered.plain_kernel(*args)

    return lowered.wrap(kernel), given


def seen(result):
    """Names of what a call gave belong to arrays of its own."""
    return [np.array(part) for part in result]


def test_they_are_the_same_for_the_same_shapes_and_results_are_new_ones():
    outer, given = calls(data(6))
    first = outer(data(6, seed=1))
    kept = seen(first)
    second = outer(data(6, seed=2))
    outer(data(7))
    outer(data(6))
    one, other, longer, again = given
    own = [name for name, value in one.items() if other[name] is value]
    assert own
    assert all(one[name] is not longer[name] and one[name] is not again[name] for name in own)
    assert not any(np.shares_memory(a, b) for a, b in zip(first[:2], second[:2], strict=True))
    for now, then, want in zip(first, kept, scaled(data(6, seed=1)), strict=True):
        np.testing.assert_array_equal(now, then)
        np.testing.assert_allclose(now, want)


def test_a_call_within_a_call_has_its_own():
    lowered = lower(scaled, [data(6)])
    assert lowered is not None
    inside = threading.local()

    def kernel(*args):
        if not getattr(inside, "busy", False):
            inside.busy = True
            outer(data(6, seed=5))
        lowered.plain_kernel(*args)

    outer = lowered.wrap(kernel)
    outer(data(6))
    inside.busy = False
    np.testing.assert_allclose(outer(data(6))[0], scaled(data(6))[0])


def test_many_bytes_are_not_kept(monkeypatch):
    monkeypatch.setattr(room, "MOST_BYTES", 8)
    outer, given = calls(data(6))
    outer(data(6))
    outer(data(6))
    assert not any(given[1][name] is value for name, value in given[0].items())
