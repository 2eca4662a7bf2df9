"""Where pasted code lands; none of it is ever run."""

from __future__ import annotations

import ast
import json
import multiprocessing
import os
import signal

import numpy as np
import pytest
from client_kit import product_renamed, text_of

from loopbook.errors import InputError
from loopbook.explorer import pasted
from loopbook.explorer.guesses import guess

PRODUCT = """
def mine(left, right, out):
    for i in range(left.shape[0]):
        for j in range(right.shape[1]):
            for k in range(left.shape[1]):
                out[i, j] += left[i, k] * right[k, j]
"""


def asked(page, **question):
    answer = page.post("/locate.json", json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_product_is_known_and_says_why(page):
    told = asked(page, python=PRODUCT)
    (nest,) = told["nests"]
    assert nest["decision"]["tier"] == "exact"
    taken = [one for one in nest["neighbours"] if one["taken"]]
    assert [one["record"] for one in taken] == [nest["decision"]["record"]]
    assert taken[0]["why"].startswith("taken: ")
    declined = [one for one in nest["neighbours"] if not one["taken"]]
    assert all(one["why"].startswith("declined: ") for one in declined)
    assert -1 <= nest["x"] <= 1
    assert nest["x"] == pytest.approx(taken[0]["x"], abs=0.02)
    assert "vector" not in nest
    assert any("annotate" in one for one in told["problems"])


def test_an_sdfg_lands_where_its_python_does(page):
    told = asked(page, sdfg=json.loads(text_of(product_renamed)))
    assert told["nests"][0]["decision"]["tier"] == "exact"
    assert told["problems"] == []


def test_a_neighbour_says_what_was_expected_of_it(page):
    text = """
def other(A: "float64[N, M]", B: "float64[N, M]", C: "float64[N, M]"):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            C[i, j] = A[i, j] - B[i, j]
"""
    (nest,) = asked(page, python=text)["nests"]
    assert nest["decision"]["tier"] in ("none", "neighbour")
    told = [one for one in nest["neighbours"] if one["expected"]]
    for one in told:
        assert one["expected"]["low"] <= one["expected"]["mid"] <= one["expected"]["high"]
    assert nest["neighbours"][0]["distance"] > 0


def test_numpy_becomes_loops_first(page):
    text = "import numpy as np\ndef f(x, w, out):\n    out[:] = np.maximum(np.tril(x) @ w, 0.0)\n"
    told = asked(page, python=text)
    assert len(told["nests"]) >= 2


def test_nothing_that_is_pasted_runs(page, tmp_path):
    """Not decorators, defaults, annotations, module code, class bodies, or what is imported."""
    mark = tmp_path / "ran"
    touch = f"open({str(mark)!r}, 'w')"
    text = f"""
import os
{touch}
class Bad:
    x = {touch}
@(lambda f: {touch})
def f(A: {touch}, n=({touch}, 2)[1]) -> {touch}:
    def inner(x={touch}):
        return x
    for i in range(A.shape[0]):
        A[i] = A[i] * 2.0
@{touch}
def g(A):
    {touch}
    os.system("touch {mark}")
    A[0] = inner()
    for i in range(A.shape[0]):
        A[i] = eval("{mark}")
"""
    answer = page.post("/locate.json", json={"python": text})
    assert answer.status_code == 200
    assert answer.json()["problems"]
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(:", "line 1"),
        ("x = 1", "no function"),
        ("(" * 3000, "no Python"),
        ("def f():\n return " + "-" * 30_000 + "1", "no Python"),
        ("#" * (pasted.MOST_TEXT + 1), "KiB"),
        ("def f(A):\n" + " A[0] = 1\n" * 6000, "too much"),
        ("def f(\0):\n pass", "no Python"),
        ("def f(A):\n for i in range(9**9**9**9):\n  A[i] = 1.0", "line 2"),
        ("N = 1 << 999999999\ndef f(A):\n A[0] = N", "line 1"),
    ],
)
def test_what_is_no_kernel_is_refused_in_a_line(page, text, words):
    answer = page.post("/locate.json", json={"python": text})
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert "\n" not in answer.json()["detail"]


@pytest.mark.parametrize(
    "question",
    [
        {},
        [],
        {"python": "def f(): pass", "sdfg": {}},
        {"python": 7},
        {"python": "def f(): pass", "target": "gpu"},
        {"sdfg": {"root": 1, "containers": 2, "arguments": 3}},
        {"more": 1},
    ],
)
def test_what_is_no_question_is_refused(page, question):
    assert page.post("/locate.json", json=question).status_code == 422


def test_a_body_that_is_nested_too_deeply_is_refused(page):
    headers = {"content-type": "application/json"}
    body = b'{"sdfg":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert page.post("/locate.json", content=body, headers=headers).status_code == 422


def test_a_child_that_dies_takes_nothing_with_it(page):
    """docc may crash of what is pasted."""
    (child,) = multiprocessing.active_children()
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()
    assert page.get("/about.json").status_code == 200
    assert asked(page, python=PRODUCT)["nests"]


def _node(text: str) -> ast.FunctionDef:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    return node


def test_ranks_and_sizes_follow_from_subscripts_and_loops():
    made = guess(_node(PRODUCT), ["left", "right", "out"], {})
    left, right, out = (made.values[name] for name in ("left", "right", "out"))
    assert left.shape[1] == right.shape[0]
    assert out.shape == (left.shape[0], right.shape[1])
    assert len({*left.shape, *right.shape}) == 3
    assert made.sure


def test_numbers_indices_and_scalars_are_told_apart():
    text = """
def f(n, a, x, idx):
    for i in range(n):
        x[idx[i]] = a * x[i]
"""
    made = guess(_node(text), ["n", "a", "x", "idx"], {})
    assert isinstance(made.values["n"], int)
    assert isinstance(made.values["a"], float)
    assert made.values["idx"].dtype == np.int64
    assert made.values["x"].dtype == np.float64
    assert made.values["idx"].shape == (made.values["n"],)


def test_sizes_of_the_file_are_used():
    made = guess(_node("def f(N, A):\n for i in range(N):\n  A[i] = 1.0"), ["N", "A"], {"N": 120})
    assert made.values["N"] == 120
    assert made.values["A"].shape == (120,)


def test_a_function_with_any_number_of_arguments_is_told():
    _, problems = pasted.programs("def f(*args):\n    return 0\n")
    assert "any number" in problems[0]


def test_too_long_a_text_is_no_kernel():
    with pytest.raises(InputError, match="KiB"):
        pasted.programs("#" * (pasted.MOST_TEXT + 1))
