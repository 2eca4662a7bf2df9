"""What is confirmed is fast as it is served."""

from __future__ import annotations

import numpy as np
import pytest
from tuner_kit import VECTORISED, task

from loopbook.recipes.hardware import read
from loopbook.recipes.recipe import Recipe
from loopbook.steps import Step
from loopbook.toolchain.times import Times
from loopbook.tuner import served
from loopbook.tuner.served import fastest_served, unasked
from loopbook.tuner.session import Session
from loopbook.tuner.settings import Settings

TILED = (Step("tile", ("L1", 5)),)
ILLEGAL = (Step("tile", ("L7", 4)),)
SLOW = (Step("tile", ("L0", 3)),)
RULES = {0: (Step("tile", ("L0", 2)),)}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with Session(task(tmp_path_factory.mktemp("served")), "S", "sequential") as opened:
        yield opened


def timed(monkeypatch, seconds):
    """What is measured of a program is this, by its recipe; the code is compiled all the same."""
    compiled = []
    build = served.build_tuned

    def built(text, target, candidate, *args, **named):
        assert named["vector_maths"]
        result = build(text, target, candidate, *args, **named)
        compiled.append(candidate[0])
        return result

    def time(_, builts, *__, **___):
        found = []
        for _, steps in zip(builts, compiled, strict=True):
            one = Times()
            if steps in seconds:
                one.add(seconds[steps], {}, {})
            found.append(one)
        return found

    monkeypatch.setattr(served, "build_tuned", built)
    monkeypatch.setattr(Session, "time", time)


def ask(session, best):
    return fastest_served(session, best, read(1), Settings("sequential"))


def test_only_what_is_as_fast_as_the_fastest_is_kept(session, monkeypatch):
    monkeypatch.setattr(served, "unasked", lambda *_: ())
    timed(monkeypatch, {VECTORISED: 1.0, TILED: 0.5, SLOW: 0.51})
    assert ask(session, {0: [VECTORISED, SLOW, TILED]}) == {0: [TILED, SLOW]}


def test_what_rules_serve_takes_part(session, monkeypatch):
    monkeypatch.setattr(served, "unasked", lambda *_: (RULES, {}))
    timed(monkeypatch, {VECTORISED: 1.0, RULES[0]: 0.5})
    assert ask(session, {0: [VECTORISED]}) == {0: [RULES[0]]}


def test_what_does_not_compile_or_is_wrong_is_left_out(session, monkeypatch):
    monkeypatch.setattr(served, "unasked", lambda *_: ())
    timed(monkeypatch, {VECTORISED: 1.0})
    assert ask(session, {0: [ILLEGAL, TILED, VECTORISED]}) == {0: [VECTORISED]}


def test_all_stays_where_nothing_can_be_measured(session, monkeypatch):
    monkeypatch.setattr(served, "unasked", lambda *_: ())
    timed(monkeypatch, {})
    assert ask(session, {0: [TILED, SLOW]}) == {0: [TILED, SLOW]}
    assert ask(session, {0: [ILLEGAL, ILLEGAL]}) == {0: [ILLEGAL, ILLEGAL]}
    assert ask(session, {}) == {}


def test_what_books_would_serve_is_what_a_search_begins_with(session):
    begun = [Recipe(TILED), Recipe(SLOW)]
    _, found = unasked(session, read(1), Settings("sequential"), lambda _: begun)
    assert found == {0: TILED}


def test_it_is_really_run(session):
    rules = unasked(session, read(1), Settings("sequential"), lambda _: ())[0].values()
    found = ask(session, {0: [SLOW, VECTORISED]})
    assert found[0]
    assert {*found[0]} <= {
        SLOW,
        VECTORISED,
        *rules,
    }
    assert np.isfinite(session.baseline_s)
