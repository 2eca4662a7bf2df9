"""Steps and recipes: two forms without loss, clear refusals, renaming."""

from __future__ import annotations

import json
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recipes_samples import damaged, json_values, recipes

from loopbook.errors import RecipeError
from loopbook.recipes import Recipe
from loopbook.recipes.recipe import MAX_STEPS
from loopbook.steps import STEPS, Step, respelled

MATRIX_PRODUCT = """\
tile L0 4
tile L1 32
interchange L0 L1.tile
interchange L1 L2
interchange L0 L2
stage L2 A0 out
peel L0
vectorize L1*
unroll L0*
parallel L0.tile
"""


def test_reads_the_matrix_product_as_written():
    recipe = Recipe.parse(MATRIX_PRODUCT)
    assert recipe.text() == MATRIX_PRODUCT
    assert recipe.steps[5] == Step("stage", ("L2", "A0", "out"))
    assert recipe.base_loops() == ("L0", "L1", "L2")
    assert recipe.containers() == ("A0",)


def test_a_recipe_s_hash_stays_in_its_process():
    recipe = Recipe.parse(MATRIX_PRODUCT)
    assert hash(recipe) == hash(Recipe(recipe.steps))
    again = pickle.loads(pickle.dumps(recipe))
    assert again == recipe
    assert vars(again).keys() == {"steps"}, "another process hashes words otherwise"


def test_comments_blank_lines_and_spaces_do_not_matter():
    text = "# the outer loop\n\n  tile   L0\t4  # in registers\r\n"
    assert Recipe.parse(text) == Recipe((Step("tile", ("L0", 4)),))


def test_left_out_arguments_are_filled_in():
    assert Recipe.parse("skew L0 L1\nstage L2 A0\npeel L0").text() == (
        "skew L0 L1 1\nstage L2 A0 auto\npeel L0\n"
    )


@given(recipes)
def test_both_forms_lose_nothing(recipe):
    assert Recipe.parse(recipe.text()) == recipe
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    assert hash(Recipe.parse(recipe.text())) == hash(recipe)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\ntile L0 1", "line 3: tile needs a size of 2 or more, not 1"),
        ("tile L0 1048577", "line 1: tile needs a size of 1048576 or less, not 1048577"),
        ("tile L0", "line 1: tile needs a size: write `tile LOOP SIZE`"),
        ("tile L0 4 4", "line 1: tile takes 2 arguments, not 3"),
        ("skew L0 L1 0", "line 1: skew needs a factor other than 0"),
        ("stage L0 A0 up", "line 1: stage knows direction in or out or auto, not up"),
        ("unroll A0", "line 1: unroll needs a loop such as L0, not A0"),
        ("unroll L07", "line 1: unroll needs a loop such as L0, not L07"),
        ("interchange L0*.tile L1", "line 1: interchange needs an outer loop such as L0"),
        ("tile L0 four", "line 1: tile needs a whole number as size, not four"),
        ("rm -rf /", "line 1: unknown step rm: use one of block, "),
    ],
)
def test_says_what_is_wrong_and_where(text, message):
    with pytest.raises(RecipeError, match=re.escape(message)):
        Recipe.parse(text)


def test_length_is_bounded():
    assert len(Recipe.parse("unroll L0\n" * MAX_STEPS)) == MAX_STEPS
    with pytest.raises(RecipeError, match="at most 256 steps"):
        Recipe.parse("unroll L0\n" * (MAX_STEPS + 1))
    with pytest.raises(RecipeError, match="characters"):
        Recipe.parse("#" * 10**6)


def test_json_takes_no_other_types_for_numbers():
    for size in (True, 4.0, "4", None, [4]):
        with pytest.raises(RecipeError, match="step 1: tile needs a whole number"):
            Recipe.from_json({"version": 1, "steps": [["tile", "L0", size]]})


def test_renaming_is_simultaneous_and_keeps_suffixes():
    recipe = Recipe.parse("interchange L0 L1.tile\nvectorize L0*\nstage L2 A0 out")
    renamed = recipe.rename({"L0": "L1", "L1": "L0"}, {"A0": "A3"})
    assert renamed.text() == "interchange L1 L0.tile\nvectorize L1*\nstage L2 A3 out\n"


def test_renaming_to_no_name_is_refused():
    with pytest.raises(RecipeError, match="step 1: unroll needs a loop"):
        Recipe.parse("unroll L0").rename({"L0": "i"})


@given(recipes)
def test_renaming_there_and_back(recipe):
    loops = {name: f"L{10000 - int(name[1:]) - 1}" for name in recipe.base_loops()}
    back = {new: old for old, new in loops.items()}
    assert recipe.rename(loops).rename(back) == recipe
    assert recipe.rename(loops).base_loops() == tuple(loops.values())


_words = st.sampled_from([*STEPS, "L0", "L1.tile*", "A0", "32", "-1", "9" * 30, "٣", "\0"])
_lines = st.lists(_words | st.text(max_size=6), max_size=5).map(" ".join)


@given(st.text() | st.lists(_lines, max_size=4).map("\n".join))
def test_any_text_gives_a_recipe_or_one_line(text):
    try:
        recipe = Recipe.parse(text)
    except RecipeError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert Recipe.parse(recipe.text()) == recipe


@given(json_values | damaged(Recipe.parse(MATRIX_PRODUCT).to_json()))
def test_any_json_gives_a_recipe_or_one_line(obj):
    try:
        recipe = Recipe.from_json(obj)
    except RecipeError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert Recipe.from_json(recipe.to_json()) == recipe


OLD_NAMES = {"right_looking": "push", "strip_and_sink": "sink", "bounding_box": "widen"}


def test_steps_are_read_by_their_first_names_and_written_by_todays():
    first = {step.recorded_as: name for name, step in STEPS.items()}
    assert len(first) == len(STEPS)
    assert {name: STEPS[name].recorded_as for name in OLD_NAMES} == OLD_NAMES
    for old, new in first.items():
        example = STEPS[new].example
        given = Recipe.parse(example.replace(new, old, 1))
        assert given == Recipe.parse(example)
        assert given.text() == Recipe.parse(example).text()
        assert given.text().split()[0] == new
        assert given.to_json()["steps"][0][0] == new
        assert given.recorded()["steps"][0][0] == old
        assert Recipe.from_json(given.recorded()) == given
        assert (
            respelled(f"{example.replace(new, old, 1)}\nskew L0 L1\n") == f"{example}\nskew L0 L1\n"
        )
