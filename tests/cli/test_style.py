"""What all commands print with: signs beside colours, lines that fit, words that are no markup."""

from __future__ import annotations

import pytest

from loopbook.cli import style


@pytest.mark.parametrize(
    ("ratio", "told"),
    [(4.2, "▲ 4.20×"), (0.82, "▼ 0.82×"), (1.004, "= 1.00×"), (130704.4, "▲ 130704×")],
)
def test_a_gain_has_a_sign_and_not_colour_alone(ratio, told):
    assert str(style.gain(ratio)) == told


def test_a_table_fits_and_only_the_long_column_gives_way(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    rows = style.table("nest", "gain", "recipe", right=["gain"], cut=["recipe"])
    style.add(rows, "[red]gemm:0", style.gain(4.2), "tile L0 4; " * 9)
    *_, line = style.rendered(rows).splitlines()
    assert line.startswith("[red]gemm:0   ▲ 4.20×   tile L0 4; ")
    assert line.endswith("…")
    assert len(line) == 40


def test_colour_is_left_out_where_it_is_not_wanted(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32m" in style.rendered(style.gain(2.0))
    monkeypatch.setenv("NO_COLOR", "1")
    assert style.rendered(style.gain(2.0)) == "▲ 2.00×\n"


def test_what_moves_a_cursor_is_not_printed():
    assert style.rendered(style.pairs(("kernel", "a\x1b[2Jb"))) == "kernel  a\\x1b[2Jb\n"


def test_a_long_recipe_is_told_in_brief():
    assert style.recipe("a\nb\nc\nd\ne", most=2) == "a; b; … 3 more"
    assert style.recipe("a\nb") == "a; b"
