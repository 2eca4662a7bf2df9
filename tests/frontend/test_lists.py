"""Lists that grow, comprehensions, arrays chosen by conditions, and shapes that change."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.check import check as compared

from .kit import check, data, function

LISTS = [
    "o = []\nfor i in range(4):\n    o.append(x * i)\n"
    "return np.array(o), np.stack(o, axis=1), len(o)",
    "o = [s]\nfor i in range(90):\n    s = s * 0.9\n    o.append(s)\n"
    "return np.array(o), o, max(o), sum(o), o[-1]",
    "o = []\nfor i in range(5):\n    if x[i] > 0:\n        o.append(i)\n    o.append(i * 2)\n"
    "return np.array(o), len(o), o",
    "o = []\nk = 0\nwhile k < 7:\n    k += 2\n    o.append(k * 2)\nreturn np.array(o), np.sum(o)",
    "p, q = [], []\nfor v in x:\n    p.append(v)\n    q.append(v * 2)\n"
    "return np.array(p) + np.array(q)",
    "r = []\nfor i in range(3):\n    for j in range(2):\n        r.append(A[i] + j)\n"
    "return np.vstack(r), np.concatenate(r)",
    "h = []\nfor q in np.split(A[:, :2], 2, axis=1):\n    h.append(q * 2)\nfor q in (1, 3, 5):\n"
    "    h.append(A[:, q % 4 : q % 4 + 1])\nreturn np.hstack(h), np.array(h), len(h)",
    "def add(h, v):\n    h.append(v)\nh, k = [], []\nadd(h, A)\nadd(h, A * 2)\n"
    "for i in range(3):\n    for q in (1, -1):\n        add(h, A * q + i)\n"
    "        k.append(x * q)\n"
    "return np.concatenate(h, axis=1), np.column_stack(h), np.dstack(h), np.column_stack(k), "
    "np.dstack(k), np.hstack(k), len(h)",
    "def add(h, v):\n    h.append(v)\nh = []\nfor v in x:\n    if v > 0:\n        add(h, v)\n"
    "return len(h), np.array(h)",
    "def add(h, v):\n    if v < 0:\n        return\n    h.append(v)\nh = []\nfor v in x:\n"
    "    add(h, v)\nreturn len(h), np.array(h)",
    "def add(h, v):\n    h.append(v)\ndef both(h, v):\n    if v > 0:\n        add(h, v)\n"
    "    add(h, v * 2)\nh = []\nfor v in x:\n    both(h, v)\nreturn len(h), np.array(h)",
    "def add(h, v):\n    h.append(v)\nh = [2 * v for v in x]\nfor v in x:\n    if v > 0:\n"
    "        add(h, v)\nreturn len(h), np.array(h)",
    "o = []\nfor v in x:\n    o += [v, -v]\n    o.extend((2 * v, s))\nreturn np.array(o), len(o)",
    "o = []\nfor i in range(0, len(x), 3):\n    o.extend(x[i : i + 3][::-1])\nreturn np.array(o)",
    "seen, todo = np.zeros(9, int), [(0, 1)]\nwhile todo:\n    i, k = todo.pop()\n"
    "    if 0 <= i < 9 and seen[i] == 0:\n        seen[i] = k\n"
    "        todo.extend([(i + d, k + 1) for d in (-2, 1)])\nreturn seen",
    "o = [s, 2.0]\no += x[:2]\nreturn o",
    "o = []\nfor v in x:\n    o.append(abs(v) + 1)\n"
    "return np.log(o), x * o, o + x, np.sqrt(o)[None]",
    "o = []\nfor i in range(3):\n    o.append(x[i:].sum())\n"
    "return np.hypot(o, A[0, :3]), A[:, :3] > o",
    "return np.array([ord(c) for c in 'aeiou']), {c: s * ord(c) for c in 'xy'}['y']",
    "n = 0\nfor c in 'hello':\n    n += ord(c) * (c != 'l')\nreturn n",
    "return np.array([v.sum() for v in A]), [float(v) * 2 for v in x]",
    "return np.array([[i * 3 + j for j in range(4)] for i in range(5)])",
    "return np.array([x[i] for i in range(len(x)) if x[i] > 0]), sum(v * v for v in x)",
    "return sum(np.roll(A, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1))",
    "return np.array([1.0] + [np.dot(x[:-k], x[k:]) for k in range(1, len(x))])",
]

SHAPES = [
    "z = x if x[0] > 0 else y + 1\nw = z if s > 0 else -z\nreturn z, w",
    "e = 0.0\nwhile len(x) > 1:\n    m = len(x) // 2\n    e += (x[:m] * x[m : 2 * m]).sum()\n"
    "    x = x[:m] + x[m : 2 * m]\nreturn x[0], e, x",
    "v = np.arange(6.0)\nfor i in range(4, -1, -1):\n    v = 0.5 * (v[1 : i + 2] + v[: i + 1])\n"
    "    v = np.maximum(v, s)\nreturn v[0], v",
    "if x[0] > 0:\n    z = x[:2] * 2\nelse:\n    z = x[1:] + 1\nreturn z",
    "z = x * 1\nfor i in range(3):\n    z = z[z > -1 + 0.5 * i]\nreturn z, len(z)",
    "z = x * 1\nfor i in range(3):\n    if z[0] > 0:\n        z = z[1:]\n    else:\n"
    "        z = z[:-1] * 2\nreturn z, z.sum()",
    "n = len(x)\nb = x.copy()\nwhile n > 1:\n    h = n // 2\n    b[:h] = b[:h] + b[h : 2 * h]\n"
    "    n = h\nreturn b[0]",
    "k = int(s * 6)\nz = np.zeros((k, k))\nz[:] = 1\nreturn z + np.arange(k)",
    "y = x * 1\nn = 2\nfor i in range(2):\n    for j in range(0, 5, n):\n        y[j] += n\n"
    "    n *= 2\nreturn y",
    "i = (np.abs(x) * 3).astype(int)\n"
    "return np.bincount(i, minlength=9), np.bincount(i), np.bincount(i, weights=x, minlength=9)",
    "return np.repeat(x, np.arange(len(x)) % 3)",
    "p = np.argwhere(x > 0)\nreturn p.ravel(), p.flatten(), p.reshape(-1), x[x > 0][:, None], "
    "x[x > 0].reshape(-1, 1), x[x > 0].reshape(1, -1, 1)",
]


@pytest.mark.parametrize("body", [*LISTS, *SHAPES])
def test_lists_and_shapes(body):
    check(function(body), data(3, 4), data(3, 4, seed=2), data(5), data(5, seed=9), 0.7)


EMPTY = [
    "o = []\nfor v in x:\n    if v > s: o.append(v)\nreturn np.array(o), len(o)",
    "return np.asarray([i for i in range(len(x)) if x[i] > s]) * 2",
    "o = []\nfor v in x:\n    if v > s: o.append((v, 2 * v))\nreturn np.array(o)",
    "o = []\nfor v in x:\n    x[0] += 1\n    if v > s: o.append(v > 3)\nreturn np.sum(o), x[0]",
]


@pytest.mark.parametrize("body", EMPTY)
@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_an_empty_list_is_an_array_of_floats(body, dtype):
    """Such calls are left to Python: others have items of the type that the loops give."""
    func, x = function(body, "x, s"), np.arange(7).astype(dtype)
    lowered = check(func, x, 2.0)
    called = []
    lowered.wrap(lowered.plain_kernel, lambda *args: called.append(args[0].copy()))(x, 9.0)
    assert [list(one) for one in called] == [list(range(7))]


def test_what_is_said_of_the_type_holds_for_an_empty_list():
    body = "o = []\nfor v in x:\n    if v > s: o.append(v)\nreturn np.array(o, dtype=np.int32), o"
    for s in (9.0, 2.0):
        assert not check(function(body, "x, s"), np.arange(7), s).failed


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "o = []\nfor i in range(3):\n    o.append(i)\n    o.append(x)\nreturn len(o)",
            "different",
        ),
        ("o = []\nfor i in range(3):\n    o.append(x[i:])\nreturn len(o)", "different shapes"),
        (
            "def made():\n    return [0.0] * 3\ndef put(w, i):\n    w[i] = x[i]\n"
            "    return sum(w)\nw = made()\nreturn put(w, 0) + put(w, 1)",
            "the caller has too",
        ),
    ],
)
def test_lists_of_different_things_are_refused(body, said):
    with pytest.raises(LoweringError, match=said):
        lower(function(body, "x"), [data(6)])


def test_too_many_or_negative_numbers_run_as_python():
    """Counts are supposed to be below `minlength`, and nothing is stored outside."""
    func = function("return np.bincount((x * 3).astype(int), minlength=9)", "x")
    lowered = check(func, np.array([0.1, 1.2, 2.0]))
    for x in (np.array([9.0, 1.0, 0.0]), np.array([0.0, -1.0, 2.0])):
        called = []
        lowered.wrap(lowered.plain_kernel, lambda *args, c=called: c.append(args))(x)
        assert len(called) == 1


def test_error_functions_and_numbers_of_python():
    body = "return math.erf(s), math.erfc(-s), math.erfc(s * 9), math.hypot(s, 2.0), ord('a')"
    for s in (0.1, 0.6, -3.0, 5.5):
        check(function(body, "x, s"), data(3), s)
    body = "z = x + 1j * y\nreturn z > 0.3, z * np.conj(z) >= 1, np.average(x, weights=y * y)"
    check(function(body, "x, y"), data(6), data(6, seed=4))


def test_there_is_room_for_several_items_for_each_element():
    """Nothing says how many digits a number has; `check` raises where there are too many."""
    body = "o = []\nfor v in x:\n    while v > 9:\n        o.append(v % 10)\n        v = v // 10\n"
    check(function(body + "return np.array(o)", "x"), np.full(600, 12345678))


def test_there_is_room_for_many_items_of_loops_that_go_on_until_they_are_done():
    body = "t, o, p = 0.0, [], []\nwhile t < s:\n    t += x[0]\n    o.append(t)\n    if t > 1:\n"
    check(
        function(body + "        p.append((t, 1))\nreturn np.array(o), p", "x, s"), np.ones(2), 3e3
    )


def test_lists_say_places():
    body = """held = []
