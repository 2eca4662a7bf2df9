"""Steps: each class says all of it, and what is derived from the classes agrees with them."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from cli_kit import Shell, make_shell

from loopbook.cli.steps import table
from loopbook.errors import RecipeError
from loopbook.recipes.recipe import Recipe
from loopbook.steps import STEPS, Integer, Loop, Step, TileSize, checked, parsed

every = pytest.mark.parametrize("kind", STEPS.values(), ids=STEPS)


@every
def test_a_step_says_what_it_does(kind: type[Step]):
    assert kind.summary().endswith(".")
    assert "efore" in (kind.__doc__ or "")
    assert "after it" in (kind.__doc__ or "")
    assert kind.textbook
    assert kind.source
    assert kind.usage().split()[0] == kind.name


@every
def test_its_example_is_one(kind: type[Step]):
    example = parsed(kind.example)
    assert type(example) is kind
    assert example.text().startswith(kind.example)
    assert all("{" not in name for name in example.made())
    assert all(isinstance(getattr(kind, size.of), Loop) for size in _tile_sizes(kind))
    again = pickle.loads(pickle.dumps(example))
    assert (again, type(again)) == (example, kind)


def _tile_sizes(kind: type[Step]) -> list[TileSize]:
    return [argument for argument in kind.arguments if isinstance(argument, TileSize)]


@every
def test_somebody_can_apply_it(kind: type[Step]):
    example = parsed(kind.example)
    composed = example.expansion() != (example,)
    assert not (composed and kind.refines), "half of it would stay when it is left out"
    assert composed + (kind.apply is not Step.apply) == 1


def test_arguments_are_values_of_steps_and_declarations_of_classes():
    step = parsed("block L0 L1 8 24")
    assert (step.loops, step.sizes) == (["L0", "L1"], [8, 24])
    declared = [argument.word for argument in type(step).arguments]
    assert declared == ["OUTER-LOOP", "INNER-LOOP", "ROWS", "COLUMNS"]
    assert parsed("skew L0 L1").sizes == [1], "what is left out is filled in"
    assert parsed("time_tile L0 8 8").text() == "time_tile L0 8 8"


def test_words_that_are_no_steps_are_bare():
    assert type(Step("melt", ("L0",))) is Step
    with pytest.raises(RecipeError, match=r"unknown step melt: use one of .*tile"):
        checked("melt", ["L0"])


def test_two_steps_cannot_have_one_name():
    with pytest.raises(TypeError, match="two steps are called tile"):
        type("Again", (Step,), {"name": "tile"})
    assert STEPS["tile"].__name__ == "Tile"


shell = pytest.fixture(make_shell)


def test_the_command_lists_and_explains_them(shell: Shell):
    listed = shell("steps").out.splitlines()
    assert [line.split()[0] for line in listed[2:-2]] == list(STEPS)
    assert max(map(len, listed)) <= 80
    told = shell("steps", "tile").out
    assert "tile LOOP SIZE" in told
    assert "makes: L0.tile" in told
    assert shell("steps", "--markdown").out.strip() == table(list(STEPS.values()))
    unknown = shell("steps", "melt")
    assert unknown.code == 2
    assert "there is no step melt: see 'loopbook steps'" in unknown.err


NEW = """
from loopbook.steps import STEPS, Integer, Loop, Step
class Dummy(Step):
    "Nothing."
    name = "dummy"
    recorded_as = "nothing"
    loop = Loop()
    size = Integer(2, 9)
"""

PREDICT = """
import numpy as np
from loopbook.predict.cost_model import CostModel
from loopbook.predict.rows import COLUMNS
from loopbook.embed.inference import Encoder
cost_model = CostModel.load()
values = np.random.default_rng(0).normal(size=(50, len(cost_model.columns))) * 3
rows = np.full((50, len(COLUMNS)), 7, np.float32)
rows[:, [COLUMNS.index(name) for name in cost_model.columns]] = values
told = cost_model.predict(list(rows))
print(len(COLUMNS), repr([(one.speedup, one.lower) for one in told]))
print(Encoder.load().version)
"""


def _said(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    return done.stdout.splitlines()


def test_a_new_step_leaves_the_shipped_models_as_they_are():
    before, after = _said(PREDICT), _said(NEW + PREDICT)
    counts = [int(lines[0].partition(" ")[0]) for lines in (before, after)]
    assert counts[1] == counts[0] + 1
    assert before[0].partition(" ")[2] == after[0].partition(" ")[2] != ""
    assert before[1:] == after[1:]


def test_a_new_step_is_read_under_all_its_names():
    code = "from loopbook.recipes import Recipe\nprint(Recipe.parse('nothing L0 4').text())"
    assert _said(NEW + code)[0] == "dummy L0 4"


def test_numbers_are_of_a_kind():
    sizes = [a for kind in STEPS.values() for a in kind.arguments if isinstance(a, Integer)]
    assert {type(size).__name__ for size in sizes} == {
        "Integer",
        "TileEnd",
        "TileSize",
        "VectorSize",
        "CacheSize",
        "Threads",
    }
    assert Recipe.parse("tile L0 4").steps[0].sizes == [4]
