"""Which of the two is called: Python, or what was compiled."""

from __future__ import annotations

import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import loopbook
from loopbook.client.variants import rival as rivals
from loopbook.client.variants.rival import IN_A_ROW, ROUNDS, Rival

pytestmark = pytest.mark.usefixtures("no_book")

MICROSECONDS = 1e-6


def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Warming:
    """A function whose first calls take longer than all others.

    Args:
        spend: what takes that long, in seconds.
    """

    def __init__(self, first, later, cold=1, spend=busy):
        self.first, self.later, self.cold, self.spend = first, later, cold, spend
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        self.spend((self.first if self.calls <= self.cold else self.later) * MICROSECONDS)
        x += 1
        return x.sum()


@pytest.fixture
def passing(monkeypatch):
    """Lets time pass, on a clock that what else runs on the machine does not move."""
    now = [0.0]

    def let(seconds):
        now[0] += seconds

    monkeypatch.setattr(rivals, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return let


@pytest.mark.parametrize(("python", "taken"), [(20, True), (120, False)])
def test_short_calls_are_compared_when_they_are_warm(python, taken):
    own, compiled = Warming(400, python, cold=ROUNDS), Warming(200, 60, cold=ROUNDS)
    rival, x = Rival(own, lambda _: None), np.zeros(4)
    settled = [rival.call(compiled, [x])[1] for _ in range(ROUNDS)]
    assert settled == [None] * (ROUNDS - 1) + [taken]
    np.testing.assert_array_equal(x, np.full(4, ROUNDS))  # all others had copies


def test_long_calls_are_compared_once():
    own, compiled = Warming(30_000, 30_000), Warming(20_000, 20_000)
    rival = Rival(own, lambda _: None)
    rival.call(compiled, [np.zeros(4)])
    assert (own.calls, compiled.calls) == (1, 1)


def test_memory_for_a_result_does_not_decide_about_calls_of_milliseconds(passing):
    # Whichever is called first gets it new from the system, which takes the most of its time.
    own, compiled = Warming(2_100, 1_500, spend=passing), Warming(2_300, 300, spend=passing)
    rival, x = Rival(own, lambda _: None), np.zeros(4)
    assert [rival.call(compiled, [x])[1] for _ in range(ROUNDS)][-1] is False
    assert rival.compiled < 1e-3


def test_an_alarm_alone_does_not_decide_about_short_calls():
    own, compiled = Warming(20_000, 5), Warming(40, 40, cold=0)
    rival, x = Rival(own, lambda _: None), np.zeros(4)
    assert rival.call(compiled, [x])[1] is None
    assert [rival.call(compiled, [x])[1] for _ in range(ROUNDS - 1)][-1] is True


@pytest.mark.parametrize("size", [4, 1_200_000])
@pytest.mark.parametrize("later", [2_000, 90_000])
def test_python_is_stopped_twice_before_that_decides(size, later):
    own, compiled = Warming(90_000, later), Warming(20_000, 20_000)
    rival, x = Rival(own, lambda _: None), np.zeros(size)
    found = [rival.call(compiled, [x])[1] for _ in range(ROUNDS)]
    assert found[-1] is (later == 2_000)
    assert found.index(False) == (0 if size == 4 else 1) if later == 90_000 else not any(found[:2])


def test_both_are_timed_anew_after_some_longer_calls(passing):
    given = []
    rival = Rival(lambda n: passing(n * 10 * MICROSECONDS), lambda _: None, take=given.append)
    for _ in range(ROUNDS):
        _, lost = rival.call(lambda n: passing(60 * MICROSECONDS), [1])
    assert lost is True
    anew = []
    python = rival.instead(lambda: anew.append(1))
    assert given == [python]
    for n in [20, 1, *[20] * (IN_A_ROW - 1), 1]:
        python(n)
    assert not anew  # one call may be long for many reasons
    for _ in range(IN_A_ROW):
        python(20)
    assert anew
    assert given == [python, None]


def steps(n):
    x = 0.5
    for i in range(n):
        x = 0.25 * x * i + 1.0 / (i + 1.0)
    return np.array([x, -x]) * n


def test_a_number_that_says_how_much_there_is_to_do_is_minded():
    program = loopbook.native(steps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (*range(1, 12), *[3000] * 30):
            np.testing.assert_allclose(program(n), steps(n))
    times = [_seconds(lambda: program(3000)) for _ in range(5)]
    assert min(times) < min(_seconds(lambda: steps(3000)) for _ in range(5)) / 2


def _seconds(call):
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def doubled(x):
    return 2 * x


def multiplied(x, y=1, *, by=2):
    return by * y * x


@pytest.mark.parametrize("function", [doubled, multiplied])
def test_python_is_found_without_a_look_at_anything(function, monkeypatch):
    program, x = loopbook.native(function), np.arange(3.0)
    monkeypatch.setattr("loopbook.client.variants.rival.FASTER", np.inf)
    monkeypatch.setattr("loopbook.client.variants.rival.PATIENCE", 1e6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(ROUNDS + 2):
            program(x)
    monkeypatch.setattr(program, "_constants", None)
    np.testing.assert_array_equal(program(x), 2 * x)
