"""Functions cut at statements compute what they did, wherever they are cut."""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopbook.client.variants.remade import remade
from loopbook.frontend.cuts import Cut, cut
from loopbook.frontend.inline import parsed


def smoothed(u, keep):
    w = np.zeros(u.shape)
    for i in range(1, u.shape[0] - 1):
        w[i] = u[i - 1] + u[i + 1]
    f = np.fft.rfft(w)
    for k in range(keep, f.shape[0]):
        f[k] = 0.0
    return np.fft.irfft(f)


def branches(u, keep):
    total, seen = 0.0, {}
    for i in range(u.shape[0]):
        if u[i] > 0.5:
            total = total + u[i] * 2.0
            seen[i] = total
            continue
        for j in range(keep):
            total = total * 0.5 + u[j]
            if total > 100.0:
                break
        else:
            total += 1.0
        last = total + i
        seen[i] = last
    if total < -1.0:
        return None
    if keep > 3:
        some = total * 3.0 + keep
    else:
        seen["less"] = True
    if "less" not in seen:
        total = total + some
    return total, seen


def raises(u, keep):
    count = 0
    v = u.copy()
    try:
        for i in range(u.shape[0]):
            count = count + 1
            v[i] = 10 // (keep - i) + u[i]
        count += 100
    except ZeroDivisionError as error:
        name = type(error).__name__
        v[0] = count * 2.0 + len(name)
    finally:
        v[1] = count + 1.0
    while count > 2:
        count = count - 2
        v = v + count * 0.5
    return v, count


def own(u, keep):
    scale = 2.0

    def scaled(x):
        return x * scale + keep

    total = 0.0
    for i in range(u.shape[0]):
        total += scaled(u[i])
    scale = 3.0
    shifted = [scaled(x) + total for x in u]
    square = lambda x: x * x + scale  # noqa: E731
    u += square(total)
    view = u[1:]
    view[:] = view * 0.5 + shifted[0]
    return total, u, view


def otherwise(u, keep, goal=3.0):
    best = -1.0
    for i in range(u.shape[0]):
        clear = 9.0
        for j in range(keep):
            clear = min(clear, u[j])
            if clear < 0.1:
                break
        else:
            best = max(best, goal * clear - u[i])
    return best


def shares(u, keep):
    rows = np.zeros((4, u.shape[0]))
    flat = rows.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = i * 0.5
    first, last = rows[0], rows[3]
    same = u
    for i in range(u.shape[0]):
        first[i] = first[i] + u[i] * keep
        same[i] = last[i] - same[i]
    flat[2] = 7.0
    return rows, flat, first + last, same


def contexts(u, keep):
    count, v = 0, u * 2.0
    with contextlib.suppress(ZeroDivisionError):
        for i in range(u.shape[0]):
            count = count + 10 // (keep - i)
        late = count * 2
    with np.errstate(divide="ignore"):
        w = v / (u + keep)
    v = v + w * count
    if keep > u.shape[0]:
        v = v + late
    return v, count


FUNCTIONS = [contexts, shares, smoothed, branches, raises, own, otherwise]


def lines_of(function: Callable[..., Any]) -> list[int]:
    found = {n.lineno for n in ast.walk(parsed(function)) if isinstance(n, ast.stmt)}
    return sorted(found - {parsed(function).lineno})


def put_together(function: Any, found: Cut) -> Callable[..., Any]:
    """The function with its parts, as Python."""
    parts = {part.name: remade(function, part, {}) for part in found.parts}
    made = remade(function, found.rest, parts)
    made.__defaults__ = function.__defaults__
    return made


@pytest.mark.parametrize("function", FUNCTIONS)
@given(data=st.data())
@settings(max_examples=60)
def test_wherever_it_is_cut(function, data):
    lines = lines_of(function)
    refused = data.draw(st.sets(st.sampled_from(lines), min_size=1, max_size=len(lines)))
    found = cut(parsed(function), refused)
    if found is None:
        return
    keep = data.draw(st.integers(0, 5))
    u = np.random.default_rng(keep).random(9)
    mine, others = [copy.deepcopy((u, keep)) for _ in range(2)]
    wanted, answer = function(*mine), put_together(function, found)(*others)
    np.testing.assert_equal(answer, wanted)
    np.testing.assert_equal(others, mine)


def swapped(u, v):
    for _ in range(3):
        for i in range(u.shape[0]):
            v[i] = u[i] * 0.5 + i
        u, v = v, u
    print("done")
    return u


def test_what_is_swapped_in_a_loop_is_cut_out():
    found = cut(parsed(swapped), {parsed(swapped).lineno + 5})
    assert found is not None
    assert len(found.parts) == 1


def test_what_it_becomes():
    first = parsed(smoothed).lineno
    found = cut(parsed(smoothed), {first + 4, first + 7})
    assert found is not None
    loops, tail = (part.name for part in found.parts)
    assert ast.unparse(found.rest).splitlines()[1:] == [
        f"    w = {loops}(u)",
        "    f = np.fft.rfft(w)",
        f"    {tail}(f, keep)",
        "    return np.fft.irfft(f)",
    ]
    assert loops == f"smoothed_{first + 1}_to_{first + 3}"


def generated(u):
    for value in u:
        total = 0.0
        for i in range(3):
            total += value * i
        yield total


def looked_at(u):
    total = 0.0
    for i in range(u.shape[0]):
        total += u[i]
    return sorted(locals())


class Counter:
    def __init__(self):
        self.__total = 0.0

    def count(self, u):
        name = str(u)
        for i in range(u.shape[0]):
            self.__total += u[i]
        return name, self.__total


def matched(u):
    match u.shape:
        case (rows,):
            total = rows * 2.0
        case (rows, _):
            total = rows * 3.0
    for i in range(rows):
        total += i
    return total


@pytest.mark.parametrize("function", [generated, looked_at, Counter.count, matched])
def test_some_are_left_whole(function):
    assert cut(parsed(function), {inspect.getsourcelines(function)[1] + 1}) is None
