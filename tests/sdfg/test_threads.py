"""Parallel loops: what clang makes of them, balanced work, and right numbers."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sdfg_kit import check_recipe, matmul, matmul_args, prepared, random, steps

from loopbook.program.accesses import accesses, counted
from loopbook.program.read import read
from loopbook.program.write import write
from loopbook.sdfg import frontend, passes, program
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.threads import improve_threads
from loopbook.sdfg.transformed import transform
from loopbook.workloads import polybench
from loopbook.workloads.state import reference_results


def triangle(A, C, scale):
    for i in range(C.shape[0]):
        for j in range(i + 1):
            for k in range(A.shape[1]):
                C[i, j] += scale * A[i, k] * A[j, k]


TRIANGLES = [[random(n, m), np.zeros((n, n)), 1.5] for n, m in ((9, 11), (17, 5), (8, 16))]


def code_of(kernel, args, recipe: str, target: str = "openmp") -> str:
    text = frontend.trace(kernel, args)
    return transform(text, target, {0: steps(recipe)}).sdfg.to_cpp()


def parallel_bodies(code: str) -> list[str]:
    """The bodies of loops with threads, by docc's indentation."""
    found = re.findall(
        r"^( *)#pragma omp parallel for[^\n]*\n[^\n]*\n\1\{\n(.*?)^\1\}", code, re.M | re.S
    )
    return [body for _, body in found]


@pytest.mark.parametrize(
    ("kernel", "args"), [(triangle, TRIANGLES[0]), (matmul, matmul_args(9, 10, 11))]
)
def test_inner_loops_read_what_threads_own(kernel, args):
    bodies = parallel_bodies(code_of(kernel, args, "parallel L0"))
    assert bodies
    for body in bodies:
        loops = body[body.index("for(") :]
        assert not re.search(r"\b(A|B|C|scale|_s\d)\b", loops)
        assert re.search(r"own_A_\d+ = &\(reinterpret_cast<double \*>\(A\)\)\[0\]", body)


