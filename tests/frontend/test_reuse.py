"""A temporary and what is computed of it, element by element, in one array."""

from __future__ import annotations

import textwrap

import pytest

from loopbook.frontend.code import Code, Line
from loopbook.frontend.reuse import reused
from loopbook.frontend.symbols import Int
from loopbook.frontend.values import Buffer

from .kit import check, data, function

A = data(5, 7)

ROWS = "A - A.max(axis=1, keepdims=True)"
SOFTMAX = f"e = np.exp({ROWS})\nr = e / e.sum(axis=1, keepdims=True)"
NORM = f"d = {ROWS}\nr = d / np.sqrt((d * d).mean(axis=1, keepdims=True))"


def matrices(body: str) -> int:
    """How many arrays of the size of the argument there are, results among them."""
    lowered = check(function(body, "A"), A)
    return sum(shape == "(A.shape[0], A.shape[1])" for _, shape, _ in lowered.allocations)


@pytest.mark.parametrize("body", [SOFTMAX, NORM])
def test_rows_are_changed_where_they_are(body: str):
    assert matrices(f"{body}\nreturn r") == 1


@pytest.mark.parametrize(
    "body",
    [
        f"{SOFTMAX}\nreturn r, e",
        "e = np.exp(A)\nr = e[::-1] / e.sum()\nreturn r",
        "e = np.exp(A)\nr = np.zeros_like(A)\nr[1:] = e[1:] / e.sum()\nreturn r",
    ],
)
def test_what_is_needed_later_stays(body: str):
    assert matrices(body) == 2


@pytest.mark.parametrize(
    "body",
    [
        "e = np.exp(A)\nfor _ in range(3):\n    r = e / e.sum()\n    e = e * 0.5 + 1.0\nreturn r",
        f"{SOFTMAX}\nreturn r + e[::-1]",
        f"for _ in range(2):\n{textwrap.indent(SOFTMAX, '    ')}\n    A = r\nreturn A",
        f"{SOFTMAX}\n{NORM.replace('A', 'r')}\nreturn r",
    ],
)
def test_numbers_are_right_where_rows_are_used_again(body: str):
    check(function(body, "A"), A)


def lines(text: str) -> list[Line]:
    found = [line for line in text.splitlines() if line]
    return [Line((len(line) - len(line.lstrip())) // 4, line.lstrip(), 1) for line in found]


def after(text: str, result: str = "r") -> list[str]:
    """Which of the temporaries t, r and u there are after it."""
    code = Code(origin=1)
    shape = Int.atom("n"), Int.atom("m")
    code.temporaries = [Buffer(name, A.dtype, shape) for name in ("t", "r", "u")]
    reused(code, lines(text), result)
    return [buffer.name for buffer in code.temporaries]


ROW = """\
for i in range(n):
    for j in range(m):
        t[i, j] = x[i, j]
    for k in range(m):
        r[i, k] = t[i, k] + 1.0
"""
ALL = ROW.replace("    for k", "for i in range(n):\n    for k")
USED = "for i in range(n):\n    for j in range(m):\n        x[i, j] = "


@pytest.mark.parametrize("text", [ROW, ALL, ROW + ROW.replace("r[", "s[").replace("t[", "q[")])
def test_the_last_use_of_an_array_may_overwrite_it(text: str):
    assert after(text) == ["r", "u"]


@pytest.mark.parametrize(
    "text",
    [
        ROW.replace("t[i, k]", "t[k, i]"),
        ROW.replace("t[i, k]", "t[i, k] * t[i, 0]"),
        ROW.replace("t[i, j] = x", "t[j, i] = x"),
        ROW.replace("[i, k]", "[0, k]"),
        ROW.replace("[i, k]", "[0, k]").replace("t[i, j]", "t[0, j]"),
        ROW.replace("[i, k]", "[i + 0, k]"),
        ROW.replace("    for k", "    t[0, i] = 0.0\n    for k"),
        ROW.replace("r[i, k] =", "t[i, k] = 0.0\n        r[i, k] ="),
        ROW.replace("        r[", "        if k > 2:\n            r[").replace(
            "    r", "        r"
        ),
        f"{ROW}{USED}t[i, j]",
        f"{ROW}{USED}r[i, j]",
        f"for a in range(3):\n{textwrap.indent(ROW, '    ')}",
        f"for a in range(3):\n{textwrap.indent(ALL, '    ')}",
        f"while w < 3:\n    w = w + 1\n{textwrap.indent(ROW, '    ')}",
        ROW.replace("t[i, k]", "x[i, k]"),
    ],
)
def test_what_other_lines_or_iterations_may_need_stays(text: str):
    assert after(text) == ["t", "r", "u"]


def test_what_is_returned_stays():
    assert after(ROW, "(t, r)") == ["t", "r", "u"]


def test_results_of_branches_are_computed_where_they_are_returned():
    body = """if x.sum() < s:
    return A.copy()
if A[0, 0] > 2:
    B = A * 2.0
    B[0] = 1.0
    return B
C = np.exp(-A)
return C"""
    for s, first in ((9.0, 0.0), (-9.0, 0.0), (-9.0, 3.0)):
        A = data(5, 5)
        A[0, 0] = first
        lowered = check(function(body, "A, x, s"), A, data(5), s)
        assert lowered.temporaries == ("returned__0",)


def test_a_result_that_another_path_has_written_before_is_copied():
    body = """for i in range(5):
    if A[i, 0] > 1.5:
        return A * 2.0
B = A * 3.0
return B"""
    for first in (0.0, 3.0):
        A = data(5, 5)
        A[2, 0] = first
        check(function(body, "A"), A)
