"""Programs are built and run in children: numbers, times, and every way to fail."""

from __future__ import annotations

import ctypes
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sdfg_kit import doubled, matmul, matmul_args, random, steps, uncompilable

from loopbook.errors import (
    CompilerError,
    DeadlineError,
    FolderError,
    IllegalStepError,
    KernelError,
    RunError,
    SdfgError,
    WrongResultError,
)
from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_baseline, build_once, build_tuned
from loopbook.sdfg.transformed import transform
from loopbook.toolchain import compiler
from loopbook.toolchain.built import Built
from loopbook.toolchain.run import Binding, compare
from loopbook.toolchain.sandbox import run_limited
from loopbook.toolchain.times import Schedule


@pytest.fixture(scope="module")
def args() -> list[Any]:
    return matmul_args(33, 34, 35)


@pytest.fixture(scope="module")
def text(args) -> str:
    return frontend.trace(matmul, args)


@pytest.fixture(scope="module")
def baseline(text, tmp_path_factory) -> Built:
    return build_baseline(text, "sequential", tmp_path_factory.mktemp("baseline"), timers=True)


@pytest.fixture(scope="module")
def tuned(text, tmp_path_factory) -> Built:
    recipe = {0: steps("interchange L1 L2\nvectorize L1")}
    folder = tmp_path_factory.mktemp("tuned")
    return build_tuned(text, "sequential", recipe, folder, timers=True)


def test_both_targets_and_none_compute_the_same(text, args, tmp_path):
    expected = [*args[:2], args[2] + args[0] @ args[1]]
    for target in ("none", "sequential", "openmp"):
        built = build_baseline(text, target, tmp_path / target)
        compare(frontend.binding(matmul, args).results(built.library), expected)


def test_arguments_stay_as_they_were(args, baseline):
    before = [value.copy() for value in args]
    frontend.binding(matmul, args).results(baseline.library)
    assert all(np.array_equal(a, b) for a, b in zip(args, before, strict=True))


def test_libraries_are_timed_in_turn(args, baseline, tuned):
    binding = frontend.binding(matmul, args)
    expected = binding.results(baseline.library)
    schedule = Schedule(repeats=5, seconds=60)
    times = binding.measure([baseline, tuned], schedule, expected)
    assert [len(taken.seconds) for taken in times] == [5, 5]
    assert all(second > 0 for taken in times for second in taken.seconds)


def test_the_times_of_nests_add_up_to_the_programs(tmp_path):
    def two(A, B, C):
        for i in range(C.shape[0]):
            for j in range(C.shape[1]):
                for k in range(A.shape[1]):
                    C[i, j] += A[i, k] * B[k, j]
        for r in range(A.shape[0]):
            for s in range(A.shape[1]):
                for t in range(B.shape[1]):
                    A[r, s] += C[r, t] * B[s, t]

    args = matmul_args(150, 160, 170)
    built = build_tuned(frontend.trace(two, args), "sequential", {}, tmp_path, timers=True)
    assert sorted(set(built.owners.values())) == [0, 1]
    schedule = Schedule(repeats=5, seconds=60)
    times = frontend.binding(two, args).measure([built], schedule)[0]
    assert {position: len(seconds) for position, seconds in times.nests.items()} == {0: 5, 1: 5}
    for run, total in enumerate(times.seconds):
        parts = sum(seconds[run] for seconds in times.nests.values())
        assert 0 < parts <= total
    # Not in every run: another process may get the processor between two nests.
    assert min(
        total - sum(seconds[run] for seconds in times.nests.values())
        for run, total in enumerate(times.seconds)
    ) < 0.5 * min(times.seconds)


def test_a_slow_candidate_is_given_up(args, baseline):
    times = frontend.binding(matmul, args).measure(
        [baseline, baseline], Schedule(repeats=50, seconds=60, give_up=1e-9)
    )
    assert len(times[0].seconds) == 1


def test_wrong_numbers(args, baseline, tuned):
    binding = frontend.binding(matmul, args)
    expected = binding.results(baseline.library)
    expected[2] = expected[2] + 0.1
    with pytest.raises(WrongResultError, match="result 2 is off by"):
        binding.measure([baseline, tuned], Schedule(repeats=1), expected)


class Stand:
    """Something to call in place of a compiled program; runs in the child only."""

    output_args = ()

    def __init__(self, body) -> None:
        self._body = body

    def __call__(self, *args: Any) -> None:
        self._body(*args)


def stand_in(body, library: Path) -> Stand:
    return Stand(body)


def write_beyond(array: np.ndarray, offset: int) -> None:
    ctypes.memset(array.ctypes.data + offset, 0, 8)


