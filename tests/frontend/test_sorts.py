"""Numbers whose type depends on the way that control came: what is returned has Python's."""

from __future__ import annotations

import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import copied, data, function

BODIES = [
    "if s > 1:\n    return 0.0\nreturn x.sum()",
    "m = x.mean() if s > 1 else 0.0\nreturn m, m * 2, -m",
    "best = -1\nfor i in range(len(x)):\n    if x[i] > s:\n        best = np.argmax(x[: i + 1])\n"
    "return best, best + 1",
    "best = 0\nfor i in range(len(x)):\n    best = max(best, x[i] - s)\nreturn best",
    "t = 0\nfor v in x:\n    if v > s:\n        t += v\nreturn t, t / 2",
    "a, k = 0.0, -1\nfor i in range(len(x)):\n    for j in range(i + 1, len(x)):\n"
    "        if x[i] - x[j] > s:\n            a, k = x[i], j\n            break\n"
    "    if a > 1:\n        break\nreturn a, k, a * 2",
    "i, v = 0, 0.0\nwhile i < len(x):\n    if x[i] > s:\n        v = x[i]\n        break\n"
    "    i += 1\nreturn i, v",
    "return (1.0, 0) if x[0] > s else (x[1], x.argmax())",
    "return max(x[0], s), min(3, x[1])",
    "def first(v, least):\n    for w in v:\n        if w > least:\n            return w\n"
    "    return -1\nreturn first(x, s), first(x, 99.0)",
    "n = 0\nt = 0\nfor v in x:\n    if v < s:\n        continue\n    t += v\n    n += 1\n"
    "return t / n if n else 0.0",
    "y = np.where(x > s, x, 0.0)\nreturn y[0], y[1]",
    # in a loop one name is given to another before it has been seen with its other type
    "y = 0.5\nfor i in range(len(x)):\n    if x[i] > s:\n        return y, i\n    y = y + x[i]\n"
    "return y, -1",
    "w, z, y = 2.0, 0.5, 0.0\nfor i in range(len(x)):\n    if x[i] > s:\n        break\n"
    "    w = z\n    z = y\n    y = x[i]\nreturn w, z, y",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("dtype", ["float64", "int64", "float32"])
def test_a_result_is_a_number_of_pythons_type(body, dtype):
    kernel, types = function(body, "x, s"), set()
    for number, s in enumerate((-9.5, 0.25, 1.5, 50.0)):
        x = data(5, dtype=dtype, seed=number)
        lowered = lower(kernel, [x, s])
        assert lowered is not None
        assert lowered.holds(x, s)
        expected, got = kernel(*copied((x, s))), lowered.plain(*copied((x, s)))
        assert (expected, _types(expected)) == (got, _types(got)), lowered.source
        types.add(str(_types(got)))
    assert (
        len(types) > 1 or "min(3" in body or "y[0]" in body
    )  # so that there was something to tell


def test_what_is_sure_to_be_of_one_type_is_not_told():
    lowered = lower(
        function("t = 0.0\nfor i in range(n):\n    t += x[i]\nreturn t", "x, n"), [data(9), 7]
    )
    assert lowered is not None
    assert "sort" not in lowered.source
    assert "n - 1 >= 0" in lowered.guards


def _types(value):
    return tuple(map(_types, value)) if isinstance(value, tuple) else type(value)


@pytest.mark.parametrize("item", ["b", "(i, b)"])
def test_lists_of_numbers_of_several_types_are_no_results(item):
    body = "o, b = [], 0.0\nfor i in range(len(x)):\n    if x[i] > 1:\n        b = x[i]\n"
    with pytest.raises(LoweringError, match="of Python's and of NumPy's"):
        lower(function(f"{body}    o.append({item})\nreturn o", "x"), [data(7)])
    assert lower(function(f"{body}    o.append({item})\nreturn np.array(o)", "x"), [data(7)])
