"""Numbers that are made of themselves again and again, and those that only seem to be."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import loopbook
from loopbook.program.amplifies import amplifies
from loopbook.program.read import read
from loopbook.sdfg.build import finish

pytestmark = pytest.mark.usefixtures("no_book")


def lorenz(n, dt=0.01):
    x, y, z = 1.0, 1.0, 1.0
    path = np.empty((n, 3))
    for i in range(n):
        dx, dy, dz = 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z
        x += dt * dx
        y += dt * dy
        z += dt * dz
        path[i] = x, y, z
    return path


def lorenz_in_steps_of_four(n, dt=0.01):
    def slope(s):
        x, y, z = s
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    s = np.array([1.0, 1.0, 1.0])
    for _ in range(n):
        a = slope(s)
        b = slope(s + dt / 2 * a)
        c = slope(s + dt / 2 * b)
        d = slope(s + dt * c)
        s = s + dt / 6 * (a + 2 * b + 2 * c + d)
    return s


def along_a_line(n):
    x = np.empty(n + 1)
    x[0] = 0.3
    for t in range(n):
        x[t + 1] = 3.97 * x[t] * (1 - x[t])
    return x


def many_at_once(n):
    r = np.linspace(2.5, 4.0, 200)
    x = np.full(200, 0.5)
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def kicked(n):
    p, q = 0.3, 0.4
    for _ in range(n):
        p = p + 1.7 * math.sin(q)
        q = q + p
    return p, q


def fractal(n):
    x, y = np.linspace(-2, 0.6, 60), np.linspace(-1.2, 1.2, 41)
    c = x + 1j * y[:, None]
    z, times = np.zeros_like(c), np.zeros(c.shape, dtype=int)
    for _ in range(n):
        inside = np.abs(z) <= 2
        z = np.where(inside, z * z + c, z)
        times += inside
    return times


def filtered(n):
    y = z = total = 0.0
    gain = np.cos(np.arange(n) * 0.1)
    for i in range(n):
        y, z = 0.9 * gain[i] * y - 0.2 * z + 1.0, y
        total += y * y
    return total


def stencil(n):
    u = np.sin(np.arange(50.0))
    for _ in range(n):
        u[1:-1] = u[1:-1] - 0.01 * u[1:-1] * (u[1:-1] - u[:-2])
    return u


def reused(n):
    data, out = np.arange(50.0), np.empty(50)
    for _ in range(n):
        for i in range(50):
            x = data[i] * 0.5
            x = x * x
            out[i] = x * x
    return out


def dominant(n):
    A, v = np.eye(60) + 0.1, np.arange(60.0)
    for _ in range(n):
        v = A @ v
        v = v / np.sqrt((v * v).sum())
    return v


def eliminated(n):
    p = q = 0.1
    for i in range(n):
        q = (0.3 * i - q) / (2.5 + p)
        p = -1.0 / (2.5 + p)
    return q


def factorised(n):
    A = np.eye(n) + 0.1
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
    return A


CHAOTIC = [lorenz, lorenz_in_steps_of_four, along_a_line, many_at_once, kicked, fractal]
TAME = [filtered, stencil, reused, dominant, eliminated, factorised]


def found(func):
    program = loopbook.native(func, strict=True)
    program(20)
    text = finish(program.last_sdfg.to_json(), "sequential", None)
    return amplifies(read(json.loads(text)))


@pytest.mark.parametrize("func", CHAOTIC)
def test_errors_that_grow_are_found(func):
    assert found(func)


@pytest.mark.parametrize("func", TAME)
def test_others_are_left_alone(func):
    assert not found(func)


@pytest.mark.parametrize("func", CHAOTIC)
def test_python_s_numbers_are_found_after_many_steps(func):
    n = 60 if func is kicked else 2000
    np.testing.assert_allclose(loopbook.native(func, strict=True)(n), func(n), rtol=1e-6)
