"""Which calls leave an array: found before they are made, and only those."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopbook.frontend import in_bounds as in_bounds_module
from loopbook.frontend.in_bounds import as_test, in_bounds


def condition(source: str, args: dict, same: dict[str, str] | None = None) -> str:
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    return in_bounds(node, args, same or {})


X, Y, A = np.zeros(10), np.zeros(12), np.zeros((10, 12))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("x[i] = 1.0", "not (i - x.shape[0] >= 0) and not (-1 - i >= 0)"),
        ("x[len(x) - 1] = 1.0", ""),
        ("for k in range(i): x[k] = 1.0", "not (i - x.shape[0] - 1 >= 0)"),
        ("for k in range(i): x[i - 1 - k] = 1.0", "not (i - x.shape[0] - 1 >= 0)"),
        ("for k in range(x.shape[0] - 1, -1, -1): x[k] = 1.0", ""),
        ("for k in range(x.shape[0]):\n  y[k] = x[k]", "not (x.shape[0] - y.shape[0] - 1 >= 0)"),
        ("for k in range(i):\n  if k < x.shape[0]: x[k] = 1.0", ""),
        ("for k in range(i):\n  x[k] = 1.0\n  if x[k] > i: break", ""),  # not known to go on
        ("if flag: x[i] = 1.0",
         "not (i - x.shape[0] >= 0 and flag) and not (-1 - i >= 0 and flag)"),
        ("i = i * i\nx[i - i + 3] = 1.0", "not (3 - x.shape[0] >= 0)"),
        ("j = i - 1\nif j < 0: j = j + x.shape[0]\nx[j] = 1.0",
         "not (i - x.shape[0] - 1 >= 0) and not (-i - x.shape[0] >= 0)"),
        ("x = y\nx[i] = 1.0", ""),
        ("j = int(y[0])\nx[j] = 1.0", ""),
        ("j = int((i - 2) & 255)\nx[j] = 1.0",
         "not (((i - 2) & (255)) - x.shape[0] >= 0) and not (-1 - ((i - 2) & (255)) >= 0)"),
        ("k = 0\nwhile k < i:\n  k += 1\nx[k] = 1.0", ""),
        ("n, m = A.shape\nfor k in range(m): x[k] = A[0, k]",
         "not (A.shape[1] - x.shape[0] - 1 >= 0)"),
    ],
)  # fmt: skip
def test_what_is_found(body: str, found: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    source = f"def kernel(x, y, A, i, flag):\n{lines}"
    assert condition(source, {"x": X, "y": Y, "A": A, "i": 3, "flag": True}) == found


def test_sizes_that_are_the_same_need_no_question() -> None:
    source = "def kernel(x, y):\n    for k in range(x.shape[0]):\n        y[k] = x[k]\n"
    args = {"x": X, "y": X.copy()}
    assert condition(source, args, {"y.shape[0]": "x.shape[0]"}) == ""
    assert condition(source, args) == "not (x.shape[0] - y.shape[0] - 1 >= 0)"
    assert condition(source, args, {"x.shape[0]": "1", "y.shape[0]": "y.shape[0]"}) == ""


def test_a_size_that_is_divided_by_nothing_is_out_of_bounds() -> None:
    source = "def kernel(x, i):\n    for k in range(x.shape[0] // i):\n        x[2 * k] = 1.0\n"
    test = as_test(condition(source, {"x": X, "i": 3}), ("x", "i"))
    assert [test(X, i) for i in (0, 1, 2, 3)] == [False, False, True, True]


def test_so_many_indices_are_looked_at(monkeypatch):
    source = "def kernel(x, i):\n" + "".join(f"    x[i + {n}] = 1.0\n" for n in range(9))
    args = {"x": X, "i": 3}
    assert condition(source, args) == "not (-1 - i >= 0) and not (i - x.shape[0] + 8 >= 0)"
    monkeypatch.setattr(in_bounds_module, "MOST_ASKED", 4)
    assert condition(source, args) == "not (-1 - i >= 0) and not (i - x.shape[0] + 1 >= 0)"


class Noticing(np.ndarray):
    """An array that negative indices are errors for."""

    def __getitem__(self, index):
        if any(one < 0 for one in np.atleast_1d(index)):
            raise IndexError(index)
        return super().__getitem__(index)


TERMS = st.integers(-2, 3)


@st.composite
def nests(draw: st.DrawFn) -> str:
    """Loops around an access, with bounds and indices in what stands around them."""
    known, lines, depth = ["n", "m", "x.shape[0]"], [], 1

    def form(names: list[str], factors: st.SearchStrategy[int]) -> str:
        chosen = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
        terms = [f"{draw(factors)} * {name}" for name in chosen]
        return " + ".join([*terms, str(draw(TERMS))])

    variables: list[str] = []
    for number in range(draw(st.integers(0, 3))):
        step = draw(st.sampled_from((1, 1, 1, -1)))
        ends = [form([*known, *variables], st.sampled_from((1, 1, -1))) for _ in range(2)]
        if step == -1:
            ends.reverse()
        lines.append(f"{'    ' * depth}for v{number} in range({ends[0]}, {ends[1]}, {step}):")
        variables.append(f"v{number}")
        depth += 1
        if draw(st.integers(0, 3)) == 0:
            test = draw(st.sampled_from(("<", "<=", ">", ">=", "==")))
            left, right = (form([*known, *variables], st.just(1)) for _ in range(2))
            lines.append(f"{'    ' * depth}if {left} {test} {right}:")
            depth += 1
    index = form([*variables, "n"] if variables else known, st.sampled_from((1, 1, 2, -1)))
    lines.append(f"{'    ' * depth}x[{index}]")
    return "def kernel(x, n, m):\n" + "\n".join(lines) + "\n"


@settings(max_examples=400, deadline=None)
@given(nests(), st.lists(st.tuples(*[st.integers(-2, 6)] * 2, st.integers(1, 6)), min_size=6))
def test_what_is_said_is_so(source: str, calls: list[tuple[int, int, int]]) -> None:
    test = as_test(condition(source, {"x": X, "n": 1, "m": 1}) or "True", ("x", "n", "m"))
    names: dict = {}
    exec(source, names)
    for n, m, size in calls:
        x = np.zeros(size).view(Noticing)
        try:
            names["kernel"](x, n, m)
            left = False
        except IndexError:
            left = True
        if not test(x, n, m):
            assert left, (n, m, size)
        elif "2 *" not in source:  # with a factor, it may not be known
            assert not left, (n, m, size)
