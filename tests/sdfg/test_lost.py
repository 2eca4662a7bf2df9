"""Stores that docc loses while it fuses: kept by statements between the loops."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from loopbook.errors import SdfgError
from loopbook.program.read import read
from loopbook.program.rename import renamed
from loopbook.program.types import Pointer
from loopbook.program.write import write
from loopbook.sdfg import lost, passes, program
from loopbook.sdfg.build import build_baseline, build_tuned
from loopbook.sdfg.frontend import bind, trace
from loopbook.sdfg.moved import moved
from loopbook.steps.editor import Editor


def turned_sums(a, sums, res):
    for i in range(a.shape[0]):
        s = 0
        for k in range(a.shape[1]):
            s = s + a[i, k]
        sums[i] = s
    for j in range(a.shape[0]):
        res[j] = sums[a.shape[0] - 1 - j] + 1


def updated_twice(a, x):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] = a[i, j] - x[j]
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] = a[i, j] - x[j]


def row_at_two_places(v, x, a, s):
    for i in range(v.shape[0]):
        for j in range(v.shape[0]):
            v[i, j] = x[i] * x[j]
    for k in range(v.shape[0]):
        a[k, 0] = a[k, 0] + x[k]
    for m in range(v.shape[0]):
        if a[m, 0] > s:
            a[m, 0] = s


def row():
    return [np.zeros((4, 4)), np.linspace(0, 1, 4), np.ones((4, 1)), 1.5]


def smoothed_copy(a, b, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * 2.0
    for row in range(a.shape[0]):
        for column in range(a.shape[1]):
            c[row, column] = b[row, column]
    for y in range(1, a.shape[0] - 1):
        for x in range(1, a.shape[1] - 1):
            c[y, x] = (b[y - 1, x] + b[y + 1, x]) - b[y, x - 1]


def products_of_whole_numbers(a, x, b, c, d):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            total = 0
            for k in range(a.shape[1]):
                total = total + a[i, k] * a[j, k]
            b[i, j] = total
    for row in range(a.shape[0]):
        for column in range(a.shape[0]):
            c[row, column] = x[row] * x[column]
    for y in range(a.shape[0]):
        for z in range(a.shape[0]):
            d[y, z] = b[y, z]


def moments(x, steps, rate, first, second, least, m, v, g, step, last):
    for t in range(1, steps + 1):
        for i in range(x.shape[1] + 1):
            m[i] = first * m[i] + (1.0 - first) * g[i]
        for j in range(x.shape[1] + 1):
            v[j] = second * v[j] + (1.0 - second) * g[j] * g[j]
        for k in range(x.shape[1] + 1):
            step[k] = (
                rate
                * (m[k] / (1.0 - math.pow(first, float(t))))
                / (math.sqrt(v[k] / (1.0 - math.pow(second, float(t)))) + least)
            )
    last[0] = 1.0


def gradients():
    own = [np.zeros(5), np.zeros(5), np.linspace(1, 2, 5), np.zeros(5)]
    return [np.zeros((6, 4)), 3, 0.1, 0.9, 0.99, 1e-8, *own, np.zeros(1)]


def stored_twice(a, t, res):
    for i in range(a.shape[0]):
        t[i] = a[i] + 1.0
    for j in range(a.shape[0]):
        res[j] = t[j]
    for k in range(a.shape[0]):
        res[k + 1] = t[k]


def small_numbers():
    square = [np.zeros((4, 4), np.int32) for _ in range(3)]
    return [np.arange(12, dtype=np.int32).reshape(4, 3), np.arange(1, 5, dtype=np.int32), *square]


def fields():
    return [np.linspace(0, 1, 30).reshape(6, 5) ** 2, np.zeros((6, 5)), np.zeros((6, 5))]


def sums_moved_down(a, sums, moved):
    for i in range(a.shape[0]):
        s = 0.0
        for k in range(a.shape[1]):
            s = s + a[i, k]
        sums[i] = s
    for j in range(a.shape[0] - 1):
        moved[j] = sums[j + 1]
    moved[a.shape[0] - 1] = sums[0]


def sums_moved_up(a, sums, moved):
    for i in range(a.shape[0]):
        s = 0.0
        for k in range(a.shape[1]):
            s = s + a[i, k]
        sums[i] = s
    for j in range(1, a.shape[0]):
        moved[j] = sums[j - 1]
    moved[0] = sums[a.shape[0] - 1]


def masked_and_multiplied(h, d, x, w):
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            if h[i, j] <= 0.0:
                d[i, j] = 0.0
    for i in range(x.shape[1]):
        for k in range(x.shape[0]):
            for j in range(d.shape[1]):
                w[i, j] = w[i, j] - x[k, i] * d[k, j]


def masked_either_way(h, d, x, w):
    for i in range(d.shape[0]):
        if h[i, 0] > 0.0:
            w[0, i] = 0.0
    for i in range(d.shape[0]):
        if h[i, 0] <= 0.0:
            w[0, i] = w[0, i] - 1.0


def masked_then_changed(h, d, x, w):
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            if h[i, j] > 0.0:
                d[i, j] = 0.0
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            d[i, j] = 2.0 * d[i, j] + 1.0
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            if h[i, j] <= 0.0:
                d[i, j] = d[i, j] - h[i, j]


def changed_since_it_was_cleared(a, r):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            r[i, j] = 0
    for y in range(a.shape[0]):
        for x in range(a.shape[0]):
            if a[y] < a[x]:
                r[y, x] = 1
            elif a[y] > a[x]:
                r[y, x] = 2
            if a[y] > a[x]:
                r[y, x] = ((r[y, x] + 138) & 255) - 128


def stored_twice_in_a_branch(v, x):
    for i in range(v.shape[0]):
        if x[i] > 0.0:
            v[i] = v[i] + 0.5 * x[i]
            v[i] = 0.75 * v[i]
        x[i] = x[i] + v[i]


def layers():
    h = np.linspace(-1, 1, 30).reshape(6, 5)[::-1].copy()
    return [h, np.ones((6, 5)), np.linspace(0, 1, 24).reshape(6, 4), np.ones((4, 6))]


def triangle():
    return [np.linspace(0, 1, 25).reshape(5, 5), np.linspace(1, 2, 5)]


def whole():
    return [np.arange(12).reshape(4, 3) % 5, np.zeros(4, np.int64), np.zeros(4, np.int64)]


def set_in_a_branch_and_again(w, b, t, u, s):
    if w[1] > s:
        for i in range(w.shape[0]):
            w[i] = 2
    for i in range(w.shape[0]):
        t[i] = w[i] + w[w.shape[0] - 1] * w[0]
    for i in range(w.shape[0]):
        w[i] = t[i]
    for i in range(w.shape[0]):
        u[i, 0] = w[w.shape[0] - 1] * b[i, 0]
    for i in range(1, w.shape[0]):
        w[i] = u[2, 0]


def whole_numbers():
    w = np.array([3, 1, 4, 1, 5, 9])
    return [w, np.arange(6).reshape(6, 1) - 1, w * 0, np.zeros((6, 1), np.int64), 0.5]


PROGRAMS = [
    (set_in_a_branch_and_again, whole_numbers),
    (turned_sums, whole),
    (updated_twice, triangle),
    (row_at_two_places, row),
    (smoothed_copy, fields),
    (products_of_whole_numbers, small_numbers),
    (moments, gradients),
    (stored_twice, lambda: [np.arange(1.0, 8.0), np.zeros(7), np.zeros(8)]),
    (masked_and_multiplied, layers),
    (masked_either_way, layers),
    (masked_then_changed, layers),
    (stored_twice_in_a_branch, lambda: [np.linspace(0, 1, 6), np.linspace(-1, 1, 6)]),
    (changed_since_it_was_cleared, lambda: [np.arange(5.0), np.ones((5, 5), np.int64)]),
]


@pytest.mark.parametrize(("function", "make"), PROGRAMS)
def test_no_store_is_lost(function, make, tmp_path):
    expected, text = make(), trace(function, make())
    function(*expected)
    for name, built in (
        ("docc's", build_baseline(text, "sequential", tmp_path / "one")),
        ("prepared", build_tuned(text, "sequential", {}, tmp_path / "two")),
    ):
        args = make()
        bind(function, args, built.library)(*args)
        for one, other in zip(expected, args, strict=True):
            np.testing.assert_allclose(one, other, err_msg=name)


def shorter_rows(a, b, c):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] - 0.5
    for y in range(1, a.shape[0]):
        for x in range(a.shape[1] - 1):
            a[y, x] = a[y, x] * 0.5


def shorter_rows_elsewhere(a, b, c):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] - 0.5
    for y in range(1, a.shape[0]):
        for x in range(a.shape[1] - 1):
            b[y, x] = 2.0 * a[y, x]
    for k in range(a.shape[0]):
        b[k, a.shape[1] - 1] = b[k, a.shape[1] - 1] + 1.0


def shorter_line(a, b, c):
    for i in range(1, c.shape[0]):
        c[i] = c[i] - 0.5
    for j in range(1, c.shape[0] - 1):
        b[j, 0] = 2.0 * c[j]
    b[c.shape[0] - 1, 0] = b[c.shape[0] - 1, 0] + 1.0


@pytest.mark.parametrize("function", [shorter_rows, shorter_rows_elsewhere, shorter_line])
def test_a_shorter_loop_runs_no_more_often_where_others_store_too(function, tmp_path):
    """docc lets the second loop run as often as the first one, and store where the program stores
    before or behind it."""

    def make():
        return [np.linspace(0, 1, 30).reshape(6, 5), np.ones((6, 5)), np.linspace(0, 1, 6)]

    expected, text = make(), trace(function, make())
    function(*expected)
    for name, build in (("one", docc_s), ("two", prepared)):
        args = make()
        bind(function, args, build(text, tmp_path / name).library)(*args)
        for one, other in zip(expected, args, strict=True):
            np.testing.assert_allclose(one, other, err_msg=name)


def docc_s(text, folder):
    return build_baseline(text, "sequential", folder)


def prepared(text, folder):
    return build_tuned(text, "sequential", {}, folder)


@pytest.mark.parametrize(
    ("function", "build"), [(sums_moved_down, docc_s), (sums_moved_up, prepared)]
)
def test_nothing_is_stored_where_the_program_stores_nothing(function, build, tmp_path):
    """docc lets the second loop run as often as the first one."""
    a = np.linspace(0, 1, 20).reshape(5, 4)
    expected, padded = [a, np.zeros(5), np.zeros(5)], np.zeros(7)
    function(*expected)
    args = [a, np.zeros(5), padded[1:-1]]
    built = build(trace(function, args), tmp_path)
    bind(function, args, built.library)(*args)
    np.testing.assert_allclose(padded, [0, *expected[2], 0])


def ends_repeated(a, low, high):
    for i in range(2, 4):
        low[i] = a[i - 2]
    for j in range(2):
        high[j] = low[2]
    for k in range(4, 6):
        high[k] = low[3]


@pytest.mark.parametrize("build", [docc_s, prepared])
def test_elements_that_only_one_of_the_loops_behind_reads_are_stored(build, tmp_path):
    """docc computes the element that the second loop reads in that, and forgets the other one."""
    args = [np.array([1.0, 2.0]), np.zeros(4), np.zeros(6)]
    expected = [array.copy() for array in args]
    ends_repeated(*expected)
    built = build(trace(ends_repeated, args), tmp_path)
    bind(ends_repeated, args, built.library)(*args)
    for one, other in zip(expected, args, strict=True):
        np.testing.assert_array_equal(one, other)


def summed_up_a_tree(m, c, n):
    for i in range(8):
        if i < n:
            m[7 + i] = 1.0
    for k in range(6, -1, -1):
        left = 2 * k + 1
        right = 2 * k + 2
        m[k] = m[left] + m[right]
        s = 0.0
        if m[k] > 0:
            s = (m[2 * k + 1] * c[2 * k + 1] + m[2 * k + 2] * c[2 * k + 2]) / m[k]
        c[k] = s


def test_one_place_under_two_names_is_one_place(tmp_path):
    """Two scalars stand for one index, and docc reads the element once."""
    args = [np.linspace(0, 1, 15), np.linspace(1, 2, 15), 5]
    expected = [value.copy() if isinstance(value, np.ndarray) else value for value in args]
    summed_up_a_tree(*expected)
    built = prepared(trace(summed_up_a_tree, args), tmp_path)
    bind(summed_up_a_tree, args, built.library)(*args)
    for one, other in zip(expected, args, strict=True):
        np.testing.assert_allclose(one, other)


def test_loops_that_cannot_be_kept_apart_are_refused(monkeypatch):
    text = trace(sums_moved_down, [np.ones((5, 4)), np.zeros(5), np.zeros(5)])
    monkeypatch.setattr(lost, "separated", lambda program: None)
    with pytest.raises(SdfgError, match="touches elements of moved that the program does not"):
        program.baseline(text, "sequential")


def solved(a, b, c):
    n = b.shape[0]
    for i in range(n):
        b[i] = 0.0
    for j in range(n):
        c[j] = 0.0
    for k in range(n - 1, -1, -1):
        s = 0.0
        for m in range(k + 1, n):
            s = s + a[k, m] * c[m]
        c[k] = b[k] - s


def test_loops_that_docc_counts_otherwise_have_not_moved():
    """It has fused the first two, and lets the third one count up."""
    text = trace(solved, [np.ones((5, 5)), np.ones(5), np.ones(5)])
    fused = passes.simplify(program.parse(text)).to_json()
    assert fused.count('"indvar"') == 3
    assert "1 + k + m" not in fused
    assert program.baseline(text, "none").to_json().count('"indvar"') == 3


def handed_on(a, b, c):
    for i in range(a.shape[0]):
        b[i] = 2.0 * a[i]
    for j in range(a.shape[0]):
        c[j] = b[j] + 1.0


def through_a_pointer(text, index="0"):
    """`handed_on` with a pointer for what it hands on, as programs of PyTorch come."""
    editor = Editor(read(json.loads(text)), {}, {})
    kind = editor.program.containers["b"]
    assert isinstance(kind, Pointer)
    pointer = editor.pointer("at", kind)
    body = renamed(editor.program.body, {"b": pointer})
    editor.program = replace(editor.program, body=body)
    editor.put_first(editor.address("b", pointer, index))
    return json.dumps(write(editor.program))


def test_what_is_stored_through_a_pointer_is_stored_into_its_array():
    """docc puts the array in its place, and fuses the two."""
    text = trace(handed_on, [np.ones(5), np.ones(5), np.ones(5)])
    fused = program.baseline(through_a_pointer(text), "none").to_json()
    assert fused.count('"indvar"') == 1
    assert "at" not in json.loads(fused)["containers"]
    plain = read(json.loads(text))
    assert moved(read(json.loads(through_a_pointer(text))), plain) is None
    assert moved(read(json.loads(through_a_pointer(text, "1"))), plain) == "b"


def test_docc_still_loses_them():
    """If this fails, docc has been mended, and `loopbook.sdfg.lost` may go."""
    text = trace(turned_sums, whole())
    simple = passes.simplify(program.parse(text))
    assert lost.loses(read(json.loads(text)), read(json.loads(simple.to_json())))


def test_what_is_lost_in_any_case_is_refused():
    text = trace(turned_sums, whole())
    simple = passes.simplify(program.parse(text))
    with pytest.raises(SdfgError, match="loses what is stored into res"):
        lost.without_loss(text, lambda _: simple, lambda _: read(json.loads(simple.to_json())))


def test_loops_that_never_run_store_nothing():
    def never(a):
        for i in range(2, 2):
            a[i] = 1.0
        a[0] = 2.0

    text = trace(never, [np.zeros(3)])
    simple = passes.simplify(program.parse(text))
    assert not lost.loses(read(json.loads(text)), read(json.loads(simple.to_json())))
