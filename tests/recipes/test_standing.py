"""How a recipe stands: what voices can move, and what one of them cannot."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopbook.recipes.standing import (
    EXPLORING,
    VOICES,
    Arm,
    Opinion,
    Posterior,
    choose,
    clipped,
    standing,
)

logs = st.floats(-20.0, 20.0)
priors = st.floats(-1.0, 4.0)
opinions = st.builds(Opinion, logs, st.integers(1, 10_000), st.just(False))
many = st.lists(opinions, max_size=12)


def says(speedup: float, count: int = 1, *, trusted: bool = False) -> Opinion:
    return Opinion(math.log(speedup), count, trusted)


@given(priors, many, st.randoms(use_true_random=False))
def test_the_order_of_voices_does_not_matter(prior, given_opinions, numbers):
    mixed = list(given_opinions)
    numbers.shuffle(mixed)
    assert standing(prior, mixed) == standing(prior, given_opinions)


@given(priors, opinions)
def test_one_voice_alone_moves_nothing(prior, liar):
    alone = standing(prior, [liar])
    assert alone.shift == 0.0
    assert not alone.loses


@given(priors, many, opinions)
def test_one_voice_leaves_a_standing_between_the_record_and_the_others(prior, others, liar):
    """Whatever it says, and however often."""
    without = standing(prior, others)
    with_it = standing(prior, [*others, liar])
    told = without.posterior.mean - clipped(prior)
    assert min(0.0, told) - 1e-9 <= with_it.shift <= max(0.0, told) + 1e-9
    if with_it.loses:
        assert without.posterior.below(math.log(0.98)) > 0.95


@given(priors, many, logs, st.integers(1, 10_000), st.integers(1, 10_000))
def test_a_voice_is_not_louder_for_speaking_often(prior, others, mean, one, other):
    once, often = Opinion(mean, one), Opinion(mean, other)
    assert standing(prior, [*others, once]) == standing(prior, [*others, often])


@given(priors, many)
def test_what_loses_for_sure_is_expected_to_lose(prior, voices):
    found = standing(prior, voices)
    if found.loses:
        assert found.voices >= VOICES
        assert found.posterior.mean < math.log(0.98)


@pytest.mark.parametrize("claimed", [1.05, 1.5, 3.0, 20.0, 1e4])
def test_what_many_see_lose_loses_whatever_was_claimed(claimed):
    losing = [says(one) for one in (0.5, 0.52, 0.49)]
    assert not standing(math.log(claimed), losing[:2]).loses
    assert standing(math.log(claimed), losing).loses


def test_a_liar_neither_condemns_nor_saves():
    honest = [says(one) for one in (1.45, 1.5, 1.52)]
    assert not standing(math.log(1.5), [*honest, says(1e-3, 10_000)]).loses
    losing = [says(one) for one in (0.6, 0.61, 0.58)]
    assert standing(math.log(1.5), [*losing, says(1e3, 10_000)]).loses


def test_noise_around_no_gain_does_not_withdraw():
    numbers = random.Random(1)
    for _ in range(50):
        voices = [Opinion(numbers.gauss(0.0, 0.05)) for _ in range(20)]
        assert not standing(math.log(1.2), voices).loses


def test_a_trusted_machine_is_enough_once_it_has_measured_often_enough():
    assert not standing(math.log(2.0), [says(0.5, 2, trusted=True)]).loses
    assert standing(math.log(2.0), [says(0.5, 3, trusted=True)]).loses
    assert not standing(math.log(2.0), [says(0.5, 10_000)]).loses


def test_another_class_of_machines_is_expected_to_differ_more():
    voices = [says(0.9) for _ in range(3)]
    here = standing(math.log(1.5), voices)
    there = standing(math.log(1.5), voices, elsewhere=True)
    assert there.posterior.mean < here.posterior.mean


GOOD, CLOSE, BAD = Posterior(0.4, 0.1), Posterior(0.38, 0.2), Posterior(-3.0, 0.1)


def test_choices_are_the_best_but_for_a_few():
    arms = [Arm("good", GOOD), Arm("close", CLOSE), Arm("bad", BAD)]
    chosen = [choose(arms, f"seed {n}") for n in range(4000)]
    assert chosen == [choose(arms[::-1], f"seed {n}") for n in range(4000)]
    assert chosen.count("bad") == 0
    assert 0.2 * EXPLORING < chosen.count("close") / 4000 < EXPLORING


def test_what_loses_is_never_chosen():
    assert choose([Arm("a", GOOD, loses=True)], "any") == ""
    assert choose([], "any") == ""
    assert {choose([Arm("a", GOOD, True), Arm("b", BAD)], str(n)) for n in range(99)} == {"b"}
