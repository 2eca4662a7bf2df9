"""Lists of a known length that are read and stored into by place."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import loopbook
from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.filled import with_arrays

from .kit import copied, flat

RNG = np.random.default_rng(0)
WORDS = RNG.integers(0, 4, 12), RNG.integers(0, 4, 9)


def votes(y, k):
    counts = [0] * k
    for c in y:
        counts[c] += 1
    best = 0
    for c in range(k):
        if counts[c] > counts[best]:
            best = c
    return best, counts


def distance(a, b):
    before = list(range(len(b) + 1))
    for i in range(len(a)):
        now = [i + 1] + [0] * len(b)
        for j in range(len(b)):
            now[j + 1] = min(before[j + 1] + 1, now[j] + 1, before[j] + (a[i] != b[j]))
        before = now
    return before[len(b)]


def swapped(a, n):
    before, now = [0] * (n + 1), [0] * (n + 1)
    for i in range(len(a)):
        for j in range(1, n + 1):
            now[j] = before[j - 1] + int(a[i])
        before, now = now, before
    return before, sum(now), len(now), max(before)


def floats_later(x):
    sums = [0] * 3
    for v in x:
        if v > 0.5:
            sums[0] += v
        elif v > 0.2:
            sums[1] += 1
        else:
            sums[2] = -v * 2
    return np.array(sums), sums[1] * 2


def copies(n):
    a = list(range(n))
    b = a[:]
    for i in range(n):
        b[i] = a[n - 1 - i] * 2
    c = list(b)
    for i in range(n):
        c[i] += a[i]
    return a, b, c


def sieve(n):
    prime = [True] * (n + 1)
    i = 2
    while i * i <= n:
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
        i += 1
    return [k for k in range(2, n + 1) if prime[k]]


def nearest(A, s):
    far, done = [float("inf")] * len(A), [False] * len(A)
    far[s] = 0
    for _ in range(len(A)):
        u = -1
        for v in range(len(A)):
            if not done[v] and (u < 0 or far[v] < far[u]):
                u = v
        done[u] = True
        for v in range(len(A)):
            if A[u, v] > 0 and far[u] + A[u, v] < far[v]:
                far[v] = far[u] + A[u, v]
    return np.array(far)


def root(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


def joined(parent, sizes, a, b):
    a, b = root(parent, a), root(parent, b)
    if a == b:
        return False
    if sizes[a] < sizes[b]:
        a, b = b, a
    parent[b] = a
    sizes[a] += sizes[b]
    return True


def sets(src, dst, n):
    parent, sizes, count = list(range(n)), [1] * n, n
    for i in range(len(src)):
        if joined(parent, sizes, src[i], dst[i]):
            count -= 1
    return count, np.array(sizes), [root(parent, i) for i in range(n)]


def halved(values, at):
    values[at] = values[at] / 2
    return values[at]


def handed_on(x, n):
    held, total = [8] * n, 0.0
    for i in x:
        total += halved(held, i)
    return total, held


GRAPH = (RNG.random((7, 7)) < 0.4) * RNG.random((7, 7))
CALLS = [
    (votes, (RNG.integers(0, 5, 40), 5)),
    (distance, WORDS),
    (swapped, (WORDS[0], 5)),
    (floats_later, (RNG.random(20),)),
    (copies, (6,)),
    (sieve, (40,)),
    (nearest, (GRAPH, 0)),
    (sets, (RNG.integers(0, 12, 9), RNG.integers(0, 12, 9), 12)),
    (handed_on, (WORDS[0], 5)),
]


def items(value):
    return [y for x in value for y in items(x)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(("function", "args"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_loops_give_the_same(function, args):
    lowered = lower(function, args)
    assert lowered is not None
    got, expected = lowered.plain(*copied(args)), function(*copied(args))
    for one, other in zip(flat(got), flat(expected), strict=True):
        assert isinstance(one, list) == isinstance(other, list)
        np.testing.assert_allclose(items(one), items(other))


def test_compiled(no_book):
    assert loopbook.native(votes, strict=True)(*CALLS[0][1]) == votes(*CALLS[0][1])
    assert loopbook.native(distance, strict=True)(*WORDS) == distance(*WORDS)


@pytest.mark.parametrize(
    "use",
    [
        "x.append(i)",
        "x += [i]",
        "f(x)",
        "y = [x, x]",
        "x = 3",
        "del x[0]",
        "x[1:] = [i]",
        "y = x[1:]",
    ],
)
def test_lists_that_more_is_done_with_stay(use):
    body = ast.parse(f"x = [0] * n\nfor i in range(n):\n    x[i] = i\n    {use}\n").body
    assert ast.dump(with_arrays(body)[0]) == ast.dump(body[0])


def test_sums_are_pythons(no_book):
    def totals(x):
        held, counts = [1.0, 2.0, 3.0], [1] * 5
        for i in range(3):
            held[i] += 1.0
            counts[i] += i
        return sum(held), sum(counts), sum(held) / 2, sum(counts) * x[0], sum(x)

    x = np.arange(3.0, dtype=np.float32)
    got, expected = loopbook.native(totals, strict=True)(x), totals(x)
    assert [*map(type, got)] == [*map(type, expected)]
    assert got == expected


def adding(held, v):
    held.append(v)


def keeping(held, v):
    held[0] = v
    return held


@pytest.mark.parametrize("does", [adding, keeping])
def test_lists_that_functions_do_more_with_stay(does):
    text = "x = [0] * n\nfor i in range(n):\n    x[i] = i\n    y = does(x, i)\n"
    body = ast.parse(text).body
    assert ast.dump(with_arrays(body, {"does": does})[0]) == ast.dump(body[0])


def test_functions_are_told_from_others_of_their_names():
    def put(held, i):
        held[i] = 1

    text = "x = [0] * n\nfor i in range(n):\n    x[i] = i\n    put(x, i)\n"
    body = ast.parse(text).body
    assert ast.dump(with_arrays(body, {"put": put})[0]) != ast.dump(body[0])
    within = ast.parse(f"def put(held, i):\n    held.append(i)\n{text}").body
    assert ast.dump(with_arrays(within, {"put": put})[1]) == ast.dump(within[1])


def test_numbers_in_a_list_of_truth_values_are_refused():
    def mixed(n):
        seen = [False] * n
        for i in range(n):
            seen[i] = i
        return sum(seen)

    with pytest.raises(LoweringError, match="list of bool"):
        lower(mixed, [5])


def test_a_number_that_is_not_equal_to_itself():
    def missing(x):
        count = 0
        for v in x:
            if v != v:
                count += 1
        return count, x[x == x].sum(), np.where(x != x, 0, x)

    x = np.array([1.0, np.nan, 3.0, np.nan])
    lowered = lower(missing, [x])
    assert lowered is not None
    for one, other in zip(flat(lowered.plain(x)), flat(missing(x)), strict=True):
        np.testing.assert_array_equal(one, other)
    assert loopbook.native(missing, strict=True)(x)[:2] == missing(x)[:2]
