"""Elements that loops compute again and again, some beside each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sdfg_kit import prepared_text

import loopbook
from loopbook.program.json_text import loaded
from loopbook.program.read import read
from loopbook.program.tree import VECTORISED, Loop
from loopbook.program.walk import children, preorder
from loopbook.sdfg.iterated import TOGETHER, with_elements_together

pytestmark = pytest.mark.usefixtures("no_book")


def newton(x, y, n):
    for i in range(x.shape[0]):
        for _ in range(n):
            x[i] = x[i] - (math.exp(x[i]) - y[i]) / math.exp(x[i])


def around(x, y, n):
    for i in range(x.shape[0]):
        x[i] = x[i] * 2.0
        for k in range(n):
            x[i] = x[i] * 0.5 + y[k]
            if x[i] > 0.75:
                x[i] = x[i] - 0.25
        y[i] = x[i] + 1.0


def several(x, y, n):
    for i in range(x.shape[0]):
        for _ in range(n):
            x[i] = x[i] * 0.5 + y[i]
        for _ in range(2):
            y[i] = y[i] - 0.5 * x[i]


def steps_that_coefficients_say(x, y, n):
    for i in range(x.shape[0]):
        for k in range(n):
            x[i] = x[i] * 0.5 + y[k]


def of_neighbours(x, y, n):
    for i in range(x.shape[0] - 1):
        for _ in range(n):
            x[i] = x[i] * 0.5 + x[i + 1]


def handed_on(x, y, n):
    s = 0.0
    for i in range(x.shape[0]):
        for _ in range(n):
            s = s * 0.5 + x[i]
            x[i] = s * 0.75
    y[0] = s


def last_of_some(x, y, n):
    last = -1.0
    for i in range(x.shape[0]):
        for _ in range(n):
            x[i] = x[i] * 0.5 + 0.1
            if x[i] > y[i]:
                last = x[i] + i
    y[0] = last


def as_many_as_itself(x, y, n):
    for i in range(x.shape[0]):
        for _ in range(i):
            x[i] = x[i] * 0.5 + y[i]


def sums_in_memory(x, y, n):
    for i in range(x.shape[0] - 4):
        for k in range(4):
            x[i] = x[i] + y[k] * y[i + k]


def wherever_data_say(x, y, n):
    for i in range(x.shape[0]):
        for _ in range(n):
            x[int(8.0 * y[i])] = x[int(8.0 * y[i])] * 0.5 + y[i]


TOGETHER_ARE = [newton, steps_that_coefficients_say, several]
APART_ARE = [of_neighbours, handed_on, last_of_some, as_many_as_itself, sums_in_memory,
             wherever_data_say]  # fmt: skip


def arguments(size=40, n=5):
    rng = np.random.default_rng(size)
    return [rng.random(size), rng.random(size), n]


def tree(function):
    return read(loaded(prepared_text(function, arguments())))


@pytest.mark.parametrize("function", TOGETHER_ARE)
def test_each_step_is_taken_by_some_elements_together(function):
    made = with_elements_together(tree(function))
    innermost = [
        loop
        for loop in preorder(made)
        if isinstance(loop, Loop) and not any(isinstance(n, Loop) for n in children(loop))
    ]
    assert innermost
    for loop in innermost:
        assert (loop.kind, loop.schedule) == ("map", VECTORISED)
        assert str(TOGETHER) in loop.condition.text
    ids = [loop.id for loop in preorder(made) if isinstance(loop, Loop)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("function", APART_ARE)
def test_what_elements_have_of_others_keeps_its_order(function):
    given = tree(function)
    assert with_elements_together(given) is given


@pytest.mark.parametrize("target", ["sequential", "openmp"])
@pytest.mark.parametrize("function", [*TOGETHER_ARE, around, *APART_ARE])
def test_numbers_are_pythons(function, target):
    program = loopbook.native(function, target=target, strict=True)
    for size, n in ((40, 5), (1000, 7), (1000, 0)):  # whole strips and parts of them
        got, want = arguments(size, n), arguments(size, n)
        program(*got)
        function(*want)
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
