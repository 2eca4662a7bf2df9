"""Figures of searches, and the tables of the benchmark that compares strategies."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopbook.errors import BookError, InputError
from loopbook.recipes.recipe import Recipe
from loopbook.tuner.log import Trial
from loopbook.tuner.plot import (
    FAILED,
    best_so_far,
    curves,
    failures,
    plot_panels,
    plot_searches,
)

TRIALS = [
    Trial(0, 0, "f", Recipe(()), "ok", 0.9, before_s=9.0, after_s=10.0),
    Trial(0, 1, "g", Recipe(()), "ok", 2.0, before_s=2.0, after_s=1.0),
    Trial(1, 0, "f", Recipe(()), "crash"),
    Trial(1, 1, "g", Recipe(()), "ok", 1.5, before_s=2.0, after_s=1.3),
    Trial(2, 0, "f", Recipe(()), "ok", 3.0, before_s=9.0, after_s=3.0),
]


@given(st.lists(st.floats(0, 100)))
def test_curves_rise_from_one(speedups):
    curve = best_so_far(speedups)
    assert len(curve) == len(speedups)
    assert curve == sorted(curve)
    assert all(value == max(1.0, *speedups[: n + 1]) for n, value in enumerate(curve))


def test_every_nest_has_its_curve():
    assert curves(TRIALS) == {0: [1.0, 1.0, 3.0], 1: [2.0, 2.0]}


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_figures_are_written(tmp_path, ending):
    plot_searches({"gemm": TRIALS}, tmp_path / f"a.{ending}")
    assert (tmp_path / f"a.{ending}").stat().st_size > 2000


def test_searches_are_steps_with_failures_marked(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("loopbook.figure_style.save", lambda figure, path: drawn.append(figure))
    plot_searches({"gemm": TRIALS}, tmp_path / "a.png")
    (figure,) = drawn
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines) == ["nest 0", FAILED, "nest 1"]
    assert lines["nest 0"].get_drawstyle() == "steps-post"
    assert list(lines["nest 0"].get_ydata()) == [1.0, 1.0, 3.0]
    assert list(lines[FAILED].get_xdata()) == [2]
    assert failures(TRIALS) == {"nest 0": [2]}
    assert figure.get_suptitle() == "Best speedup found so far"
    assert (figure.get_supxlabel(), axes.get_title()) == ("trials of the nest", "gemm")


def test_several_panels_with_several_runs(tmp_path):
    runs = [[1.0, 2.0, 2.0], [1.0, 1.5, 3.0]]
    plot_panels(
        {f"k{n}": {"random": runs, "model": runs[:1]} for n in range(5)}, tmp_path / "a.svg"
    )
    text = (tmp_path / "a.svg").read_text()
    assert text.count('<g id="axes_') == 5


def test_what_cannot_be_drawn_is_said_in_one_line(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no trials"):
        plot_searches({"gemm": []}, tmp_path / "a.png")
    with pytest.raises(InputError, match=r"ends in \.png"):
        plot_searches({"gemm": TRIALS}, tmp_path / "a.doc")
    with pytest.raises(InputError, match="in no folder that there is"):
        plot_searches({"gemm": TRIALS}, tmp_path / "nowhere" / "a.png")
    if os.getuid():  # root may write anywhere
        tmp_path.chmod(0o500)
        with pytest.raises(BookError, match="cannot write"):
            plot_searches({"gemm": TRIALS}, tmp_path / "a.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"loopbook\[plot\]"):
        plot_searches({"gemm": TRIALS}, tmp_path / "a.png")


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "strategies.py"
    spec = importlib.util.spec_from_file_location("benchmark_strategies", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_report_compares_finished_runs(benchmark, tmp_path):
    afters = {"random": [4.0, 2.0, 2.0], "transfer": [2.0, 1.0, 1.0]}
    for name, seconds in afters.items():
        header = {"kernel": "gemm", "strategy": name, "seed": 0}
        rows = [
            asdict(Trial(n, 1, "f", Recipe(()), "ok", 4 / s, before_s=4.0, after_s=s))
            | {"recipe": Recipe(()).to_json()}
            for n, s in enumerate(seconds)
        ]
        path = benchmark.log_path(tmp_path, "gemm", name, 0)
        path.write_text("".join(json.dumps(line) + "\n" for line in (header, *rows)))
    (tmp_path / "gemm-broken-0.jsonl").write_text("{")
    runs = benchmark.read_runs(tmp_path, ["gemm", "mvt"], 3)
    assert runs == {"gemm": {"random": [[1.0, 2.0, 2.0]], "transfer": [[2.0, 4.0, 4.0]]}}
    assert benchmark.read_runs(tmp_path, ["gemm"], 4) == {}, "unfinished runs are left out"
    text = benchmark.markdown(runs, 3)
    assert "| random | 50.0% |" in text
    assert "| gemm | contraction | 4.00 | 2.00 | 4.00 |" in text
    assert "| gemm | – | 2 |" in text
