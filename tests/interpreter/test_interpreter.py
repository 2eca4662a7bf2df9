"""Programs run without a compiler, on C's numbers, within a budget."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sdfg_kit import bench_of, steps

from loopbook.client.places import STARTER
from loopbook.interpreter import (
    FaultError,
    Floating,
    Interpreted,
    NotInterpretedError,
    TooLongError,
)
from loopbook.program.read import read
from loopbook.recipes import Book
from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_baseline
from loopbook.sdfg.made_up import MadeUp
from loopbook.toolchain import scratch

FILTER = "filter.many.i.pole.2.back.none.pixel.open.apart.swapped.f4.apart"
"""A nest with a block in which a scalar is read and, later, changed."""


def shifted(a, b, s):
    for i in range(b.shape[0]):
        b[i] = a[i + s]


def divided(a, b):
    for i in range(a.shape[0]):
        b[i] = 1.0 / a[i]


def rooted(a, b):
    for i in range(a.shape[0]):
        b[i] = math.sqrt(a[i])


def squared(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] * a[i] + a[i]


def counted(a, b):
    for i in range(a.shape[0]):
        k = int(a[i])
        b[k] += 1


def remainders(a, b):
    for i in range(a.shape[0]):
        b[i] = (a[i] * 7 - 3) % 5


def chosen(a, b):
    for i in range(a.shape[0]):
        if a[i] > 1.0:
            b[i] = math.exp(-a[i])
        else:
            b[i] = max(a[i], 0.75)


def program(kernel, *arguments):
    return read(json.loads(frontend.trace(kernel, arguments)))


def run(kernel, *arguments, budget=10_000):
    """Arrays after a run of the interpreter; scalars are what docc calls sizes, or integers."""
    tree = program(kernel, *arguments)
    symbols = frontend.size_symbols(kernel, arguments)
    names = kernel.__code__.co_varnames
    memory = dict(symbols)
    for name, value in zip(names, arguments, strict=False):
        memory[name] = value.tolist() if isinstance(value, np.ndarray) else value
    after = Interpreted(tree, None, Floating())({n: memory[n] for n in tree.arguments}, budget)
    return {name: np.array(value) for name, value in after.items()}


def ones(count, dtype: type = float):
    return np.ones(count, dtype)


@pytest.mark.parametrize(
    ("kernel", "a", "b"),
    [
        (divided, np.linspace(0.3, 2, 9), ones(9)),
        (divided, np.linspace(0.3, 2, 9).astype(np.float32), ones(9, np.float32)),
        (rooted, np.linspace(0.3, 2, 9), ones(9)),
        (squared, np.linspace(-3, 2, 9).astype(np.float32), ones(9, np.float32)),
        (counted, np.array([0.0, 2.9, 1.1, 2.2]), np.zeros(4, np.int64)),
        (remainders, np.array([0, 1, 5, 9]), np.zeros(4, np.int64)),
        (chosen, np.linspace(0.3, 2, 9), ones(9)),
    ],
)
def test_it_computes_what_compiled_code_does(kernel, a, b):
    found = run(kernel, a, b)
    with scratch.folder() as folder:
        library = build_baseline(frontend.trace(kernel, [a, b]), "none", folder).library
        expected = frontend.binding(kernel, [a, b]).results(library)
    assert np.allclose(found["a"], expected[0], rtol=1e-14, atol=0)
    rtol = 1e-14 if b.dtype == float else 1e-7
    assert np.allclose(found["b"], expected[1], rtol=rtol, atol=0)


@pytest.mark.parametrize("shift", [1, -1, 70, -70, 1 << 40])
def test_an_access_outside_of_an_array_is_a_fault(shift):
    """Also far outside, and where Python would count from the end."""
    assert run(shifted, ones(100), ones(100), 0)["b"].tolist() == [1.0] * 100
    with pytest.raises(FaultError, match="outside of an array"):
        run(shifted, ones(100), ones(100), shift)


@pytest.mark.parametrize(
    ("kernel", "value", "said"),
    [
        (divided, 0.0, "divided by zero"),
        (rooted, -1.0, "has no value"),
        (counted, 1e30, "is no integer of its type"),
        (counted, 7.0, "outside of an array"),
        (counted, math.nan, "has no value"),
    ],
)
def test_what_has_no_value_is_a_fault(kernel, value, said):
    with pytest.raises(FaultError, match=said):
        run(kernel, np.array([1.0, value]), np.zeros(2, np.int64 if kernel is counted else float))


def test_a_number_too_large_for_single_precision_is_a_fault():
    with pytest.raises(FaultError, match="too large"):
        run(squared, np.array([1e30], np.float32), ones(1, np.float32))
    assert run(squared, np.array([1e30]), ones(1))["b"][0] == pytest.approx(1e60)


def test_a_budget_is_kept():
    kernel, arguments = squared, (ones(1000), ones(1000))
    run(kernel, *arguments, budget=20_000)
    with pytest.raises(TooLongError, match="takes too long"):
        run(kernel, *arguments, budget=2_000)


def test_a_loop_that_never_ends_is_stopped_on_exact_numbers_too():
    tree = program(squared, ones(3), ones(3))
    (loop,) = tree.body.children
    endless = json.loads(frontend.trace(squared, (ones(3), ones(3))))
    text = json.dumps(endless).replace(loop.update.text, loop.variable)
    memory = {"a": [1] * 3, "b": [1] * 3, "_s0": 3}
    with pytest.raises(TooLongError):
        Interpreted(read(json.loads(text)))(memory)
    with pytest.raises(TooLongError):
        Interpreted(read(json.loads(text)), shuffled=1)(memory)


def test_what_is_not_interpreted_says_so():
    text = frontend.trace(rooted, (ones(3), ones(3))).replace('"sqrt"', '"frexp"')
    with pytest.raises(NotInterpretedError):
        Interpreted(read(json.loads(text)), None, Floating())


def test_statements_of_a_block_run_from_the_oldest_on_however_it_is_written():
    """Nodes are written by addresses in docc's memory; what one statement reads, a later one may
    change."""
    with Book.open(STARTER, readonly=True) as book:
        nests = (one.nest_json for one in book.records() if one.kernel == FILTER)
        document = json.loads(next(nests))
    made = MadeUp(json.dumps(document), {})

    def turned(part):
        if isinstance(part, dict):
            return {key: turned(own)[:: -1 if key == "nodes" else 1] if isinstance(own, list)
                    else turned(own) for key, own in part.items()}  # fmt: skip
        return [turned(own) for own in part] if isinstance(part, list) else part

    other = MadeUp(json.dumps(turned(document)), {})
    assert turned(document) != document
    for one, again in zip(made.first.results, other.first.results, strict=True):
        assert np.array_equal(one, again)


def spread(c, d):
    for i in range(c.shape[0] - 2):
        for j in range(c.shape[0] - 1):
            d[i + j + 1] = d[i + j + 1] + c[i + 2] - c[j + 1]


def test_what_nobody_has_set_may_be_computed_with_and_thrown_away():
    """Iterations that `pad` adds compute with what a buffer happens to hold."""
    size = 12
    bench = bench_of(spread, [np.zeros(size, np.int32), np.zeros(2 * size, np.int32)])
    memory = {"c": [*range(size)], "d": [*range(2 * size)], "_s0": size, "_s1": 2 * size}
    right = Interpreted(bench.program)(dict(memory))["d"]
    for step in ("tile L0 4", "interchange L0 L1", "tile L0 5", "stage L0 A0 auto", "pad L0"):
        ((op, args),) = steps(step)
        bench.apply(op, args)
    assert Interpreted(bench.program)(dict(memory))["d"] == right
