"""Functions of functions, of any number of arguments, and Python's own functions over arrays."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError

from .kit import check, data, function

A, X, Y = data(4, 5), data(5), data(5, seed=1)
HOLES = np.array([[1.0, np.nan, -2.0], [np.nan, 3.0, 4.0], [-np.inf, np.nan, -np.inf]])


@functools.lru_cache
def remembered(n):
    return n * 2


def more(*parts, scale=1.0, **named):
    return sum(parts) * scale + named.get("shift", 0.0) * len(named)


def positive(v, least):
    if v > least:
        return v * least
    return 0.0


shifted = functools.partial(positive, least=0.25)
each = np.vectorize(positive)

BODIES = [
    "f = functools.partial(np.add, 1.0)\ng = functools.partial(f, y)\nreturn f(x), g()",
    "return each(x, 0.5), each(A, y), np.vectorize(lambda v: v * 2)(p)",
    "return np.vectorize(shifted)(A).sum(), shifted(x[0]), remembered(3)",
    "return functools.reduce(np.maximum, [x, y, x * y], x), more(x, y, scale=2.0, shift=1, a=2)",
    "def f(*a, by=2, **more):\n    return a[0] * by + a[-1] * more['c']\nreturn f(x, y, c=3)",
    "def f(x, /, y=2.0, *, z):\n    return x * y + z\nreturn f(x, z=1.0), f(y, 3.0, z=x)",
    "return any(x > 1), all(v < 3 for v in x), any([]), all((k, True)), any([k == 3, k == 4])",
    "return sum(v for v in sorted(x)), np.array(sorted(x, reverse=True)), sorted((x[1], x[0]))[0]",
    "s = 0.0\nfor v in reversed(x):\n    s = s / 2 + v\nreturn s, reversed((1, k))[0] if 0 else 1",
    "s = 1.0\nfor i in range(k)[::-1]:\n    s = s / 2 + x[i]\n"
    "for i in range(1, k + 1, 2)[::-1]:\n    s = s * 2 - x[i]\nreturn s",
    "i = slice(1, -1)\nj = np.s_[::2, 1:k]\nz = np.zeros(5)\nz[i] = x[i]\n"
    "return z, A[j], A[1:3][:, i]",
    "return A[(slice(None), slice(k))], x[PART], A[np.s_[1:, ...]], A[np.index_exp[0]], "
    "PART.stop - PART.start, PART.step is None, slice(k).start is None",
    "if type(x) is np.ndarray and hasattr(x, 'shape') and not hasattr(k, 'shape'):\n"
    "    return x * 2 if callable(np.sin) else x\nreturn y",
    "return isinstance((1, 2), tuple), isinstance(None, str), isinstance([x], (tuple, list))",
    "a, b = np.broadcast_arrays(x, A[:, :1])\n"
    "return a * b, np.zeros(np.broadcast_shapes(x.shape, (3, 1)))",
    "return np.atleast_1d(k), np.atleast_2d(x), np.atleast_2d(A), np.atleast_3d(x)",
    "return x.item(1), A.item(2, 3), A.item(7), x.sum().item(), x.itemsize, A.nbytes",
    "return np.rollaxis(A, 1), np.rollaxis(A[None], 0, 3), np.diagflat(x, 1), np.array(x, ndmin=3)",
    "t, dt = np.linspace(0, 1, 5, retstep=True)\nu, du = np.linspace(0, k, k, False, True)\n"
    "return t * dt, u * du",
    "return np.trapezoid(A), np.trapezoid(A, axis=0, dx=0.5), np.trapezoid(x, y)",
    "return np.modf(x * 3), np.signbit(x), np.modf(np.array([np.inf, -np.inf, np.nan, -0.0]))",
    "return np.choose(p % 3, [x, y, 2 * x]), np.choose(p % 2, (1, 2))",
    "np.place(x, x > 0, 7.0)\nz = np.zeros((4, 5))\nnp.copyto(z, x, where=A > 0)\n"
    "np.copyto(z, 3, where=x > 1)\nreturn z",
    "return np.fromiter((v * 2 for v in x), float), np.fromiter([1, k], dtype=int, count=2)",
    "return np.diff(x, prepend=0.0), np.diff(x, 1, 0, y[:2], k), math.prod((k, 2))",
    "return np.geomspace(1, 8, 4), special.expit(A), special.xlogy(x, np.abs(y)), special.erf(A)",
    "return x[-3:][::-1], A[::-1, 1:3][:, ::-1], A.T[::-1], np.iscomplexobj(x), np.isrealobj(A)",
    "return f'{1}a' == '1a', len(f'{2 + 1}bc')",
]
NAMES = "A, x, y, k, p"


def written(body, names=NAMES):
    from scipy import special

    made = function(body, names)
    made.__globals__.update(
        functools=functools, special=special, each=each, more=more, shifted=shifted,
        remembered=remembered, PART=slice(1, 3),
    )  # fmt: skip
    return made


@pytest.mark.parametrize("body", BODIES)
def test_it_gives_the_same(body):
    check(written(body), A.copy(), X.copy(), Y.copy(), 3, np.array([2, 0, 1, 4, 5]))


def test_what_is_missing_has_no_place():
    body = "return np.nanargmax(a, axis=1), np.nanargmin(a), np.nanargmax(a[0]), np.nanmedian(a)"
    check(written(body, "a"), HOLES)
    lowered = check(written("return np.nanargmin(a, axis=0)", "a"), HOLES)
    with pytest.raises(SupposedError):
        lowered.plain(HOLES * np.array([np.nan, 1.0, 1.0]))


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("return sorted(x)", np.array([1.0, np.nan, 0.0])),
        ("return np.choose(x.astype(int), [1, 2])", np.array([0.0, 2.0])),
    ],
)
def test_what_was_supposed_and_is_not_so_is_pythons(body, given):
    lowered = lower(written(body, "x"), [np.array([1.0, 0.0, 1.0])[: len(given)]])
    assert lowered is not None
    with pytest.raises(SupposedError):
        lowered.plain(given)


def test_a_lambda_is_found_where_it_is_written():
    scale, other = (lambda v: v * 2), lambda v, w=3: v - w

    def kernel(x):
        return scale(x) + other(x)

    check(kernel, X)
    one, two = (lambda v: v * 2), (lambda v: v + v * 3)  # fmt: skip

    def on_one_line(x):
        return one(x) + two(x)

    check(on_one_line, X)
    nowhere = eval("lambda v: v * 2")

    def unclear(x):
        return nowhere(x)

    with pytest.raises(LoweringError, match="write it with def"):
        lower(unclear, [X])


def test_operators_as_functions():
    text = "operator.add(x, y), operator.sub(x, 2), operator.truediv(x, 3), operator.lt(x, y)"
    text += ", operator.neg(x), functools.reduce(operator.mul, A.shape), operator.add((1, 2), (3,))"
    func = function(f"return {text}", "A, x, y")
    func.__globals__.update(functools=functools, operator=operator)
    check(func, data(3, 4), data(5), data(5, seed=1))


def halved(x):
    if len(x) <= 1:
        return x
    left, right = halved(x[::2]), halved(x[1::2])
    return np.concatenate([left + right, left - right])


def test_a_function_that_calls_itself_is_written_out_a_few_times():
    check(halved, data(8))
    with pytest.raises(LoweringError, match="so often that Python is quicker"):
        lower(halved, (data(64),))
