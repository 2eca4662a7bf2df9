"""Confirmation: what takes part, and what is chosen for which size."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tuner_kit import VECTORISED, bad_library, task

from loopbook.recipes.recipe import Recipe
from loopbook.steps import Step
from loopbook.toolchain.times import Times
from loopbook.tuner import confirmation
from loopbook.tuner.confirmation import (
    Confirmation,
    best_recipes,
    confirm,
    right_elsewhere,
    whole_programs,
)
from loopbook.tuner.log import Trial, TrialLog
from loopbook.tuner.records import Round, chosen
from loopbook.tuner.session import Session
from loopbook.tuner.thresholds import BETTER

WRONG = (Step("tile", ("L1", 5)),)
CRASHING = (Step("tile", ("L1", 6)),)
ILLEGAL = (Step("tile", ("L7", 4)),)
BODIES = {WRONG: "C[0] += 1;", CRASHING: "*(volatile int *)8 = 1;"}


def sabotaged(build: Any, text: str, folder: Path) -> Any:
    """`build_tuned`, but what comes out for `WRONG` and `CRASHING` is what they say."""
    libraries = {
        steps: bad_library(text, folder / f"{n}", body)
        for n, (steps, body) in enumerate(BODIES.items())
    }

    def wrapped(text: str, target: str, recipes: Any, *args: Any, **named: Any) -> Any:
        built = build(text, target, recipes, *args, **named)
        bad = libraries.get(tuple(recipes.get(0, ())))
        return dataclasses.replace(built, library=bad) if bad else built

    return wrapped


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with Session(task(tmp_path_factory.mktemp("confirmation")), "S", "sequential") as opened:
        yield opened


def test_what_fails_to_be_confirmed_is_left_out(session, monkeypatch, tmp_path):
    from loopbook.tuner import session as sessions

    bad = sabotaged(sessions.build_tuned, session.text, tmp_path)
    monkeypatch.setattr(sessions, "build_tuned", bad)
    recipes = [WRONG, VECTORISED, CRASHING, ILLEGAL]
    times = confirm(session, [{0: steps} for steps in recipes])
    assert list(times.programs.values()) == [{0: VECTORISED}]
    assert times.after(0, VECTORISED) > 0
    assert [times.after(0, steps) for steps in (WRONG, CRASHING, ILLEGAL)] == [0, 0, 0]
    assert times.after(0, ()) == min(times.plain.nests[0])
    assert times.before(0) == min(times.baseline.nests[0])
    everything = (times.baseline, times.plain, *times.tuned.values())
    assert times.whole == min(min(t.seconds) for t in everything)


def test_wrong_numbers_in_a_race_are_no_error(session, tmp_path):
    """They may come out only now and then, so that they were right before."""
    bad = dataclasses.replace(
        session.plain, library=bad_library(session.text, tmp_path / "bad", BODIES[WRONG])
    )
    first, wrong, last = session.time(
        [session.baseline, bad, session.plain], confirmation.CONFIRM, tolerant=True
    )
    assert wrong.seconds == []
    assert first.seconds
    assert last.seconds


def test_the_best_recipes_are_right_on_other_data(session, monkeypatch, tmp_path):
    mine = task(tmp_path)
    log = TrialLog(None, {})
    for number, (steps, speedup) in enumerate(
        [(WRONG, 9.0), (VECTORISED, 3.0), (CRASHING, 8.0), ((), 1.0), (VECTORISED, 2.0)]
    ):
        log.add(Trial(number, 0, "", Recipe(steps), "ok", speedup))
    text = mine.text(mine.arguments("S"))
    monkeypatch.setattr(
        confirmation, "build_tuned", sabotaged(confirmation.build_tuned, text, tmp_path)
    )
    assert best_recipes(session, log, mine) == {0: [VECTORISED]}
    assert right_elsewhere(mine, "sequential", {0: [WRONG]}) == {0: []}


RECIPES = [(Step("tile", ("L0", size)),) for size in (2, 4, 8)]
recipes = st.lists(st.sampled_from(RECIPES), unique=True, min_size=1)


@given(st.dictionaries(st.integers(0, 4), recipes))
def test_every_recipe_is_in_some_program(given_recipes):
    whole = whole_programs(given_recipes)
    for position, offered in given_recipes.items():
        assert [program[position] for program in whole[: len(offered)]] == offered
        assert {program[position] for program in whole} == set(offered)
    assert len(whole) == max(map(len, given_recipes.values()), default=0)


def times(seconds: float) -> Times:
    return Times([seconds], {0: [seconds]})


@st.composite
def rounds(draw: st.DrawFn) -> list[Round]:
    """Confirmation of one nest at up to three sizes; some recipes fail at some of them."""
    made = []
    seconds = st.floats(0.1, 10)
    for number in range(draw(st.integers(1, 3))):
        tuned = {
            place: times(draw(seconds)) for place in range(len(RECIPES)) if draw(st.booleans())
        }
        played = {place: {0: RECIPES[place]} for place in tuned}
        baseline, plain = times(draw(seconds)), times(draw(seconds))
        whole = min(t.seconds[0] for t in (baseline, plain, *tuned.values()))
        made.append(
            Round(f"{number}", {}, {}, Confirmation(baseline, plain, tuned, played, 1, whole))
        )
    return made


@given(rounds())
def test_what_is_chosen_is_best_somewhere_and_right_everywhere(confirmed_rounds):
    kept = chosen(confirmed_rounds, 0)
    right = [s for s in RECIPES if all(one.speedup(0, s) > 0 for one in confirmed_rounds)]
    assert kept
    assert len(set(kept)) == len(kept)
    assert set(kept) <= {(), *right}
    for one in confirmed_rounds:
        best = max(one.speedup(0, steps) for steps in ((), *right))
        have = max(one.speedup(0, steps) for steps in kept)
        assert best <= BETTER * BETTER * max(have, 1.0), "a size at which another one is better"
    last = confirmed_rounds[-1]
    best = max(last.speedup(0, steps) for steps in ((), *right))
    assert last.speedup(0, kept[0]) * BETTER >= best, "the last size comes first"


@given(rounds())
def test_a_combination_holds_the_fastest_of_each_nest(confirmed_rounds):
    for one in confirmed_rounds:
        combined = one.confirmation.combination()
        after: dict[tuple[Step, ...], float] = {
            steps: one.confirmation.after(0, steps) for steps in ((), *RECIPES)
        }
        fastest = min(seconds for seconds in after.values() if seconds)
        assert after[combined.get(0, ())] == fastest
