"""Functions of which a part has no form in loops: the rest is compiled."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import loopbook
from loopbook.client.variants import mixed
from loopbook.errors import InterpretedWarning, SdfgError

pytestmark = pytest.mark.usefixtures("no_book")


def spectral(u, nu):
    k = np.fft.fftfreq(u.shape[0]) * 2 * np.pi
    f = np.fft.fft(u)
    for i in range(f.shape[0]):
        f[i] = f[i] * np.exp(-nu * k[i] ** 2)
    v = np.real(np.fft.ifft(f))
    for i in range(u.shape[0]):
        u[i] = u[i] + v[i] * v[i]
    return u, v[1:]


def counted(x, bins):
    total = 0.0
    seen = {}
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            total += abs(x[i] - x[j])
    for value in x:
        seen[int(value * bins)] = seen.get(int(value * bins), 0) + 1
    return total, sorted(seen.items())


def drawn(n, seed):
    numbers = np.random.default_rng(seed)
    points = numbers.random((n, 2))
    inside = 0
    for i in range(n):
        if points[i, 0] ** 2 + points[i, 1] ** 2 < 1.0:
            inside += 1
    return 4.0 * inside / n


def rooted(x):
    out = np.empty_like(x)
    try:
        for i in range(x.shape[0]):
            out[i] = math.sqrt(x[i])
    except ValueError:
        out[:] = -1.0
    return out


def norm(z):
    largest = np.linalg.svd(z, compute_uv=False)
    total = 0.0
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            total += math.sin(z[i, j]) ** 2
    return largest[0] + total


def norms(z, n):
    total = 0.0
    for k in range(n):
        total += norm(z * (k + 1))
    return total


def tiny(x):
    words = []
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(3):
            total += x[i] * j
        words.append(str(int(total * 3) % 7))
    return "".join(words)


def ends_early(x, n):
    f = np.fft.fft(x)
    if f[0].real < 0:
        return None
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.999:
            return -1.0
        total += x[i] * x[i]
    return total * n


def chosen(x, name="half"):
    ways = {"half": lambda v: v * 0.5, "twice": lambda v: v + v}
    way = ways[name]
    total = np.zeros(x.shape)
    for k in range(3):
        total = total + way(x) * k + np.sort(x)[0]
    return str(total.shape), total


def given(*shape):
    return np.random.default_rng(3).random(shape)


CALLS = {
    spectral: (given(40), 0.1),
    counted: (given(30), 5),
    drawn: (200, 4),
    rooted: (given(20),),
    norms: (given(6, 5), 3),
    tiny: (given(12),),
    ends_early: (given(20), 3),
    chosen: (given(20),),
}


def copies(args):
    return [value.copy() if isinstance(value, np.ndarray) else value for value in args]


def same(one, other):
    """Whether two answers are of the same types, and the same but for rounding."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, str | None):
        return one == other
    return np.allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", CALLS, ids=lambda one: one.__name__)
def test_numbers_are_pythons(function):
    compiled = loopbook.native(function)
    with pytest.warns(InterpretedWarning, match="runs in part as plain Python"):
        compiled(*copies(CALLS[function]))
    for args in (
        CALLS[function],
        [-v if isinstance(v, np.ndarray) else v for v in CALLS[function]],
    ):
        for _ in range(mixed.UNTIMED + 2 * mixed.TIMED + 2):
            mine, others = copies(args), copies(args)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer, wanted = compiled(*others), function(*mine)
            assert same(answer, wanted)
            assert same(others, mine)


def test_what_is_given_back_is_what_was_passed():
    compiled, u = loopbook.native(spectral), given(40)
    with pytest.warns(InterpretedWarning):
        same, view = compiled(u, 0.1)
    assert same is u
    assert view.base is not None


def test_a_part_that_is_faster_as_python_is_cut_out_no_more():
    compiled = loopbook.native(tiny)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled(given(12))
        (made,) = compiled._pythons.values()
        assert isinstance(made, mixed.Mixed)
        (part,) = made._parts.values()
        part._ours, part._theirs, part.is_slower = [2.0], [1.0], True
        made._make()
        assert made.is_python
        assert compiled(given(12)) == tiny(given(12))


def test_a_function_that_is_defined_anew_is_called(monkeypatch):
    compiled = loopbook.native(norms)
    with pytest.warns(InterpretedWarning):
        compiled(given(6, 5), 3)
    monkeypatch.setitem(globals(), "norm", lambda z: 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert compiled(given(6, 5), 3) == 3.0


def counted_letters(x, words):
    found = []
    for word in words.split():
        length = sum(ord(letter) for letter in word)
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] * length
        found.append(total)
    return np.array(found)


def longer_and_longer(x, words):
    found = []
    for word in words.split():
        shift = sum(ord(letter) for letter in word)
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] * shift
        found.append(total)
        rest = 0.0
        for j in range(len(found)):
            rest += found[j]
        found[0] += rest + len(str(word))
    return np.array(found)


@pytest.mark.parametrize("function", [counted_letters, longer_and_longer])
def test_code_is_made_for_one_text_and_one_length(function):
    compiled = loopbook.native(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = compiled(given(20), "one two three two one")
    assert same(answer, function(given(20), "one two three two one"))
    (made,) = compiled._pythons.values()
    parts = [part._compiled for part in made._parts.values()]
    assert any(isinstance(one, mixed.Mixed) and not one.is_python for one in parts)


def test_a_strict_one_is_compiled_as_a_whole():
    with pytest.raises(SdfgError, match="would run as Python"):
        loopbook.native(spectral, strict=True)(given(40), 0.1)


def fitted(x, y):
    a = x.T @ x
    for i in range(a.shape[0]):
        a[i, i] += 0.5
    w = np.linalg.solve(a, x.T @ y)
    rest = y - x @ w
    return w, (rest * rest).mean()


def corner(x, y):
    return np.linalg.det(x[:3, :3]) + y[0]


@pytest.mark.parametrize(
    ("function", "rows", "whole"),
    [(fitted, mixed.LONG, False), (fitted, 9, True), (corner, mixed.LONG, True)],
)
def test_linear_algebra_of_large_arrays_is_numpys(function, rows, whole):
    compiled, args = loopbook.native(function), (given(rows, 4), given(rows))
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("error", InterpretedWarning)
            answer = compiled(*args)
        assert same(answer, function(*args))
    assert (compiled.last is not None) == whole


def scaled(x):
    return x * 100.0


def named_alike(x):
    held = [1.0, 2.0]

    def scaled(i):
        held[i] = x[i] * 2
        return held[i]

    total = scaled(0)
    for i in range(x.shape[0]):
        total += x[i]
    return held, total, sorted({str(v) for v in held})


def test_a_function_within_is_no_other_one_of_its_name():
    x = np.arange(3.0)
    assert loopbook.native(named_alike)(x) == named_alike(x)
