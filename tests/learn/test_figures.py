"""Figures of an evaluation, as matplotlib has them, and the style that all figures have."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from client_kit import fill, product, product_transposed, record, stencil

from loopbook import figure_style as style
from loopbook.embed.inference import Encoder
from loopbook.errors import BookError, InputError
from loopbook.learn import figures
from loopbook.learn.figures import Predicted
from loopbook.recipes.book import Book

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed"),
]


@pytest.fixture
def drawn(monkeypatch) -> list:
    """The figures that are saved."""
    kept: list = []
    save = style.save

    def keep(figure, path: Path) -> None:
        kept.append(figure)
        save(figure, path)

    monkeypatch.setattr(style, "save", keep)
    return kept


def test_no_two_series_look_alike():
    names = [f"family {n}" for n in range(len(style.COLOURS) * len(style.SHAPES))]
    looks = style.marks(names)
    assert len({tuple(look.values()) for look in looks.values()}) == len(names)
    with pytest.raises(InputError, match="too many"):
        style.marks([*names, "one more"])


def test_good_and_bad_are_told_apart_without_red_and_green():
    colours = style.worse_to_better()
    (red, green, blue, _), (red_, green_, blue_, _) = colours(0.0), colours(1.0)
    assert red > green > blue, "orange"
    assert blue_ > green_ > red_, "blue"


def test_what_cannot_be_written_is_said(tmp_path):
    figure, _ = style.subplots(3, 2)
    with pytest.raises(InputError, match=r"take \.png"):
        style.save(figure, tmp_path / "a.xyz")
    with pytest.raises(BookError, match="cannot write"):
        style.save(figure, tmp_path / "nowhere" / "a.png")


def test_the_callers_own_style_stays():
    import matplotlib

    before = dict(matplotlib.rcParams)
    style.subplots(3, 2)
    assert dict(matplotlib.rcParams) == before


def _outside(figure) -> bool:
    """Whether the legend hides nothing."""
    figure.canvas.draw()
    (axes,) = figure.axes
    return axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1


def test_calibration_names_its_points(tmp_path, drawn):
    points = [Predicted("gemm", 10.0, 6.0, 12.0), Predicted("lu", 5.0, 3.0, 2.5)]
    figures.calibration(points, tmp_path / "a.png")
    (axes,) = drawn[0].axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["lu", "gemm"]
    assert "2 kernels" in axes.get_title()
    assert "speedup" in axes.get_xlabel()
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend[2:] == ["measured, bound kept (1)", "measured, below it (1)"]
    assert _outside(drawn[0])


def test_the_map_has_a_title_and_hides_nothing(tmp_path, drawn):
    named = {"gemm": product, "wave.1": stencil, "turned.1": product_transposed}
    records = [record(kernel, "", name=name) for name, kernel in named.items()]
    encoder = Encoder.load(None)
    with Book.open(fill(tmp_path / "some.db", records)) as book:
        assert figures.book_map([book], encoder, tmp_path / "map.png")
    (axes,) = drawn[0].axes
    assert "3 nests" in axes.get_title()
    assert "variance" in axes.get_xlabel()
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["turned (1)", "wave (1)", "polybench (1)"]
    assert _outside(drawn[0])


def test_columns_of_kernels_are_labelled(tmp_path, drawn):
    served = {"tuner": [4.0, 2.0], "ours 1": [3.0, 1.0], "ours 5": [4.0, 2.0]}
    figures.draw_shares(["gemm", "lu"], served, tmp_path / "a.png")
    (axes,) = drawn[0].axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["gemm", "lu"]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["tuner", "ours, nothing measured", "ours, best of 5 measured"]
    assert _outside(drawn[0])
