"""What steps do on the program tree beyond what each says of itself: who may run at once, what is
private, what is written back."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sdfg_kit import (
    bench_of,
    can_apply,
    check_recipe,
    matmul,
    matmul_args,
    nests_of,
    random,
    rows,
    steps,
)

from loopbook.errors import IllegalStepError
from loopbook.program.tree import SEQUENTIAL, THREADS, Loop
from loopbook.program.walk import preorder
from loopbook.program.write import write
from loopbook.steps import Step, workbench
from loopbook.steps.editor import Editor
from loopbook.steps.workbench import Workbench


def sums(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * 0.5
            B[i, j] = total + A[i, j]


def mirrored(A, C):
    """What lies above the diagonal of a tile is another iteration's own."""
    for i in range(C.shape[0]):
        for j in range(i):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * A[j, k]


def kinds(bench: Workbench) -> dict[str, str]:
    loops = {node.id: node.kind for node in preorder(bench.program) if isinstance(node, Loop)}
    return {name: loops[number] for name, number in bench.names.items()}


def after(kernel: Callable[..., Any], args: list[Any], text: str) -> Workbench:
    bench = bench_of(kernel, args)
    for op, arguments in steps(text):
        bench.apply(op, arguments)
    return bench


def test_scalars_of_an_iteration_are_in_nobodys_way_while_it_stays_whole(tmp_path):
    cases = [[random(n, m), random(n, m)] for n, m in ((5, 7), (9, 3))]
    check_recipe(sums, cases, steps("interchange L0 L1\ntile L0 2"), tmp_path)


def test_a_sum_cannot_leave_the_iteration_that_it_is_of():
    bench = bench_of(sums, [random(5, 7), random(5, 7)])
    with pytest.raises(IllegalStepError):
        bench.apply("distribute", ("L1",))


def test_fused_loops_are_parallel_if_they_still_are():
    bench = bench_of(rows, [random(6, 8), random(8, 8), random(8)])
    before = kinds(bench)
    bench.apply("fuse", ("L1", "L2"))
    assert {before["L1"], before["L2"], kinds(bench)["L1"]} == {"map"}


@pytest.mark.parametrize("target", ["sequential", "openmp"])
def test_a_box_that_is_more_than_a_triangle_is_written_back_rightly(target, tmp_path):
    cases = [[random(n, m), random(n, n)] for n, m in ((9, 5), (16, 3), (3, 4))]
    bench = bench_of(mirrored, cases[0])
    serial = "serialize L2\n" if kinds(bench)["L2"] == "reduce" else ""
    text = serial + "tile L0 4\ntile L1 4\nbounding_box L1.tile\ninterchange L0 L1.tile\n"
    text += "interchange L1 L2\n"
    text = text + "interchange L0 L2\nstage L2 A0 out"
    names = {c.data: c.name for c in nests_of(mirrored, cases[0])[0].containers}
    text = text.replace("A0", names["C"])
    bench = after(mirrored, cases[0], text)
    assert kinds(bench)["L0.tile"] == "map", "boxes of different tiles have nothing in common"
    check_recipe(mirrored, cases, steps(text + "\nparallel L0.tile"), tmp_path, target)


def test_loops_around_a_buffer_may_change_places():
    text = "tile L0 4\ntile L1 8\ntile L2 16\ninterchange L0 L1.tile\ninterchange L1 L2.tile\n"
    text += "interchange L1 L2\ninterchange L0 L2.tile\ninterchange L0 L2\nstage L2 A2 out"
    bench = after(matmul, matmul_args(), text)
    assert can_apply(bench, "interchange", ("L0.tile", "L1.tile"))


def test_what_is_written_out_twice_stays_as_it_is():
    bench = after(matmul, matmul_args(), "tile L0 4\npeel L0\nunroll L0*")
    before = write(bench.program)
    bench.apply("unroll", ("L0*",))
    assert write(bench.program) == before


def test_tiles_in_tiles_are_peeled(tmp_path):
    text = "tile L0 8\npeel L0\ntile L0 4\npeel L0"
    check_recipe(matmul, [matmul_args(), matmul_args(17, 5, 3)], steps(text), tmp_path)


def test_loops_are_not_copied_without_end(monkeypatch):
    monkeypatch.setattr(workbench, "MOST_LOOPS", 8)
    bench = after(matmul, matmul_args(), "tile L0 4\ntile L1 4\ntile L2 4")
    with pytest.raises(IllegalStepError, match="more than 8 loops"):
        bench.apply("peel", ("L0",))
    assert len(bench.names) == 6


