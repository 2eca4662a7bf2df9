"""Named tuples and lists of which all is known, orders of elements, rows of matrices."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.records import Making

from .kit import check, data, function

Pair = namedtuple("Pair", "low high", defaults=(2.0,))


@dataclass
class Step:
    size: float
    count: int = 2

    def all(self):
        return self.size * self.count


A, X, Y = data(4, 6), data(4), data(4, seed=1)
STACK = data(3, 4, 4) + 4 * np.eye(4)

BODIES = [
    "p = Pair(x * 2, high=y)\na, b = p\nx[0] = 5\nreturn a + p.high * p[0], len(p)",
    "p = Pair(x, y)._replace(high=x * 2)\nx[0] = 5\nreturn p.high + p.low, len(p._fields)",
    "p = Pair(1.0, 2)\nfor v in x:\n    p = p._replace(low=p.low + v)\nreturn p.low * p.high",
    "s = Step(0.5)\nreturn x * s.all() + s.count, hasattr(s, 'size'), isinstance(s, Step)",
    "if y[0] > 0:\n    p = Pair(y.sum())\nelse:\n    p = Pair(1.0, 3.0)\nreturn p.low * p.high",
    "i = [slice(None)] * A.ndim\ni[1] = slice(1, None)\ni[-2] = 0\nreturn A[tuple(i)]",
    "n = list(A.shape)\nn[0] = 2\nz = np.zeros(n)\n"
    "c = [1.0, 2.0]\nc[1] = x[0]\nx[0] = 9\nreturn z, np.array(c)",
    "return A.reshape(6, 4, order='F'), A.reshape((2, -1), order='C'), np.reshape(A, (-1, 3), 'F')",
    "return A.ravel('F'), A.flatten(order='F'), A.T.ravel(order='C'), np.ravel(A, 'F') + 1",
    "return np.linalg.inv(S), np.linalg.det(S), np.linalg.solve(S, S[:, :, :2])",
    "return np.array_equiv(x, x), np.array_equiv(A.T, x), math.dist((x[0], 1.0), [y[0], x[1]])",
]


def written(body, names="A, x, y, S"):
    made = function(body, names)
    made.__globals__.update(Pair=Pair, Step=Step)
    return made


@pytest.mark.parametrize("body", BODIES)
def test_it_gives_the_same(body):
    check(written(body), A.copy(), X.copy(), Y.copy(), STACK)


def test_a_named_tuple_is_returned_as_one():
    made = written("return Pair(x * 2, {'a': [y, 1]}), x", "x, y")
    lowered = lower(made, [X, Y])
    assert lowered is not None
    for got in (lowered.plain(X, Y), lowered.finished(_run(lowered, X, Y), [X, Y])[1]):
        assert isinstance(got[0], Pair)
        np.testing.assert_array_equal(got[0].low, X * 2)
        assert got[0].high["a"][0] is Y or (got[0].high["a"][0] == Y).all()


def _run(lowered, *args):
    values = lowered.prepare(*args)
    lowered.plain_kernel(*values)
    return values


def test_what_the_caller_has_is_not_returned_as_another_one():
    made = written("p = make(x)\nreturn p", "x")
    made.__globals__["make"] = Making(dict, ("a",))
    with pytest.raises(LoweringError, match="that the caller has"):
        lower(made, [X])


@pytest.mark.parametrize(
    "body",
    [
        "o = {}\no['a'] = x.mean()\no['b'] = x * 2\no['a'] += 1\no['b'][0] = 9\no['b'] *= s\n"
        "return o['a'], o['b'], len(o)",
        "o = {'p': 1}\nfor k in ('p', 'q'):\n    o[k] = x.sum()\nreturn sum(o.values()), o['q']",
        "o = {'n': 0}\nif len(x) > 3:\n    o['n'] = s\nfor k in o:\n    s += o[k]\nreturn s",
    ],
)
def test_items_of_a_dict_that_is_made_are_given_one_by_one(body):
    check(function(body, "x, s"), data(5), 2.5)


def test_dicts_that_others_see_are_not_changed():
    body = "def f(d):\n    d['z'] = 3\no = {'z': 1}\nf(o)\nreturn o['z']"
    with pytest.raises(LoweringError, match="no array"):
        lower(function(body, "x, s"), [data(5), 2.5])
