"""Programs that docc crashes on again and again while it fuses their loops: all are kept apart."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import loopbook
from loopbook.sdfg import marks, program
from loopbook.sdfg.frontend import trace


def divided_by_the_last(a, b):
    c = a * a
    return b / c[-1], c / c[-1]


def filtered(x, t):
    b = np.array([1 - t, t, 2 * t])
    a = np.array([1 + t, -t, 3 * t])
    b, a = b / a[0], a / a[0]
    y = np.zeros_like(x)
    p = q = 0.0
    for n in range(len(x)):
        z = x[n]
        w = b[0] * z + p
        p = b[1] * z - a[1] * w + q
        q = b[2] * z - a[2] * w
        y[n] = w
    return y


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (divided_by_the_last, (np.linspace(1, 2, 7), np.linspace(2, 3, 7))),
        (filtered, (np.linspace(-1, 2, 20), 0.3)),
    ],
)
def test_they_are_compiled(function, args):
    got = loopbook.native(function, strict=True)(*args)
    np.testing.assert_allclose(got, function(*args))


def doubled_sums(x, y):
    for i in range(x.shape[0]):
        x[i] = x[i] + y[i]
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i]


def test_what_crashes_is_prepared_with_its_loops_apart(monkeypatch):
    args = [np.arange(5.0), np.ones(5)]
    text = trace(doubled_sums, args)
    assert not marks.formed(program.prepare_apart(text)[0])
    monkeypatch.setattr(program, "_prepared", lambda _: os.kill(os.getpid(), signal.SIGSEGV))
    prepared, nests = program.prepare_apart(text)
    assert marks.formed(prepared)
    assert len(nests) == 2
