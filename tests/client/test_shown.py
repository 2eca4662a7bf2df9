"""How public objects look in a shell and in a notebook, and what look-ups and `bench` take."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from client_kit import product, record, text_of

import loopbook
from loopbook import display
from loopbook.client.bench_any import BenchReport
from loopbook.client.plan import make_plan
from loopbook.errors import InputError, SdfgError
from loopbook.recipes.recipe import Recipe

EXAMPLE = Path(__file__).parents[2] / "examples" / "stencil.py"


@pytest.fixture(scope="module")
def book():
    with loopbook.open() as opened:
        yield opened


@pytest.fixture(scope="module")
def shown(book) -> dict[str, Any]:
    """One of everything public, most of a real look-up."""
    text = text_of(product)
    found = book.nearest(text)
    plan = make_plan(text, "sequential", book, exclude=["gemm", "2mm", "3mm"])
    return {
        "book": book,
        "layer": book.layers[-1],
        "found": found,
        "of one nest": found[0],
        "neighbour": found[0][0],
        "record": found[0][0].record,
        "embedding": found[0][0].embedding,
        "long recipe": Recipe.parse("tile L0 4\n" * 90),
        "plan": plan,
        "nest report": plan.nests[0],
        "choice": next(iter(plan.choices.values()))[0],
        "program": loopbook.native(product),
        "client": loopbook.Client("http://127.0.0.1:1"),
        "async client": loopbook.AsyncClient("http://127.0.0.1:1"),
    }


def test_a_repr_is_one_short_line(shown):
    for name, value in shown.items():
        assert re.fullmatch(r"<\w+ [^\n]+>", repr(value)), name
        assert len(repr(value)) <= display.LINE, name
    assert "90 steps" in repr(shown["long recipe"])
    assert shown["record"].id[:12] in repr(shown["neighbour"])


class _Cells(HTMLParser):
    """The text of a table, cell by cell; fails on tags that no table of ours has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        assert tag in {"table", "caption", "thead", "tr", "th", "td"}, tag
        self.cells.append("")

    def handle_data(self, data):
        self.cells[-1] += data


def test_notebooks_show_small_tables(shown):
    without = {"embedding", "program", "client", "async client"}
    for name in shown.keys() - without:
        html = shown[name]._repr_html_()
        assert html.startswith("<table>"), name
        assert len(html) < 12_000, name
        _Cells(html)
    assert shown["program"]._repr_html_() is None, "it has no plan yet"
    cells = _Cells(shown["of one nest"]._repr_html_()).cells
    assert shown["record"].id[:12] in cells
    assert display.cut(shown["record"].recipe.in_line()) in cells


def test_words_of_others_are_escaped_and_cut():
    evil = record(product, "tile L0 4", name="<script>alert(1)</script>")
    assert "<script" not in evil._repr_html_()
    assert "&lt;script" in evil._repr_html_()
    html = display.table(("a", "b"), [("<b>", "x" * 999)] * 40, "c & \x1b[31m")
    assert "<b>" not in html
    assert "\x1b" not in html
    assert max(map(len, _Cells(html).cells)) <= display.CELL
    assert "and 10 more" in html


def test_reports_of_bench_are_dicts_that_show_themselves():
    told = BenchReport(
        kernel="gemm", preset="S", target="sequential", baseline="docc", baseline_s=2.0,
        optimized_s=0.5, speedup=4.0, correct=True, python_s=None, nests=[],
    )  # fmt: skip
    assert repr(told) == "<BenchReport gemm S sequential: 4.00× over docc, right>"
    assert {"docc", "2 s", "500 ms", "4.00×"} <= set(_Cells(told._repr_html_()).cells)


def test_everything_public_is_documented_with_an_example():
    for name in set(loopbook.__all__) - {"LoopbookError"}:
        text = getattr(loopbook, name).__doc__
        assert "\n    ::\n" in text, name


def test_the_package_lists_its_public_names():
    assert set(loopbook.__all__) <= set(dir(loopbook))
    assert "TYPE_CHECKING" not in dir(loopbook)


def _annotated(n: int, A: float64[N, N], b: "float32[:]"):  # type: ignore # noqa: F821, UP037
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] * b[j]


def test_a_function_finds_what_its_sdfg_finds(book):
    ids = {near.record.id for near in book.nearest(text_of(product), 3)[0]}
    for query in (product, loopbook.native(product)):
        for given in ((), (np.ones((9, 8)), np.ones((8, 7)), np.ones((9, 7)))):
            found = book.nearest(query, 3, arguments=given)
            assert len(found) == 1
            assert {near.record.id for near in found[0]} == ids
    assert len(book.nearest(_annotated, 2)[0]) == 2


def test_a_path_finds_what_its_sdfg_finds(book, tmp_path):
    (tmp_path / "product.json").write_text(text_of(product))
    here = book.nearest(tmp_path / "product.json", 3)
    assert [near.record.id for near in here[0]] == [
        near.record.id for near in book.nearest(text_of(product), 3)[0]
    ]
    by_name = book.nearest(str(EXAMPLE), 2)
    assert len(by_name) >= 1
    assert all(len(nest) == 2 for nest in by_name)


def _untold(a, b):
    return a + b


@pytest.mark.parametrize(
    ("query", "kind", "says"),
    [
        (_untold, InputError, "arguments="),
        ("nowhere.json", InputError, "No such file"),
        ("nowhere.txt", InputError, "neither"),
        (3.5, SdfgError, "float"),
    ],
)
def test_what_cannot_be_asked_about_is_said(book, query, kind, says):
    with pytest.raises(kind, match=says):
        book.nearest(query)


def _check(told: dict[str, Any], name: str, preset: str) -> None:
    assert (told["kernel"], told["preset"], told["correct"]) == (name, preset, True)
    assert told["baseline_s"] > 0


def test_bench_takes_a_path(book, tmp_path):
    path = tmp_path / "twice.py"
    path.write_text(
        "import numpy as np\nPARAMETERS = {'S': {'N': 50}}\n"
        "def initialize(N):\n    return np.ones((N, N)), np.zeros((N, N))\n"
        "def kernel(A, B):\n    for i in range(A.shape[0]):\n"
        "        for j in range(A.shape[1]):\n            B[i, j] = 2.0 * A[i, j]\n"
    )
    _check(loopbook.bench(str(path), book=book, seconds=0.01, measure=False), "twice", "S")


def test_bench_takes_a_function_with_arguments(book):
    A, B, C = np.ones((20, 30)), np.ones((30, 40)), np.zeros((20, 40))
    told = loopbook.bench(loopbook.native(product), A, B, C, book=book, seconds=0.01, measure=False)
    _check(told, "product", "given")
    assert not C.any(), "what was run are copies"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((product,), "arguments"),
        (("nowhere.py",), "no file"),
        ((EXAMPLE, 3), "preset"),
        (("x",), "neither"),
    ],
)
def test_bench_says_what_it_cannot_take(given, says):
    with pytest.raises(loopbook.LoopbookError, match=says):
        loopbook.bench(*given)
