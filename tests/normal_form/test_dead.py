"""What is stored and never read is not stored: arrays that are filled anew, and temporaries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sdfg_kit import function_in, normal_form_of, random

import loopbook
from loopbook.program import walk
from loopbook.program.tree import Loop

N = 9


def scaled(x, a, b):
    y = x + a
    y *= b
    return y


def clipped(x, a, b):
    y = x + a
    y *= b
    y = np.maximum(y, 0.5)
    return y  # noqa: RET504


def filled_twice(x, a, b):
    x[:, :] = a
    x[:, :] = b + 1.0


def in_a_loop(x, a, b):
    for k in range(x.shape[0]):
        a[k, :] = b[k, :] * 2.0
        a[k, :] = x[k, :] + 1.0


def filled_in_part(x, a, b):
    x[:, :] = a
    x[1:, :] = b[1:, :] + 1.0


def read_between(x, a, b):
    x[:, :] = a * 2.0
    b[1:, :] = x[:-1, :]
    x[:, :] = b + 1.0


def read_by_what_fills(x, a, b):
    x[:, :] = a * 2.0
    x[:, :] = b + x[::-1, :]


def of_another_length(x, a, b):
    for k in range(1, x.shape[0]):
        x[:k, 0] = a[:k, 0]
        x[: k - 1, 0] = b[: k - 1, 0]


def row_and_rest(x, a, b):
    y = np.zeros_like(x)
    y[0, :] = a[0, :]
    for i in range(1, x.shape[0]):
        y[i, :] = y[i - 1, :] * 0.5 + b[i, :]
    return y


def from_the_end(x, a, b):
    y = np.zeros((x.shape[0], x.shape[1]))
    y[-1] = a[-1]
    for i in range(x.shape[0] - 2, -1, -1):
        y[i] = y[i + 1] * 0.5 + b[i]
    return y


def first_element(x, a, b):
    y = np.zeros(x.shape[0])
    y[0] = x[0, 0]
    for i in range(1, x.shape[0]):
        y[i] = 0.9 * y[i - 1] + x[i, i]
    return y


def all_but_a_row(x, a, b):
    y = np.zeros_like(x)
    y[0, :] = a[0, :]
    for i in range(2, x.shape[0]):
        y[i, :] = y[i - 1, :] * 0.5 + b[i, :]
    return y


def read_too_early(x, a, b):
    y = np.zeros_like(x)
    for i in range(1, x.shape[0]):
        y[i, :] = y[i - 1, :] * 0.5 + b[i, :]
    y[0, :] = a[0, :]
    return y


def as_often_as_told(x, a, b):
    y = np.zeros_like(x)
    for _ in range(int(x[0, 0] < 0.5)):
        y[:, :] = a + b
    return y


def perhaps(x, a, b):
    x[:, :] = a
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if b[i, j] > 0.5:
                x[i, j] = b[i, j]


def perhaps_not_to_the_end(x, a, b):
    for k in range(x.shape[0]):
        x[k, :] = a[k, :]
        if b[k, k] > 0.75:
            break
        x[k, :] = b[k, :]


LOOPS = {
    scaled: 1,
    clipped: 1,
    filled_twice: 1,
    in_a_loop: 1,
    filled_in_part: 2,
    read_between: 2,  # it is computed where it is read
    read_by_what_fills: None,  # the array is turned around in as many loops as that takes
    of_another_length: None,
    row_and_rest: 2,
    from_the_end: 2,
    first_element: 1,
    all_but_a_row: 3,
    read_too_early: 3,
    as_often_as_told: None,
    perhaps: 2,
    perhaps_not_to_the_end: None,  # Python runs it
}


@pytest.mark.parametrize("kernel", [kernel for kernel in LOOPS if LOOPS[kernel]])
def test_what_is_stored_anew_is_stored_once(kernel: Callable[..., Any]):
    program = normal_form_of(kernel, [random(N, N) for _ in range(3)])
    inner = [n for n in walk.preorder(program) if isinstance(n, Loop) and walk.band(n) == [n]]
    assert len(inner) == LOOPS[kernel]


def check(kernel: Callable[..., Any]) -> None:
    args = [random(N, N) for _ in range(3)]
    copies = [value.copy() for value in args]
    expected, result = kernel(*copies), loopbook.native(kernel)(*args)
    for ours, theirs in zip([*args, result], [*copies, expected], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12) if theirs is not None else None


@pytest.mark.parametrize("kernel", LOOPS)
def test_results_stay_what_they_are(kernel: Callable[..., Any]):
    check(kernel)


def random_stores(seed: int, folder: Path) -> Callable[..., Any]:
    """Arrays and rows of them that are filled, read and filled again."""
    draw = Random(seed)

    def part(target: str) -> str:
        if target in ("y", "z"):
            return ":, :"
        return draw.choice([":, :", ":, :", "1:, :", "k, :", ":k, :", f"{draw.randint(0, 3)}, :"])

    def value(target: str, which: str) -> str:
        source = draw.choice("xabyz")
        if which in (":, :", "k, :") or which[0].isdigit():
            read = f"{source}[{which}]"
        else:
            read = f"{source}[{draw.choice([which, '0:1, :', '2, :'])}]"
        return f"{read} * {draw.choice(['0.5', 'a[k, 0]', '0.25'])} + {draw.random():.3f}"

    lines = ["def stores(x, a, b):", "    y = x * 0.5", "    z = a + b"]
    lines.append(f"    for k in range(2, {draw.randint(3, 6)}):")
    for _ in range(draw.randint(3, 7)):
        target = draw.choice("xxbyyz")
        which = part(target)
        update = draw.choice(["=", "=", "=", "+="])
        lines.append(f"        {target}[{which}] {update} {value(target, which)}")
    lines.append(f"    {draw.choice(['y', 'z'])} *= 0.5")
    lines.append(f"    return {draw.choice(['y', 'z', 'y + z'])}")
    file = folder / f"stores{seed}.py"
    file.write_text("\n".join(lines) + "\n")
    return function_in(file, "stores")


@pytest.mark.parametrize("seed", range(12))
def test_random_stores(seed: int, tmp_path: Path):
    check(random_stores(seed, tmp_path))
