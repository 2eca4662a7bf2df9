"""Statements around the arithmetic: checks that raise, prints, ``match``, ``:=``, dicts."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError

from .kit import check, data, function

X = np.arange(1.0, 7.0)

BODIES = [
    "s = x.sum()\nassert s > 0, f'{s} is not positive'\nreturn x / s",
    "if np.any(np.isnan(x)):\n    raise ValueError('not a number')\nreturn x * 2",
    "for i in range(6):\n    if x[i] < 0:\n        raise ValueError(i)\n    x[i] = x[i] ** 0.5",
    "if k == 1:\n    y = x\nelif k == 3:\n    y = x * 2\nelse:\n    raise ValueError\nreturn y",
    "if k > 5:\n    print(f'{k} is large')\nfor i in range(3):\n    x *= 2\n"
    "    if k > 9 and i % 2:\n        print(i)",
    "if (total := x.sum()) > 1 and (k > 1):\n    return x / total\nreturn x",
    "n = 0\nwhile (s := x.sum()) > 1:\n    x = x / 2\n    n += 1\nreturn x, s, n",
    "r = 0.0\nfor v in x:\n    if v > 0.2 and (d := v * 2) < 1.5:\n        r += d\n"
    "    elif v < 0 and (d := v * v) > 0.1 and d < k:\n        r -= d\n    else:\n        r += 9\n"
    "return r",
    "i, r = 0, 0.0\nwhile i < len(x) and (d := abs(x[i])) < k:\n    i += 1\n    if d > 0.5:\n"
    "        continue\n    r += d\nreturn i, r",
    "return np.array([d + v for v in x if v > 0 if (d := v * v - 0.1) > 0])",
    "if k < 0:\n    return x\nelif (m := x.max()) > 1:\n    return x + m\nreturn x - 1.0",
    "match k:\n    case 0 | 1:\n        return x\n    case 3 if x[0] > 5:\n        return x * 2\n"
    "    case _:\n        return x * 3",
    "from numpy import sin, linalg as la\nimport math as m\nreturn sin(x) * la.norm(x) * m.pi",
    "global np\nreturn np.sqrt(x)",
    "p = {'a': x * 2, 'b': 3}\nq = dict(p, c=1.5)\nx[0] = 7\nreturn p['a'] * q['c'] + len(q)",
    "s = 0.0\nfor name, w in {'a': 0.5, 'b': 2}.items():\n    s += w * x[k] * len(name)\nreturn s",
    "p = {**{'a': 1}, 'b': x}\nreturn {'sum': p['b'].sum(), 'x': p['b'] + p.get('c', p['a'])}",
    "p = {'a': 1}\nreturn x * ('a' in p) + ('b' in p) + sum(p.values()) + sum(len(n) for n in p)",
    "def f(x, a, b=2.0):\n    return x * a + b\nreturn f(x, **{'a': 2.0}, **dict(b=k))",
    "for i in range(6):\n    if i not in (1, k) and i in {2, 3, 4}:\n        x[i] = 0",
    "d = {n: n * 2 for n in range(4) if n != 1}\nreturn x * d[k] + (1 in d)",
    "if x.sum() < 1:\n    print('nothing')\n    return None\nreturn x / k",
    "for i in range(6):\n    if x[i] == k + 2:\n        return i\n",
    "def f(x, y):\n    if y is None:\n        return None\n    return x * y\n"
    "z = f(x, None)\nreturn x if z is None else z",
    "while True:\n    if x[0] > 9:\n        return x\n    if x[1] > 99:\n        return None\n"
    "    x = x * 1.5",
    "by = None or 2.0\nreturn x * by, k or 5, (k - 3) or k, k and 7",
]


@pytest.mark.parametrize("body", BODIES)
def test_it_gives_the_same(body):
    written = function(body, "x, k")
    x, again = X.copy(), X.copy()
    lowered = check_dicts(written, x, 3) if "return {" in body else check(written, x, 3)
    assert lowered.holds(again, 3)


def check_dicts(written, *args):
    lowered = lower(written, args)
    assert lowered is not None
    got, expected = lowered.plain(*args), written(*args)
    assert list(got) == list(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(got[name], value)
    return lowered


def test_what_raises_is_left_to_python():
    written = function(
        "x *= 2\nif x.min() < k:\n    raise ValueError('low')\nreturn x.sum()", "x, k"
    )
    lowered = check(written, X.copy(), 1)
    x = X.copy()
    with pytest.raises(SupposedError):
        lowered.plain(x, 3)
    assert (x == X).all()  # Python begins with what it was given
    again = lowered.wrap(lowered.plain_kernel, written)
    with pytest.raises(ValueError, match="low"):
        again(x, 3)


def test_where_nothing_is_returned_python_is_called():
    body = "x *= 2\nfor i in range(k):\n    if x[i] == 6:\n        return None\nreturn x.sum()"
    written = function(body, "x, k")
    lowered = check(written, X.copy(), 2)
    again = lowered.wrap(lowered.plain_kernel, written)
    x = X.copy()
    assert again(x, 3) is None
    assert (x == 2 * X).all()


def test_a_place_may_be_looked_at_before_it_is_used():
    body = (
        "for i in range(3):\n    j = i + np.argmax(x[i:])\n    if x[j] == 0:\n"
        "        raise ValueError\n    x[[i, j]] = x[[j, i]]\nreturn x"
    )
    check(function(body, "x"), X.copy())


def test_a_loop_that_would_not_end_does():
    body = "n = 0\nwhile x[0] > 0:\n    n += 1\n    if n > k:\n        raise ValueError\nreturn n"
    lowered = lower(function(body, "x, k"), [-X, 3])
    assert lowered is not None
    assert lowered.plain(-X, 3) == 0
    with pytest.raises(SupposedError):
        lowered.plain(X, 3)


CHECKED = {
    "all at once": "if i.max() >= x.size:\n    raise IndexError\nreturn x[i]",
    "each": "o = np.zeros(3)\nfor v in i:\n    k = v * 2\n    if k >= x.size:\n"
    "        raise IndexError\n    o[k // 4] += x[k]\n    x[k] = 7\nreturn o",
    "counted": "t = 0\nfor v in i:\n    if v == 2:\n        if t >= x.size:\n"
    "            raise IndexError\n        x[t] = v\n        t += 1\n    elif t == 0:\n"
    "        raise IndexError\n    else:\n        t -= 1\n        x[t] = 0\nreturn t",
}


@pytest.mark.parametrize("body", CHECKED.values(), ids=CHECKED)
def test_loops_end_where_places_are_not_what_was_asked_for(body):
    written = function(body, "x, i")
    lowered = check(written, X.copy(), np.array([2, 1]))
    again = lowered.wrap(lowered.plain_kernel, written)
    x = X.copy()
    with pytest.raises(IndexError):
        again(x, np.array([1, 900]))
    theirs = X.copy()
    with pytest.raises(IndexError):
        written(theirs, np.array([1, 900]))
    assert (x == theirs).all()


def test_what_raises_in_any_case_is_pythons():
    with pytest.raises(LoweringError, match="a call that raises"):
        lower(function("if k < 0:\n    raise ValueError\nreturn x * k", "x, k"), [X, -2])


def test_printing_for_who_asks_for_it_is_a_condition():
    lowered = check(function("if k and x.size:\n    print(x)\nreturn x * 2", "x, k"), X, False)
    assert not lowered.holds(X, True)
    with pytest.raises(LoweringError, match="leave it to the caller"):
        lower(function("if x.sum() > 1:\n    print(x)", "x"), [X])


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("if k > 2 or (s := k) > 5:\n    return x * s\nreturn x", "s, which may have no value"),
        ("match x:\n    case (a, b):\n        return a", "match"),
        ("try:\n    y = 1 / k\nexcept ZeroDivisionError:\n    y = 0", "before it does"),
        ("d = {n: 1 for n in range(x.size * 9)}\nreturn d[0]", "dict of many items"),
        ("global s\ns = 3\nreturn x * s", "return them instead"),
        ("p = {'a': 1}\nreturn x * p['b']", "the key 'b'"),
        ("p = {'a': 1}\nfor i in range(99):\n    p['b'] = 2\nreturn x * p['b']", "storing into p"),
    ],
)
def test_it_says_what_it_refuses(body, what):
    with pytest.raises(LoweringError, match=what):
        lower(function(body, "x, k"), [X, 3])


def test_tests_that_are_deep_in_each_other_take_no_longer_than_they_are():
    """Each side was translated several times, and so were those in it: ten of them took minutes."""
    deep = "x[i] > 0.1"
    for place in range(40):
        deep = f"({deep} {'and' if place % 2 else 'or'} x[i] < {place / 40})"
    loop = f"for i in range(n):\n    if {deep}:\n        y[i] = 1.0\n    y[i] += {deep}"
    body = f"{loop}\ny += 1.0"
    check(function(body, "n, x, y"), 12, data(12), data(12))


ELSES = [
    "for i in range(len(x)):\n    if x[i] > s:\n        r = i\n        break\n"
    "else:\n    r = -1\nreturn r",
    "i = 0\nwhile i < len(x):\n    if x[i] > s:\n        r, q = i, 2.5\n        break\n    i += 1\n"
    "else:\n    r = -1\n    q = 0.5\nreturn r, q, i",
    "r = 7\nfor i in range(len(x)):\n    if x[i] > s:\n        r = i\n        break\n"
    "    if x[i] > 1:\n        break\nelse:\n    r = -1\nreturn r",
    "r = 7\nfor i in range(len(x)):\n    r += i\n    if x[i] > s:\n        r = i\n        break\n"
    "else:\n    r = -1\nreturn r",
    "for i in range(len(x)):\n    if x[i] > s:\n        r = i\n        break\n"
    "else:\n    r = 2 * len(x) - 1\nreturn r",
    "n = x.shape[0]\ni = 0\nwhile i < n:\n    if x[i] > s:\n        r = i\n        break\n"
    "    i += 1\nelse:\n    r = n + x.shape[0]\nreturn r",
    "r, t = 0, 0\nfor i in range(len(x)):\n    if x[i] > s:\n        r = i\n        break\n"
    "    t += 2\nelse:\n    r = t\nreturn r",
]


@pytest.mark.parametrize("body", ELSES)
def test_what_a_loop_is_left_with_or_has_no_reason_to_be_left_with(body):
    kernel = function(body, "x, s")
    for s in (-5.0, 0.0, 1.2, 50.0):
        lowered = lower(kernel, [data(6), s], loops_too=True)
        assert lowered is not None
        assert lowered.plain(data(6), s) == kernel(data(6), s)