def smoothed(A, B, decay):
    """The first nest may have threads, the second may not."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] * decay + 1.0
    for i in range(1, B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += B[i - 1, j] * decay


def test_loops_beside_those_with_threads_keep_their_variables(tmp_path):
    args = [random(9, 11), random(7, 12), 0.5]
    code = code_of(smoothed, args, "parallel L0")
    assert code.count("omp parallel") == 1
    serial = code.partition(parallel_bodies(code)[0])[2]
    loops = serial[serial.index("for(") :]
    assert not re.search(r"\b(B|decay|_s\d)\b", loops), "clang would load them again and again"
    sizes = [[random(n, m), random(m, n), 0.5] for n, m in ((9, 11), (1, 4), (12, 3))]
    check_recipe(smoothed, sizes, steps("parallel L0"), tmp_path, "openmp")


STAGED = """
tile L0 4
tile L1 8
interchange L0 L1.tile
interchange L1 L2
interchange L0 L2
stage L2 A2 auto
parallel L0.tile
"""


@pytest.mark.parametrize("recipe", ["tile L0 4\nparallel L0.tile", STAGED])
def test_triangles_are_dealt_out_in_portions_and_tiles_are_not(recipe):
    assert "schedule(guided)" in code_of(triangle, TRIANGLES[0], "parallel L0")
    tiles = code_of(matmul, matmul_args(), recipe)
    assert "schedule(static)" in tiles
    assert "schedule(guided)" not in tiles


def test_without_threads_nothing_changes():
    sdfg = passes.finish(prepared(matmul, matmul_args()), "sequential")
    given = read(json.loads(sdfg.to_json()))
    assert improve_threads(given) is given


def test_element_ids_stay():
    sdfg = prepared(triangle, TRIANGLES[0])
    before = json.loads(passes.finish(sdfg, "openmp").to_json())
    after = write(improve_threads(read(before)))
    assert after["root"] != before["root"]
    ids = [[e["element_id"] for e in d["root"]["children"]] for d in (before, after)]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("recipe", ["parallel L0", "tile L0 4\nparallel L0.tile"])
def test_numbers_are_right_with_threads(recipe, tmp_path):
    check_recipe(triangle, TRIANGLES, steps(recipe), tmp_path, "openmp")


def halves(A, B):
    """Both sums go through one temporary once the loop over columns has been cut in two."""
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            for k in range(A.shape[1]):
                B[i, j] += 1.5 * A[i, k] * A[j, k]


HALVES = "tile L0 4\ncut L1 L0.tile\ndistribute L0\nmark_parallel L0\n"


def test_threads_do_not_share_temporaries():
    """docc shares those that occur in another loop too."""
    args = [random(9, 7), np.zeros((9, 9))]
    bodies = parallel_bodies(code_of(halves, args, HALVES + "parallel L0"))
    assert bodies
    for body in bodies:
        assert not re.search(r"\btmp_\d+\b", body)


def test_a_nest_with_a_single_thread_is_scheduled_as_for_one():
    args = matmul_args(9, 10, 11)
    recipe = "tile L0 4\ntile L1 8\ninterchange L0 L1.tile\n"
    assert "omp parallel" in code_of(matmul, args, recipe)
    loops = r"for\(|#pragma clang loop vectorize\(enable\)"
    alone, usual = (
        re.findall(loops, code_of(matmul, args, *how))
        for how in ((recipe + "single",), (recipe, "sequential"))
    )
    assert alone == usual
    assert "omp parallel" not in code_of(matmul, args, recipe + "single")


def test_a_single_thread_leaves_what_a_step_gave_threads():
    code = code_of(matmul, matmul_args(9, 10, 11), "tile L0 4\nparallel L0.tile\nsingle")
    assert code.count("omp parallel") == 1


@pytest.mark.parametrize(
    "recipe", ["single", "parallel L0\nsingle", HALVES + "parallel L0\nsingle"]
)
def test_numbers_are_right_with_a_single_thread(recipe, tmp_path):
    sizes = [[random(n, m), np.zeros((n, n))] for n, m in ((9, 7), (4, 12), (13, 3))]
    check_recipe(halves, sizes, steps(recipe), tmp_path, "openmp")


def raised(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] + 1.0


def test_programs_that_are_timed_end_where_docc_counts_what_has_no_value(tmp_path):
    args = [random(23, 23), np.zeros((23, 23))]
    recipe = "parallel L0\nskew L0 L1\ntile L0 8\ntile L0 8\ntile L1 8"
    text = frontend.trace(raised, args)
    built = build_tuned(text, "openmp", {0: steps(recipe)}, tmp_path, timers=True)
    _, found = frontend.binding(raised, args).results(built.library)
    assert np.array_equal(found, args[0] + 1.0)


def test_what_functions_are_given_keeps_its_value(tmp_path):
    """Two of its loops take the root of the same scalar."""
    workload = polybench.load("correlation")
    args = workload.arguments("MINI")
    text = frontend.trace(workload.kernel, args)
    shared = build_tuned(text, "openmp", {5: steps("parallel L0")}, tmp_path)
    binding = frontend.binding(workload.kernel, args, workload.results)
    expected = reference_results(workload, args)
    assert expected is not None
    for wanted, got in zip(expected, binding.results(shared.library), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10)


def polynomial(x, y):
    for i in range(x.shape[0]):
        y[i] = (3.0 * x[i] + 2.0) * x[i] - 1.0


def shifted_rows(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = A[i, j] + 1.0


@pytest.mark.parametrize("size", [2, 511, 512, 513, 1500])
def test_loops_without_others_are_cut_into_parts(size, tmp_path):
    args = [random(size), random(size + 1)[:size].copy()]
    (body,) = parallel_bodies(code_of(polynomial, args, "parallel L0"))
    assert "#pragma clang loop vectorize(enable)" in body
    assert re.search(r"own_y_\d+ = &", body)
    check_recipe(polynomial, [args], steps("parallel L0"), tmp_path, "openmp")


def test_what_docc_has_collapsed_is_not():
    args = [random(30, 40), random(30, 40)]
    baseline = program.baseline(frontend.trace(shifted_rows, args), "openmp")
    tree = improve_threads(program.tree_of(baseline))
    assert any("idiv(" in index.text for access in accesses(tree) for index in access.subset)
    assert not any(variable.endswith("_tile_0") for variable in counted(tree))


def test_loops_of_constant_length_count_from_zero():
    args = [random(70, 11), random(70, 11)]
    (body,) = parallel_bodies(
        code_of(shifted_rows, args, "tile L0 8\npeel L0\nparallel L0.tile\nsingle")
    )
    assert re.search(r"for\(i_?\w* = 0;i_?\w* < 8;", body)


def along(A, P):
    """A recurrence along rows, in planes: a strip of planes at a time, its rows shared."""
    for b in range(A.shape[0]):
        for i in range(A.shape[1]):
            y = A[b, i, 0]
            for j in range(A.shape[2]):
                y = A[b, i, j] + 0.5 * y
                P[b, i, j] = y


def along_twice(A, P, Q, x):
    for b in range(A.shape[0]):
        s = x[b] * 0.5
        for i in range(A.shape[1]):
            for j in range(A.shape[2]):
                P[b, i, j] = A[b, i, j] + s
        s = s + x[b]
        for i in range(A.shape[1]):
            for j in range(A.shape[2]):
                Q[b, i, j] = A[b, i, j] + s


STRIPS = "parallel L1\nstrip_and_sink L0 8"


@pytest.mark.parametrize("planes", [3, 8, 21])
def test_each_thread_has_arrays_on_the_stack_of_its_own(planes, tmp_path):
    args = [random(planes, 40, 50), random(planes, 40, 50)]
    shared = code_of(along, args, STRIPS)
    (clause, *_) = re.findall(r"#pragma omp parallel for.* private\(([^)]*)\)", shared)
    assert "y_strip_0" in clause.split(", ")
    assert not re.search(r"own_y_strip_0_\d+ = &", shared)
    check_recipe(along, [args] * 3, steps(STRIPS), tmp_path, "openmp")


def test_arrays_on_the_stack_may_be_read_by_all(tmp_path):
    args = [*(random(9, 40, 50) for _ in range(3)), random(9)]
    shared = code_of(along_twice, args, STRIPS)
    assert re.search(r"own_s_strip_0_\d+ = &", shared)
    check_recipe(along_twice, [args] * 3, steps(STRIPS), tmp_path, "openmp")
