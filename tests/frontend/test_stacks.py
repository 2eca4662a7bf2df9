"""Lists as stacks and queues."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError

from .kit import check, data, function


def nearest_greater(x):
    found = np.full(len(x), -1)
    stack = []
    for i in range(len(x)):
        while len(stack) > 0 and x[stack[-1]] < x[i]:
            found[stack.pop()] = i
        stack.append(i)
    return found, len(stack)


def rising(x):
    kept = []
    for v in x:
        while kept and kept[-1] > v:
            kept.pop()
        kept.append(v)
    return np.array(kept)


def flooded(x):
    side = 4
    wet = (x > 0).reshape(-1, side)
    label = np.zeros(wet.shape, dtype=np.int64)
    stack = [(0, 1)]
    while stack:
        i, j = stack.pop()
        if label[i, j] == 0 and wet[i, j]:
            label[i, j] = 1 + len(stack)
            for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                if 0 <= i + di < wet.shape[0] and 0 <= j + dj < side:
                    stack.append((i + di, j + dj))
    return label


def reached(x):
    count = len(x)
    steps = np.full(count, -1)
    steps[0] = 0
    queue = [0]
    while queue:
        v = queue.pop(0)
        for w in range(count):
            if steps[w] < 0 and abs(x[v] - x[w]) < 0.8:
                steps[w] = steps[v] + 1
                queue.append(w)
    return steps


def greatest_in_windows(x):
    ends, found = deque(), []
    for i in range(len(x)):
        while ends and x[ends[-1]] <= x[i]:
            ends.pop()
        ends.append(i)
        if ends[0] <= i - 3:
            ends.popleft()
        if i >= 2:
            found.append(x[ends[0]])
    return np.array(found), len(ends)


def largest_rectangle(x):
    stack, best, i = [], 0.0, 0
    while i < len(x):
        if not stack or x[stack[-1]] <= x[i]:
            stack.append(i)
            i += 1
        else:
            top = stack.pop()
            best = max(best, x[top] * (i if not stack else i - stack[-1] - 1))
    return best, len(stack)


def calculated(x):
    stack = []
    for i in range(len(x)):
        if len(stack) > 1 and x[i] < 0:
            stack.append(stack.pop() - 2 * stack.pop())
        else:
            stack.append(x[i])
    return np.array(stack)


KERNELS = [
    nearest_greater,
    rising,
    flooded,
    reached,
    greatest_in_windows,
    largest_rectangle,
    calculated,
]


@pytest.mark.parametrize("kernel", KERNELS)
def test_stacks_and_queues(kernel):
    for size in (12, 24, 40):
        check(kernel, data(size))


def test_what_is_taken_off_an_empty_list_is_pythons_to_refuse():
    loop = "for v in x:\n    if v > 0:\n        o.append(v)\n    else:\n        o.pop()"
    kernel = function(f"o = []\n{loop}\nreturn len(o)", "x")
    good, bad = np.array([1.0, 2.0, -1.0, 3.0]), np.array([1.0, -1.0, -1.0, 3.0])
    lowered = lower(kernel, [good])
    assert lowered is not None
    assert lowered.plain(good) == kernel(good) == 2
    with pytest.raises(SupposedError):
        lowered.plain(bad)


def test_what_is_taken_of_the_middle_is_one_of_what_there_is():
    body = "o = []\nfor v in x:\n    o.append(v)\n    if v > 0:\n        o.pop(1)\nreturn len(o)"
    kernel, good = function(body, "x"), np.array([-1.0, 2.0, -1.0, 3.0])
    lowered = check(kernel, good)
    with pytest.raises(SupposedError):
        lowered.plain(-good)


def test_of_what_a_list_begins_with_nothing_is_taken():
    with pytest.raises(LoweringError, match="pop of what is no list that grows"):
        lower(function("o = [1.0, 2.0]\no.pop(0)\nreturn x * o[0]", "x"), [data(5)])
