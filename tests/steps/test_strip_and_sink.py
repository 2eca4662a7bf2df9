"""Strips of what computes whole numbers: places that are kept, and indices of what is only read.

Kernels are made of random lines. Where a strip is legal, the interpreter, with the iterations of
maps in any order, finds what Python does.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from sdfg_kit import bench_of, check_recipe, function_in, prepared_nests, random

from loopbook.errors import IllegalStepError, SdfgError
from loopbook.interpreter import Floating, Interpreted, NotInterpretedError
from loopbook.sdfg import frontend, program
from loopbook.steps.workbench import Workbench

SIZE, LONG, KINDS = 19, 5, 8


def place_of_it(x, h, at, y, z):
    for i in range(y.shape[0]):
        best = x[i]
        place = 0
        for k in range(h.shape[0]):
            v = x[i + k] * h[k]
            if v > best:
                best = v
                place = k
        y[i] = best + h[at[i]]
        z[i] = place


def place_of_all(x, h, at, y, z):
    place = 0
    for i in range(y.shape[0]):
        best = x[i]
        for k in range(h.shape[0]):
            v = x[i + k] * h[k]
            if v > best:
                best = v
                place = k
        z[i] = place


def into_places(x, h, at, y, z):
    for i in range(y.shape[0]):
        s = 0.0
        place = at[i]
        for k in range(h.shape[0]):
            s += x[i + k] * h[k]
        y[place] = s


def arguments(size=SIZE):
    at = np.random.default_rng(1).integers(0, LONG, SIZE + LONG)
    return [random(size + LONG), random(KINDS), at, random(size), np.zeros(size, int)]


@pytest.mark.parametrize("size", [6, 8, 61])
def test_the_place_of_an_extreme_is_kept_for_each_iteration(size, tmp_path):
    values = [random(size + 7), random(7), np.arange(size) % 7, random(size), np.zeros(size, int)]
    check_recipe(place_of_it, [values], [("strip_and_sink", ("L0", 8))], tmp_path)


@pytest.mark.parametrize("kernel", [place_of_all, into_places])
def test_places_that_others_need_keep_the_order(kernel):
    with pytest.raises(IllegalStepError):
        bench_of(kernel, arguments()).apply("strip_and_sink", ("L0", 8))


SET_FIRST = ["a = 1", "q = 0", "s = 0.0"]

BEFORE = ["a = 0", "a = i % 3", "q = at[i]", "s = x[i]", "if x[i] > 0.5: a = 2", "s = h[a]"]

INSIDE = [
    "s = s + x[i + k]",
    "if x[i + k] > 0.5: a = k",
    "if a < k: s = s + 1.0",
    "s = s + h[a]",
    "a = k",
    "q = at[k]",
    "if x[k] > s: q = k",
    "s = s + h[q]",
    "if h[k] > 0.5: q = k",
]

BEHIND = [
    "y[i] = s",
    "y[i] = s + h[a]",
    "z[i] = a",
    "y[i] = h[q]",
    "if a > 1: y[i] = s",
    "if s > 1.0: z[i] = q",
    "y[q] = s",
    "a = a + 1",
    "s = x[a + q]",
]

AFTER = ["y[0] = s", "z[0] = a", "z[1] = q"]


def lines_of(seed: int) -> tuple[list[str], list[str], list[str], list[str], bool]:
    """Of a kernel: before, in and behind the inner loop, and after both; whether all of that is
    done twice."""
    dice = Random(seed)

    def some(lines: list[str], least: int, most: int) -> list[str]:
        return [dice.choice(lines) for _ in range(dice.randint(least, most))]

    set_anew = [one for one in SET_FIRST if dice.random() < 0.9]
    before, inside = set_anew + some(BEFORE, 0, 3), some(INSIDE, 1, 4)
    return before, inside, some(BEHIND, 1, 4), some(AFTER, 0, dice.choice((0, 0, 1))), seed % 2 == 0


def written(before, inside, behind, after, twice) -> str:
    loop = "        for k in range(5):"
    lines = [f"        {one}" for one in before] + [loop]
    lines += [f"            {one}" for one in inside] + [f"        {one}" for one in behind]
    head = ["    for i in range(y.shape[0]):"]
    if twice:
        head, lines = ["    for t in range(2):", f"    {head[0]}"], [f"    {one}" for one in lines]
    set_first = ["    a = 1", "    q = 0", "    s = 0.0"]
    made = [
        "def made(x, h, at, y, z):",
        *set_first,
        *head,
        *lines,
        *(f"    {one}" for one in after),
    ]
    return "\n".join(made) + "\n"


@pytest.mark.long
def test_what_is_legal_gives_what_python_gives(tmp_path):
    legal = 0
    for seed in range(80, 140):
        lines = lines_of(seed)
        text = written(*lines)
        file = tmp_path / f"made_{seed}.py"
        file.write_text(text)
        kernel = function_in(file, "made")
        values = arguments()
        try:
            sdfg, nests = prepared_nests(kernel, values)
            if not nests:  # it does nothing that anybody sees
                continue
            bench = Workbench(program.tree_of(sdfg), nests[0])
            bench.apply("strip_and_sink", (f"L{int(lines[-1])}", 8))
        except (SdfgError, IllegalStepError):
            continue
        expected = [value.copy() for value in values]
        kernel(*expected)
        names = bench.program.arguments
        memory = dict(frontend.size_symbols(kernel, values))
        memory |= {n: value.ravel().tolist() for n, value in zip(names, values, strict=False)}
        try:
            runs = [Interpreted(bench.program, order, Floating()) for order in (None, 0, 1)]
        except NotInterpretedError:
            continue
        for run in runs:
            found = run({n: memory[n] for n in names})
            for name, value in zip(names, expected, strict=False):
                assert np.allclose(found[name], value), (text, name)
        legal += 1
    assert legal > 15