c = np.zeros(len(x))
for _ in range(3):
    c[held] = -9
    j = int(np.argmax(np.abs(x) + c))
    held.append(j)
    B = A[:, held]
    c[held] += B.sum(axis=0)
rows = [i for i in range(len(A)) if A[i, 0] > s]
below = [v < 0 for v in x]
A[rows] += 1.0
return c, held, A[rows], A[:, held], x[below]"""
    for s in (-9.0, 0.0, 9.0):
        check(function(body, "A, x, s"), data(5, 6), data(6), s)
    floats = "o = []\nfor v in x:\n    o.append(v)\nreturn x[o]"
    with pytest.raises(LoweringError, match="other items than whole numbers"):
        lower(function(floats, "x"), [data(5)])


def test_no_loop_runs_less_often_than_never():
    """Where there are fewer elements than are left out, the list is empty, and not of a size below
    nought: for such calls others are translated."""
    body = "o = []\nfor n in range(k, len(x)):\n    o.append(x[n] * 2)\nreturn np.array(o)"
    kernel = function(body, "x, k")
    lowered = check(kernel, data(40), 4)
    assert compared(kernel, lowered, [data(40), 4]) > 0  # some sizes are less than 4 there
    assert lowered.holds(data(9), 4)
    assert not lowered.holds(data(3), 4)
    body = "o = [0.0]\nfor n in range(k, 9):\n    for m in range(n, len(x) - 2):\n"
    kernel = function(f"{body}        o.append(x[m])\nreturn np.array(o)", "x, k")
    for size, k in ((40, 2), (5, 2), (40, 12)):
        check(kernel, data(size), k)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool])
def test_arrays_of_one_dimension_as_lists(dtype):
    body = """s = 0
for a, b in zip(x.tolist(), A[1].tolist()):
    s += a * b
places = (x > 0).tolist(), np.flatnonzero(x).tolist()
return x.tolist(), places, s, max(x.tolist()), [v // 2 for v in k.tolist()]"""
    given = [(15 * data(5, 6)).astype(dtype), (15 * data(6)).astype(dtype), np.arange(4)]
    check(function(body, "A, x, k"), *given)
    with pytest.raises(LoweringError, match="where a number is needed"):
        lower(function("return A.tolist()", "A, x, k"), given)