def test_a_refused_step_costs_nothing():
    bench = bench_of(matmul, matmul_args())
    program = bench.program
    with pytest.raises(IllegalStepError):
        bench.apply("peel", ("L0",))
    assert bench.program is program
    np.testing.assert_equal(write(bench.program), write(bench.program))


def halved(A, B):
    for i in range(A.shape[0]):
        B[i] = A[i] * 0.5


def carried(A, x):
    for i in range(A.shape[0]):
        s = A[i, 0]
        for j in range(A.shape[1]):
            s = s + A[i, j]
        x[i] = s


def test_threads_do_not_share_strips_that_they_write():
    """Each would have a strip of its own, and the last value stays in that."""
    bench = bench_of(carried, [random(9, 7), random(9)])
    editor = Editor(bench.program, bench.names, {})
    inner = editor.at(bench.names["L1"])
    editor.put("L1", replace(inner, kind="map", schedule=THREADS))
    refusal = editor.tried(Step("strip_and_sink", ("L0", 8)))
    assert "threads would lose the values" in str(refusal)


def test_a_refused_step_leaves_no_buffer_behind():
    args = [random(9), random(9)]
    bench = after(halved, args, "tile L0 4\nparallel L0")
    data = {container.name: container.data for container in nests_of(halved, args)[0].containers}
    (result,) = (name for name, container in data.items() if container == "B")
    editor = Editor(bench.program, bench.names, data)
    refusal = editor.tried(Step("stage", ("L0", result, "out")))
    assert "threads would lose the values" in str(refusal)
    assert editor.program is bench.program
    assert not editor.buffers


def diagonals(T):
    for d in range(1, T.shape[0]):
        for i in range(T.shape[0] - d):
            T[i, i + d] = T[i, i + d - 1] + T[i + 1, i + d]


def test_what_threads_share_out_is_not_put_into_another_order():
    bench = after(diagonals, [random(9, 9)], "skew L0 L1\ntile L0 3\nparallel L1")
    with pytest.raises(IllegalStepError, match="shared out already"):
        bench.apply("interchange", ("L0", "L1"))


def handed_on(A, B):
    for i in range(A.shape[0]):
        t = A[i, 0]
        B[i, 0] = t
        for j in range(A.shape[1]):
            t = A[i, j] * 2.0
            B[i, j] += t
        B[i, 0] += 1.0


def test_loops_inside_share_the_place_that_a_scalar_gets():
    bench = bench_of(handed_on, [random(6, 5), random(6, 5)])
    if can_apply(bench, "expand", ("L0",)):
        bench.apply("expand", ("L0",))
        assert not can_apply(bench, "parallel", ("L1",))


@pytest.mark.parametrize("step", ["vectorize L0", "parallel L0"])
def test_tiles_are_run_as_the_loop_was_to_be_and_what_is_in_them_in_order(step):
    bench = after(matmul, matmul_args(), f"{step}\ntile L0 4")
    loops = {node.id: node for node in preorder(bench.program) if isinstance(node, Loop)}
    tiles, inside = (loops[bench.names[name]].schedule for name in ("L0.tile", "L0"))
    assert tiles.name in ("VECTORIZE", "CPU_PARALLEL")
    assert inside == SEQUENTIAL


def shared(bench: Workbench) -> set[str]:
    loops = {n.id for n in preorder(bench.program) if isinstance(n, Loop) and n.schedule.is_shared}
    return {name for name, number in bench.names.items() if number in loops}


def test_there_are_no_threads_within_threads(tmp_path):
    outwards = after(matmul, matmul_args(), "parallel L0")
    outer = write(outwards.program)
    outwards.apply("parallel", ("L1",))
    assert write(outwards.program) == outer
    inwards = after(matmul, matmul_args(), "parallel L1")
    assert shared(inwards) == {"L1"}
    inwards.apply("parallel", ("L0",))
    assert shared(inwards) == {"L0"}
    recipe = steps("parallel L1\nparallel L0")
    check_recipe(matmul, [matmul_args(), matmul_args(3, 2, 5)], recipe, tmp_path, "openmp")


@pytest.mark.parametrize(("array", "other"), [("A", "out"), ("C", "in")])
def test_stage_copies_back_just_what_is_written(array: str, other: str):
    name = {c.data: c.name for c in nests_of(matmul, matmul_args())[0].containers}[array]
    tiled = "tile L0 4\ntile L1 4\ntile L2 4\ninterchange L0 L1.tile\ninterchange L1 L2.tile\n"
    one = after(matmul, matmul_args(), tiled + "interchange L0 L2.tile")
    two = copy(one)
    one.apply("stage", ("L0", name, other))
    two.apply("stage", ("L0", name, "auto"))
    assert write(one.program) == write(two.program)
    assert ("L0.store" in one.names) == (array == "C")
