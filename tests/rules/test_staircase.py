"""Triangular operands and temporaries that are expanded: products apart, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from sdfg_kit import bench_of, check_recipe, check_refused, matmul, nests_of, random, rows, steps

from loopbook.rules import TuningContext, combine, seed_population
from loopbook.rules.separation import fitted_separations, separate
from loopbook.rules.staircase import staircase_tiles

AROUND = TuningContext("sequential", 8, l2_bytes=1 << 20)
SIZES = ((9, 11), (17, 24), (33, 50), (8, 8), (2, 3), (2, 2), (41, 17))


def in_place(A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            for k in range(i + 1, B.shape[0]):
                B[i, j] += A[k, i] * B[k, j]


def gathered(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(i):
                C[i, j] += A[i, k] * B[k, j]


def pushed(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(i + 1):
                C[k, j] += A[i, k] * B[i, j]


def symmetric(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            t = 0.0
            for k in range(i):
                t += B[k, j] * A[i, k]
                C[k, j] += 1.5 * B[i, j] * A[i, k]
            C[i, j] = 1.2 * C[i, j] + 1.5 * B[i, j] * A[i, i] + 1.5 * t


def by_rows(A, B, C, T):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(i):
                C[k, j] += 1.5 * B[i, j] * A[i, k]
        for j in range(C.shape[1]):
            t = 0.0
            for k in range(i):
                t += B[k, j] * A[i, k]
            T[j] = t
        for j in range(C.shape[1]):
            C[i, j] = 1.2 * C[i, j] + 1.5 * B[i, j] * A[i, i] + 1.5 * T[j]


def by_scaled_rows(A, B, C, T):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(i):
                C[k, j] += B[i, j] * A[i, k]
        for j in range(C.shape[1]):
            t = 0.0
            for k in range(i):
                t += B[k, j] * A[i, k]
            T[j] = 1.5 * t
        for j in range(C.shape[1]):
            C[i, j] += T[j]


def dotted(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            t = 0.0
            for k in range(A.shape[1]):
                t += A[i, k] * B[k, j]
            C[i, j] = 0.5 * C[i, j] + t


def cubes(A, B, T):
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            for p in range(A.shape[2]):
                T[p] = 0.0
                for s in range(A.shape[2]):
                    T[p] += A[r, q, s] * B[s, p]
            for p in range(A.shape[2]):
                A[r, q, p] = T[p]


def running(A, T):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += T[j + 1]
        for j in range(A.shape[1]):
            T[j] = A[i, j]


def halves(A, B, T):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            T[j] = A[i, j]
        for j in range(A.shape[1]):
            A[i, j] += T[j]


def escaping(A, s):
    t = 0.0
    for i in range(A.shape[0]):
        t = 1.0
        for j in range(A.shape[1]):
            t += A[i, j]
    s[0] = t


def overtaking(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] + B[j]
        for j in range(A.shape[1]):
            B[j] += A[i, j]


def recurrence(A):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] += A[i - 1, j - 1]


def backwards(A):
    for i in range(1, A.shape[0]):
        for j in range(A.shape[1] - 1):
            A[i, j] += A[i - 1, j + 1]


def chained(A, B):
    for i in range(B.shape[0]):
        for k in range(i):
            for j in range(B.shape[1]):
                B[i, j] += A[i, k] * B[k, j]


ROWS = (by_rows, by_scaled_rows)
"""Kernels with a temporary that is a row."""


def _cases(kernel, target="sequential"):
    """Arguments of all sizes. For docc, equal sizes are one, which makes another program: with
    threads there is nothing new about it."""
    for n, m in SIZES:
        if n == m and target == "openmp":
            continue
        if kernel is cubes:
            yield [random(4, n, m), random(m, m), random(m)]
        else:
            result = [] if kernel is in_place else [random(n, m)]
            result += [random(m)] if kernel in ROWS else []
            yield [random(n, n), random(n, m), *result]


def _small(made, rows=4, columns=8, depth=16):
    """The steps with tiles that are small enough for the tests' sizes."""
    pairs = []
    for op, args in made:
        if op == "block":
            args = (*args[:2], rows, depth)
        elif op == "cut" and len(args) > 2:
            args = (*args[:2], args[2] - 4 + rows)
        elif op == "tile" and args[1] > rows:
            args = (args[0], depth if args[1] > 32 else columns)
        pairs.append((op, args))
    return pairs


def _staircase(kernel, seed=0, target="sequential"):
    around = replace(AROUND, target=target)
    nest = nests_of(kernel, next(_cases(kernel)))[0]
    made = combine(nest, lambda: staircase_tiles, Random(seed), around)
    return [(s.op, s.args) for s in made]


def _of_rows(made, count):
    return all(args[2] == count for op, args in made if op == "block")