@pytest.mark.parametrize("offset", [-8, 72, 72 + 4000, -4000])
def test_a_write_outside_an_array_is_caught(offset: int):
    binding = Binding(partial(stand_in, lambda a: write_beyond(a, offset)), [random(9)])
    with pytest.raises(WrongResultError, match="writes past the end"):
        binding.results(Path("unused"))


@pytest.mark.parametrize(
    ("body", "error", "message", "seconds"),
    [
        (lambda a: ctypes.memset(0, 0, 8), KernelError, "the kernel crashed", 300.0),
        (lambda a: 1 // 0, KernelError, "ZeroDivisionError", 300.0),
        (lambda a: exec("while True: pass"), DeadlineError, "did not end", 0.3),
    ],
    ids=["crash", "exception", "hang"],
)
def test_failing_runs(body, error, message: str, seconds: float):
    binding = Binding(partial(stand_in, body), [random(9)])
    with pytest.raises(error, match=message):
        binding.results(Path("unused"), seconds=seconds)


def test_a_library_that_is_none(args, tmp_path):
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"\x7fELF and nothing else")
    for library in (broken, tmp_path / "missing.so"):
        with pytest.raises(RunError, match="cannot load the compiled program"):
            frontend.binding(matmul, args).results(library)


def test_code_that_does_not_compile_is_an_error_value(tmp_path):
    """A loop variable is called what is a macro of C, and docc ends the process for it."""
    text = frontend.trace(uncompilable, [random(9)])
    for build in (
        lambda: build_baseline(text, "sequential", tmp_path / "a"),
        lambda: build_tuned(text, "sequential", {}, tmp_path / "b"),
    ):
        with pytest.raises(CompilerError, match=r"does not compile|ompilation failed") as caught:
            build()
        assert "\n" not in str(caught.value)


def test_an_illegal_step_comes_out_of_the_child(text, tmp_path):
    recipe = {0: steps("tile L0 4\nunroll L2")}
    with pytest.raises(IllegalStepError) as caught:
        build_tuned(text, "sequential", recipe, tmp_path)
    assert caught.value.position == 1
    applied = transform(text, "sequential", recipe, lenient=True).applied
    assert applied[0] == (("tile", ("L0", 4)),)


def test_known_code_is_not_compiled_again(text, tuned, tmp_path):
    recipe = {0: steps("interchange L1 L2\nvectorize L1")}
    codes = tmp_path / "codes"
    codes.mkdir()
    compiler.activate()
    builts = []
    for name in ("first", "second"):
        made = run_limited(build_once, text, "sequential", recipe, tmp_path / name, True, codes)
        (codes / made.code).touch()  # as the pool of builders does with what has come back
        builts.append(made)
    assert [built.code for built in builts] == [tuned.code, tuned.code]
    assert [built.library.exists() for built in builts] == [True, False]
    assert builts[0].seconds[1] > 0
    assert builts[1].seconds[1] == 0


def test_a_folder_that_cannot_be_written(text):
    with pytest.raises(FolderError):
        build_baseline(text, "sequential", Path("/proc/nowhere"))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_element_types(dtype: str, tmp_path):
    args = [random(9, 10).astype(dtype), np.zeros((9, 10), dtype)]
    built = build_tuned(frontend.trace(doubled, args), "sequential", {}, tmp_path)
    results = frontend.binding(doubled, args).results(built.library)
    assert results[1].dtype == np.dtype(dtype)
    compare(results, [args[0], 2 * args[0]])


def test_compare_knows_tolerance_and_what_is_not_finite():
    want = np.array([1.0, np.nan, 1000.0])
    compare([want + np.array([1e-5, 0, 0])], [want])
    with pytest.raises(WrongResultError, match="off by"):
        compare([want + np.array([1e-2, 0, 0])], [want])
    with pytest.raises(WrongResultError, match="not finite"):
        compare([np.array([np.nan, 1.0, 1000.0])], [want])
    with pytest.raises(WrongResultError, match="shape"):
        compare([want[:2]], [want])
    with pytest.raises(WrongResultError, match="1 results instead of 2"):
        compare([want], [want, want])
    with pytest.raises(WrongResultError, match="differs"):
        compare([np.array([1, 2])], [np.array([1, 3])])


def test_what_cancels_to_nothing_may_leave_rounding():
    large, zero = np.array([0.5, -3.0]), np.zeros(2)
    compare([large, np.array([4e-16, 0.0])], [large, zero])
    with pytest.raises(WrongResultError, match="result 1 is off"):
        compare([large, np.array([1e-14, 0.0])], [large, zero])
    with pytest.raises(WrongResultError, match="result 0 is off"):
        compare([np.array([1e-300, 0.0])], [zero])


def opening(A):
    for i in range(A.shape[0]):
        with open("log"):
            A[i] = 1.0


def test_what_docc_cannot_parse():
    with pytest.raises(SdfgError, match="docc leaves out 'with'"):
        frontend.trace(opening, [random(4)])
