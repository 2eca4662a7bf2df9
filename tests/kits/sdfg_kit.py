"""Kernels and helpers for the tests of `loopbook.sdfg`."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from docc.compiler.docc_program import DoccOptions
from docc.python.python_program import PythonProgram
from docc.sdfg import StructuredSDFG, TargetOptions
from shared_kit import shared

from loopbook.errors import IllegalStepError
from loopbook.frontend import lower
from loopbook.program.nest import Nest
from loopbook.program.read import read
from loopbook.program.tree import Program
from loopbook.program.write import write
from loopbook.sdfg import frontend, program
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.local import with_local
from loopbook.steps.workbench import StepPair, Workbench
from loopbook.toolchain.run import Guarded, compare
from loopbook.toolchain.sandbox import run_limited
from loopbook.toolchain.timers import Timers

PATIENCE = 600.0
"""Seconds for kernels: threads that wait for one another take long where others want the cores."""


def children() -> set[int]:
    """Processes that this one has started, ended ones that nobody has waited for among them."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(pid) for task in tasks for pid in task.read_text().split()}


def can_apply(bench: Workbench, op: str, args: tuple[Any, ...]) -> bool:
    """Whether a step is legal now; nothing is done to the bench, whose parts do not change."""
    try:
        copy(bench).apply(op, args)
    except IllegalStepError:
        return False
    return True


