"""Kernels and helpers for the tests of `loopbook.sdfg`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from docc.compiler.docc_program import DoccOptions
from docc.python.python_program import PythonProgram
from docc.sdfg import StructuredSDFG, TargetOptions

from loopbook.sdfg import frontend, program
from loopbook.sdfg.apply import StepPair, Workbench
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.nest import Nest
from loopbook.sdfg.run import Binding, compare


def children() -> set[int]:
    """Processes that this one has started, ended ones that nobody has waited for among them."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(pid) for task in tasks for pid in task.read_text().split()}


def matmul(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def doubled(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = 2.0 * A[i, j]


def sweep(A):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = 0.5 * A[i - 1, j] + 0.25 * A[i, j - 1]


def rows(A, B, T):
    for r in range(A.shape[0]):
        for p in range(B.shape[1]):
            T[p] = 0.0
        for p in range(B.shape[1]):
            for s in range(B.shape[0]):
                T[p] += A[r, s] * B[s, p]
        for p in range(B.shape[1]):
            A[r, p] = T[p]


def pair(STEPS, A, B):
    for t in range(STEPS):  # noqa: B007
        for i in range(A.shape[0]):
            B[i] += 0.5 * A[i]
        for m in range(A.shape[0]):
            A[m] = B[m] + 0.5 * A[m]


def waves(STEPS, A, B):
    for t in range(STEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            B[i] = 0.5 * (A[i - 1] + A[i + 1])
        for m in range(1, A.shape[0] - 1):
            A[m] = 0.5 * (B[m - 1] + B[m + 1])


def euler(A):
    for new in range(A.shape[0]):
        A[new] = A[new] + 1.0


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape)


def matmul_args(m: int = 9, n: int = 10, k: int = 11) -> list[Any]:
    return [random(m, k), random(k, n), random(m, n)]


def prepared(kernel: Callable[..., Any], args: Sequence[Any]) -> Any:
    """docc's SDFG of ``kernel(*args)`` in the form that steps are applied to."""
    return program.prepare(frontend.trace(kernel, args))


def nests_of(kernel: Callable[..., Any], args: Sequence[Any]) -> list[Nest]:
    return program.nests(prepared(kernel, args))


def bench_of(kernel: Callable[..., Any], args: Sequence[Any], nest: int = 0) -> Workbench:
    sdfg = prepared(kernel, args)
    return Workbench(sdfg, program.nests(sdfg)[nest])


def steps(text: str) -> list[StepPair]:
    """Steps from lines such as ``tile L0 4``."""
    pairs: list[StepPair] = []
    for line in text.strip().splitlines():
        op, *args = line.split()
        pairs.append((op, tuple(int(a) if a.isdigit() else a for a in args)))
    return pairs


def check_recipe(
    kernel: Callable[..., Any],
    cases: Sequence[Sequence[Any]],
    recipe: list[StepPair],
    folder: Path,
    target: str = "sequential",
) -> None:
    """Build `kernel` with `recipe` for its first nest, and compare it with Python's results.

    docc gives sizes that are equal one symbol, so the arguments decide which library fits.

    Args:
        cases: arguments for one run each.
    """
    libraries: dict[tuple[str, ...], Path] = {}
    for args in cases:
        text = frontend.trace(kernel, args)
        signature = tuple(program.load_json(text)["arguments"])
        if signature not in libraries:
            built = build_tuned(text, target, {0: recipe}, folder / str(len(libraries)))
            assert built.recipes[0] == tuple(recipe)
            libraries[signature] = built.library
        expected = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        kernel(*expected)
        got = Binding.of_function(kernel, args).results(libraries[signature])
        compare(got, [a for a in expected if isinstance(a, np.ndarray)])


class _Parsed(Exception):
    pass


class _FrontEnd(PythonProgram):
    def sdfg_pipe(self, sdfg: StructuredSDFG, *rest: Any, **more: Any) -> str:
        raise _Parsed(sdfg.to_json())


def as_docc_sends(func: Callable[..., Any], args: Sequence[Any]) -> str:
    """A function's SDFG as docc's own client sends it, right or wrong: parsed by docc, expanded and
    simplified."""
    try:
        _FrontEnd(func, DoccOptions(target="sequential")).compile(*args)
        raise AssertionError("docc's compile skipped its pipeline")
    except _Parsed as parsed:
        sdfg = StructuredSDFG.parse(str(parsed))
    sdfg.expand(TargetOptions("sequential", "server"))
    sdfg.simplify()
    return sdfg.to_json()