@pytest.mark.parametrize(
    ("kernel", "target"),
    [
        (in_place, "sequential"),
        (gathered, "sequential"),
        (pushed, "sequential"),
        (pushed, "openmp"),
    ],
)
def test_products_with_triangles_are_right_for_every_size(kernel, target, tmp_path):
    made = next(m for seed in range(20) if _of_rows(m := _staircase(kernel, seed, target), 4))
    assert any(op == "block" for op, _ in made)
    assert (made[-1][0] == "parallel") == (target == "openmp")
    check_recipe(kernel, list(_cases(kernel, target)), _small(made), tmp_path, target)


@pytest.mark.parametrize("kernel", [in_place, gathered, pushed])
def test_the_move_on_a_triangular_operand_is_never_refused(kernel):
    for seed in range(6):
        bench = bench_of(kernel, next(_cases(kernel)))
        for op, args in _staircase(kernel, seed):
            bench.apply(op, args)


@pytest.mark.parametrize(
    ("kernel", "target"),
    [
        (symmetric, "sequential"),
        (symmetric, "openmp"),
        (by_rows, "sequential"),
        (by_rows, "openmp"),
        (by_scaled_rows, "sequential"),
        (dotted, "sequential"),
        (cubes, "sequential"),
    ],
)
def test_separated_products_are_right_for_every_size(kernel, target, tmp_path):
    cases = list(_cases(kernel, target))
    around = replace(AROUND, target=target)
    made = fitted_separations(nests_of(kernel, cases[0])[0], around)[0]
    pairs = [(s.op, s.args) for s in made]
    assert pairs[0][0] == ("reg2mem" if kernel is by_rows else "expand")
    check_recipe(kernel, cases, _small(pairs), tmp_path, target)


@pytest.mark.parametrize("kernel", [symmetric, by_rows, by_scaled_rows, dotted, cubes])
def test_separations_are_never_refused_and_are_tried_first(kernel):
    nest = nests_of(kernel, next(_cases(kernel)))[0]
    first = "reg2mem" if kernel is by_rows else "expand"
    assert any(recipe and recipe[0].op == first for recipe in seed_population(nest, AROUND)[:4])
    for seed in range(4):
        bench = bench_of(kernel, next(_cases(kernel)))
        for made in separate(nest, Random(seed), AROUND):
            bench.apply(made.op, made.args)


def test_an_expanded_row_leaves_what_the_last_iteration_left(tmp_path):
    cases = [[random(n, m), random(m, m), random(m)] for n, m in ((5, 7), (1, 4), (9, 16))]
    check_recipe(rows, cases, steps("expand L0\ndistribute L0"), tmp_path)


def test_a_row_is_expanded_that_is_not_the_first_thing_set(tmp_path):
    recipe = "reg2mem L3\ndistribute L3\nreorder L1\nexpand L0\ndistribute L0"
    check_recipe(by_rows, list(_cases(by_rows)), steps(recipe), tmp_path)


def used_before(A, T, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = T[j]
        for j in range(A.shape[1]):
            T[j] = A[i, j]
        for j in range(A.shape[1]):
            B[i, j] += T[j]


@pytest.mark.parametrize(
    ("kernel", "args"),
    [
        (running, [random(5, 7), random(8)]),
        (halves, [random(5, 9), random(5, 7), random(9)]),
        (used_before, [random(5, 7), random(7), random(5, 7)]),
        (escaping, [random(5, 7), random(1)]),
        (recurrence, [random(5, 7)]),
        (matmul, [random(5, 7), random(7, 6), random(5, 6)]),
    ],
)
def test_what_iterations_take_from_each_other_is_not_expanded(kernel, args):
    check_refused(kernel, args, "", "expand L0", "no temporary|beyond|not affine|no plain size")


def test_loops_are_not_delayed_past_what_needs_them():
    args = next(_cases(symmetric))
    check_refused(symmetric, args, "expand L0 L1", "reorder L2", "dependence")
    check_refused(overtaking, [random(5, 7), random(7)], "", "reorder L1", "dependence")
    check_refused(symmetric, args, "", "reorder L0", "no loop is around")


def test_the_pushed_half_is_not_distributed_in_front_of_what_it_changes():
    before = "expand L0 L1\ndistribute L2\ndistribute L1"
    bench = bench_of(symmetric, next(_cases(symmetric)))
    for op, args in steps(before):
        bench.apply(op, args)
    bench.apply("distribute", ("L0",))
    assert "L0.part3" not in bench.names  # the halves of the result stay together


def test_blocks_keep_the_order_that_dependences_want(tmp_path):
    cases = [[random(n, m)] for n, m in ((9, 11), (33, 20), (2, 5))]
    check_recipe(recurrence, cases, steps("block L0 L1 4 8"), tmp_path)
    check_refused(backwards, [random(9, 11)], "", "block L0 L1 4 8", "dependence")


def test_a_copy_is_refused_where_rows_are_written_before_they_are_read(tmp_path):
    before = """
        tile L1 8
        interchange L0 L1.tile
        interchange L1 L2
        block L0 L2 4 8
    """
    cases = [[random(n, n), random(n, m)] for n, m in ((9, 11), (33, 18))]
    check_recipe(chained, cases, steps(before), tmp_path)
    check_refused(chained, cases[0], before, "buffer L0.tile L2 L1", "written before it is read")