def matmul(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def doubled(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = 2.0 * A[i, j]


def eliminated(A):
    for k in range(A.shape[0]):
        for i in range(k + 1, A.shape[0]):
            A[i, k] = A[i, k] / A[k, k]
        for i in range(k + 1, A.shape[0]):
            for j in range(k + 1, A.shape[0]):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]


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


def uncompilable(A):
    """Its loop variable is a macro of C."""
    for __LINE__ in range(A.shape[0]):
        A[__LINE__] = A[__LINE__] + 1.0


def function_in(file: Path, name: str) -> Callable[..., Any]:
    """A function of a module that a test has written: docc reads its source there."""
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def elements(element: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An element of an SDFG's document and all that is in it, in preorder."""
    yield element
    inner = [element["root"]] if "root" in element else []
    inner += [case["root"] for case in element.get("branches", ())]
    for child in (*inner, *element.get("children", ())):
        yield from elements(child)


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape)


def matmul_args(m: int = 9, n: int = 10, k: int = 11) -> list[Any]:
    return [random(m, k), random(k, n), random(m, n)]


_PREPARED: dict[Hashable, str] = {}


def prepared_text(kernel: Callable[..., Any], args: Sequence[Any]) -> str:
    """`prepared` as JSON text. docc prepares each kernel once for arguments that are alike, which
    takes it seconds for some, and in a child, since it dies of factorisations now and then (see
    `loopbook.toolchain.sandbox.TRIES`)."""
    code = kernel.__code__  # a workload that is loaded again has equal code
    who = kernel if kernel.__closure__ else (code, code.co_filename)
    key = who, _kinds(args)
    if key not in _PREPARED:
        text = frontend.trace(kernel, args)
        _PREPARED[key] = shared(f"prepared {text}", lambda: program.prepare_apart(text)[0])
    return _PREPARED[key]


def prepared(kernel: Callable[..., Any], args: Sequence[Any]) -> Any:
    """docc's SDFG of ``kernel(*args)`` in the form that steps are applied to."""
    return program.parse(prepared_text(kernel, args))


def normal_form_of(kernel: Callable[..., Any], args: Sequence[Any]) -> Program:
    """What our own front end makes of a kernel, prepared."""
    lowered = lower(kernel, args)
    assert lowered is not None
    given = lowered.prepare(*args)
    text = with_local(frontend.trace(lowered.kernel, given), lowered, given)
    return read(json.loads(program.prepare_apart(text)[0]))


def prepared_nests(kernel: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, list[Nest]]:
    """`prepared` and its nests."""
    return program.prepare_nests(prepared_text(kernel, args))


def nests_of(kernel: Callable[..., Any], args: Sequence[Any]) -> list[Nest]:
    return program.nests(prepared(kernel, args))


def bench_of(kernel: Callable[..., Any], args: Sequence[Any], nest: int = 0) -> Workbench:
    sdfg, nests = prepared_nests(kernel, args)
    return Workbench(program.tree_of(sdfg), nests[nest])


def check_refused(
    kernel: Callable[..., Any], args: Sequence[Any], before: str, step: str, reason: str
) -> None:
    """A step is refused behind others, for this reason."""
    bench = bench_of(kernel, args)
    for op, arguments in steps(before):
        bench.apply(op, arguments)
    ((op, arguments),) = steps(step)
    with pytest.raises(IllegalStepError, match=reason):
        bench.apply(op, arguments)


def stepped(sdfg: Any, nest: Nest, recipe: Sequence[StepPair]) -> Workbench:
    """A nest of a prepared SDFG after some steps."""
    bench = Workbench(program.tree_of(sdfg), nest)
    for position, (op, args) in enumerate(recipe):
        bench.apply(op, args, position)
    return bench


def both_ways(A, r, p, s, q):
    """Two products of one matrix with vectors."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[j] += A[i, j] * r[i]
            q[i] += A[i, j] * p[j]


def sdfg_of(bench: Workbench) -> Any:
    """docc's SDFG of a program that steps have been applied to."""
    return program.parse(json.dumps(write(bench.program)))


def steps(text: str) -> list[StepPair]:
    """Steps from lines such as ``tile L0 4``."""
    pairs: list[StepPair] = []
    for line in text.strip().splitlines():
        op, *args = line.split()
        pairs.append((op, tuple(int(a) if a.lstrip("-").isdigit() else a for a in args)))
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
    alike: dict[Hashable, list[Sequence[Any]]] = {}
    for args in cases:
        alike.setdefault(_kinds(args), []).append(args)
    for number, group in enumerate(alike.values()):
        text = prepared_text(kernel, group[0])
        built = build_tuned(text, target, {0: recipe}, folder / str(number))
        assert built.recipes[0] == tuple(recipe)
        check_library(kernel, group, built.library)


def check_library(
    kernel: Callable[..., Any], cases: Sequence[Sequence[Any]], library: Path
) -> None:
    """Run what was built of `kernel` for arguments of such kinds, and compare it with Python's
    results.

    Args:
        cases: as in `check_recipe`.
    """
    found = run_limited(_results, kernel, cases, library, seconds=PATIENCE, what="the kernel")
    for args, got in zip(cases, found, strict=True):
        compare(got, _expected(kernel, args))


def _kinds(args: Sequence[Any]) -> Hashable:
    """What docc's front end tells arguments apart by: their types, and which sizes are equal."""
    sizes = [size for a in args if isinstance(a, np.ndarray) for size in a.shape]
    symbols = list(dict.fromkeys(sizes))
    types = [
        (a.dtype, a.ndim, a.flags["C_CONTIGUOUS"]) if isinstance(a, np.ndarray) else type(a)
        for a in args
    ]
    return tuple(types), tuple(map(symbols.index, sizes))


def _results(
    kernel: Callable[..., Any], cases: Sequence[Sequence[Any]], library: Path
) -> list[list[np.ndarray]]:
    """In a child: the arrays among the arguments after a run with each."""
    Timers()  # docc's own would want PAPI, or end the process
    compiled = frontend.bind(kernel, cases[0], library)
    assert not compiled.output_args, "what it returns would not be compared"
    found = []
    for args in cases:
        guarded = Guarded(args)
        values = guarded.fresh()
        compiled(*values)
        guarded.check()
        found.append([value.copy() for value in values if isinstance(value, np.ndarray)])
    return found


_KNOWN: dict[Hashable, list[np.ndarray]] = {}


def _expected(kernel: Callable[..., Any], args: Sequence[Any]) -> list[np.ndarray]:
    """What Python makes of the arrays, computed once for all recipes."""
    given = tuple((a.tobytes(), a.shape) if isinstance(a, np.ndarray) else a for a in args)
    key = kernel, given
    if key not in _KNOWN:
        values = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        kernel(*values)
        _KNOWN[key] = [value for value in values if isinstance(value, np.ndarray)]
    return _KNOWN[key]


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
