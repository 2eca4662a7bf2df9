"""Neighbouring sweeps become one, late as they have to be, and compute the same, exactly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sdfg_kit import as_docc_sends, check_library, function_in, random

import loopbook
from loopbook.frontend import lower
from loopbook.interpreter import Interpreted
from loopbook.normal_form.rolling import rolled
from loopbook.program import walk
from loopbook.program.read import read
from loopbook.program.signed import sign_counters
from loopbook.program.tree import Loop, Program
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.frontend import size_symbols, trace
from loopbook.sdfg.local import with_local
from loopbook.sdfg.program import prepare_document

SHAPE = 9, 7

Kernel = Callable[..., None]


def stored_back(A, B):
    for _ in range(3):
        t = A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:]
        A[1:-1, 1:-1] = 0.25 * t


def copied_first(A, B):
    for _ in range(3):
        t = A.copy()
        A[1:-1, 1:-1] = t[:-2, 1:-1] + t[2:, 1:-1] - B[1:-1, 1:-1]
        A[0, :] = A[1, :]


def two_fields(A, B):
    for _ in range(2):
        u = A[1:-1, 1:-1]
        v = B[1:-1, 1:-1]
        f = A[:-2, 1:-1] + A[2:, 1:-1] - 2.0 * u
        g = B[:-2, 1:-1] + B[2:, 1:-1] - 2.0 * v
        r = u * v * v
        u += 0.25 * f - r
        v += 0.5 * g + r


def filled_first(A, B):
    for _ in range(3):
        t = np.zeros_like(B)
        t[1:-1, 1:-1] = 2.0 * B[1:-1, 1:-1] - A[1:-1, 1:-1] + B[2:, 1:-1]
        A[:, :] = B
        B[:, :] = t


def of_the_step_before(A, B):
    t = np.zeros_like(B)
    for _ in range(3):
        A[1:-1, :] = A[1:-1, :] + t[2:, :] - t[:-2, :]
        t[:, :] = A * 2.0


def where_it_is_greater(A, B):
    t = np.zeros_like(B)
    for _ in range(3):
        t[A > 20.0] = 1.0
        A[1:, :] = A[1:, :] + t[:-1, :] * B[1:, :]


def upside_down(A, B):
    for _ in range(2):
        t = A * 2.0 + B
        A[:, :] = t[::-1, :]


def into_itself(A, B):
    t = np.empty_like(B)
    for _ in range(2):
        t[:, :] = A
        t[1:, :] = t[1:, :] + t[:-1, :]
        B[1:-1, :] = t[2:, :] - t[:-2, :]


def tree_of(kernel: Kernel, *args: np.ndarray) -> tuple[Program, dict[str, Any]]:
    """A prepared function of arrays, and the memory that it finds."""
    lowered = lower(kernel, args)
    assert lowered is not None
    given = lowered.prepare(*args)
    text = trace(lowered.kernel, given)
    text = with_local(text, lowered, given)
    tree = sign_counters(read(prepare_document(text)[0]))
    memory: dict[str, Any] = dict(size_symbols(lowered.kernel, given))
    for place, (name, value) in enumerate(zip(tree.arguments, given, strict=False)):
        if isinstance(value, np.ndarray):  # temporaries hold anything
            memory[name] = [k * k % 97 + 31 * place for k in range(value.size)]
    return tree, memory


def check(kernel: Kernel, *args: np.ndarray) -> tuple[int, int]:
    """Compare a program with its rolled form on exact numbers; how many loops both have that hold
    others."""
    tree, memory = tree_of(kernel, *args)
    new = rolled(tree, lambda _: True)
    wanted, got = Interpreted(tree)(dict(memory)), Interpreted(new)(dict(memory))
    for name, value in wanted.items():
        if name in ("A", "B", "C"):
            assert got[name] == value
    return sweeps(tree), sweeps(new)


def sweeps(program: Program) -> int:
    return sum(
        isinstance(node, Loop) and any(isinstance(i, Loop) for i in walk.preorder(node.body))
        for node in walk.preorder(program)
    )


@pytest.mark.parametrize(
    ("kernel", "before", "after"),
    [
        (stored_back, 3, 2),
        (copied_first, 3, 2),
        (two_fields, 4, 2),
        (filled_first, 5, 2),
        (into_itself, 4, 2),
    ],
)
def test_sweeps_become_one(kernel: Kernel, before: int, after: int):
    """The time loop is one of those that are counted."""
    assert check(kernel, random(*SHAPE), random(*SHAPE)) == (before, after)


@pytest.mark.parametrize("kernel", [of_the_step_before, where_it_is_greater, upside_down])
def test_what_has_to_wait_waits(kernel: Kernel):
    before, after = check(kernel, random(*SHAPE), random(*SHAPE))
    assert after == before


@pytest.mark.parametrize("kernel", [stored_back, copied_first, two_fields])
@pytest.mark.parametrize("shape", [SHAPE, (3, 3), (4, 40), (40, 4)])
def test_compiled_it_gives_the_same_numbers(kernel: Kernel, shape: tuple[int, int]):
    A, B = random(*shape), random(*shape)
    expected = A.copy(), B.copy()
    kernel(*expected)
    loopbook.native(kernel)(A, B)
    np.testing.assert_allclose(A, expected[0], rtol=1e-12)
    np.testing.assert_allclose(B, expected[1], rtol=1e-12)


def as_docc_reads(A, B):
    for _ in range(3):
        t = A[:-2, 1:-1] + A[2:, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:]
        A[1:-1, 1:-1] = 0.25 * t


def test_what_docc_allocates_is_handed_over_by_rows(tmp_path: Path):
    args = [random(*SHAPE), random(*SHAPE)]
    text = as_docc_sends(as_docc_reads, args)
    tree = sign_counters(read(prepare_document(text)[0]))
    assert sweeps(rolled(tree, lambda _: True)) < sweeps(tree)
    built = build_tuned(text, "sequential", {}, tmp_path, vector_maths=True)
    check_library(as_docc_reads, [args], built.library)


def random_sweeps(seed: int, folder: Path) -> Kernel:
    """A time loop around stencils into temporaries, and stores of these, with offsets; some
    temporaries are changed in part."""
    draw = Random(seed)
    rows, columns = SHAPE[0] - 2, SHAPE[1] - 2
    lines: list[str] = []
    known: list[str] = []

    def array(count: int) -> str:
        i, j = draw.randint(0, SHAPE[0] - count), draw.randint(0, 2)
        return f"{draw.choice('ABC')}[{i}:{i + count}, {j}:{j + columns}]"

    def total(parts: list[str]) -> str:
        return draw.choice((" + ", " - ")).join(f"{draw.randint(1, 3)}.0 * {p}" for p in parts)

    for number in range(draw.randint(2, 4)):
        lines.append(f"t{number} = {total([array(rows) for _ in range(draw.randint(1, 3))])}")
        known.append(f"t{number}")
        if draw.random() < 0.3:
            i, count = draw.randint(0, 2), draw.randint(2, rows - 2)
            lines.append(f"t{number}[{i}:{i + count}, :] = {total([array(count)])}")
        for _ in range(draw.randint(0, 2)):
            count = rows - draw.randint(0, 2)
            parts = [array(count) for _ in range(draw.randint(0, 2))]
            for _ in range(draw.randint(1, 2)):
                first = draw.randint(0, rows - count)
                parts.append(f"{draw.choice(known)}[{first}:{first + count}, :]")
            lines.append(f"{array(count)} = {total(parts)}")
    lines.append(f"{array(rows)} = {total(known)}")
    body = "".join(f"        {line}\n" for line in lines)
    file = folder / f"sweeps_{seed}.py"
    file.write_text(f"import numpy as np\n\n\ndef sweeps(A, B, C):\n    for _ in range(2):\n{body}")
    return function_in(file, "sweeps")


@pytest.mark.parametrize("seed", range(16))
def test_random_sweeps_stay_right(seed: int, tmp_path: Path):
    kernel = random_sweeps(seed, tmp_path)
    before, after = check(kernel, random(*SHAPE), random(*SHAPE), random(*SHAPE))
    assert after <= before
