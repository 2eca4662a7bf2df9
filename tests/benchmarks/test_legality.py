"""What random sequences of steps were once allowed and wrong, and the interpreter that says so."""

import numpy as np
import pytest
from sdfg_kit import steps

from benchmarks import legality_compiled, legality_programs
from benchmarks.legality import checked, compiled
from benchmarks.legality_subject import SIZES, arguments, fault, prepared, subject
from loopbook.errors import IllegalStepError
from loopbook.interpreter import MODULUS, ROUNDED, FaultError, Interpreted
from loopbook.steps.workbench import Workbench


def doubled(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] + a[i]


def scaled(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = 2 * a[i, j]


def products(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[1]):
                b[i, j] += a[i, k]


def pushed(a, b):
    for i in range(a.shape[0]):
        for j in range(i + 1, a.shape[0]):
            b[j] += a[j, i]


def totals(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total = 0.0
            for k in range(a.shape[0]):
                total += a[k, j]
            b[i, j] = total


def inner(a, b):
    for i in range(a.shape[0] - 4):
        for j in range(a.shape[1] - 4):
            b[i + 4, j + 4] = a[i, j]


def triangle(a, b):
    for i in range(a.shape[0]):
        for j in range(i):
            b[i] += a[i, j]


def sums(a, b):
    for j in range(a.shape[0]):
        for i in range(a.shape[0]):
            total = 0.0
            for k in range(i):
                total += a[k, j]
            for k in range(i):
                b[k, j] += a[i, j]
            b[i, j] += total


def rows(start, a, b):
    for i in range(b.shape[0]):
        low = start[i]
        high = start[i + 1]
        for k in range(low, high):
            b[i] += a[k]


def picked(p, a, b):
    for i in range(b.shape[0]):
        k = p[i]
        for j in range(a.shape[1]):
            b[i] += a[k, j]


def grown(s, c, a):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            s[0] += a[i, k]
        total = c[i]
        seen = c[i + 1]
        for k in range(a.shape[1]):
            total += total * a[i, k]
            seen += total * c[i]
        s[i] = seen


def multiplied(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def rounded(a, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i]
        c[i] = a[i] + a[i]


def marked(a, b, c):
    for i in range(a.shape[0]):
        c[i] = b[int(a[i])]


def rows_in_turn(a, b, d):
    for t in range(a.shape[0]):
        for i in range(b.shape[1]):
            d[i + 1] = a[t, i] + a[t, i + 1]
        for i in range(b.shape[1]):
            b[t, i] = d[i + 1] - d[i + 2]


def first_apart(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if i < 2:
                b[i, j] = a[i, j]
            else:
                b[i, j] += a[i, j]


def grids(*sizes):
    return [[np.ones((m, n)), np.ones((m, n))] for m, n in sizes]


VECTORS = [[np.ones(n), np.ones(n)] for n in (9, 5, 2)]
SQUARES = [[np.ones((n, n)), np.ones(n)] for n in (9, 5, 2)]
GROWN = [[np.ones(6), np.ones(7), np.ones((6, 5))]]
STARTS = [[np.array([0, 2, 2, 5]), np.ones(5), np.ones(3)]]
PRODUCTS = [[np.ones((6, 4)), np.ones((4, 3)), np.ones((6, 3))]]
IN_TURN = [[np.ones((3, 13)), np.ones((3, 9)), np.ones(12)]]
PICKED = [[np.array([2, 0, 1, 2]), np.ones((3, 5)), np.ones(4)]]


def outcome(kernel, cases, text):
    """ "refused", what is wrong, or nothing."""
    subject = prepared(kernel, cases)
    assert subject.cases
    bench = Workbench(subject.tree, subject.nests[-1])
    for position, (op, args) in enumerate(steps(text)):
        try:
            bench.apply(op, args, position)
        except IllegalStepError:
            return f"{position} refused"
    return next(filter(None, (fault(subject, bench.program, seed) for seed in range(3))), "")


@pytest.mark.parametrize(
    ("kernel", "cases", "text", "expected"),
    [
        pytest.param(
            doubled, VECTORS, "tile L0 4\npeel L0\nstage L0* A0 in", "", id="rest-beyond-the-end"
        ),
        pytest.param(
            doubled, VECTORS, "tile L0 4\npeel L0 predicate\nstage L0 A1 out", "", id="written-back"
        ),
        pytest.param(
            doubled, VECTORS, "tile L0 4\nparallel L0\nstage L0 A1", "2 refused", id="own-buffers"
        ),
        pytest.param(
            doubled,
            VECTORS,
            "tile L0 4\nparallel L0\npeel L0\nunroll L0\nstage L0 A1",
            "4 refused",
            id="own-buffers-unrolled",
        ),
        pytest.param(
            triangle, SQUARES, "tile L1 8\ncut L1 L0 1\npeel L1.rest", "2 refused", id="never-runs"
        ),
        pytest.param(
            sums, grids((9, 9), (5, 5)), "expand L1\nparallel L0", "1 refused", id="shared-memory"
        ),
        pytest.param(inner, grids((3, 2), (9, 7)), "collapse L0 2", "", id="two-ends-below-zero"),
        pytest.param(
            products, grids((9, 7)), "collapse L0 2\nstage L0.flat A1", "1 refused", id="an-index"
        ),
        pytest.param(
            pushed, SQUARES, "cut L1 L0 2\nstage L1 A1", "1 refused", id="one-beyond-the-end"
        ),
        pytest.param(
            totals,
            grids((9, 7)),
            "parallel L0\nstrip_and_sink L1 2",
            "1 refused",
            id="one-strip-for-all",
        ),
        pytest.param(grown, GROWN, "serialize L1", "", id="no-sums"),
        pytest.param(multiplied, PRODUCTS, "library L0", "", id="a-call"),
        pytest.param(
            scaled,
            grids((9, 7)),
            "tile L0 4\ntile L1 2\ninterchange L0 L1.tile\nbuffer L0 L0 L1",
            "",
            id="a-buffer",
        ),
        pytest.param(
            rows_in_turn,
            IN_TURN,
            "tile L1 4\ntile L2 4\nfuse_tiles L1.tile L2.tile",
            "",
            id="tiles-that-overlap",
        ),
        pytest.param(first_apart, grids((9, 7)), "unswitch L1", "", id="a-branch-around"),
        pytest.param(rows, STARTS, "distribute L0", "0 refused", id="bounds-that-change"),
        pytest.param(picked, PICKED, "distribute L0", "0 refused", id="indices-that-change"),
    ],
)
def test_steps_that_are_allowed_are_right(kernel, cases, text, expected):
    assert outcome(kernel, cases, text) == expected


def test_steps_that_stand_for_several_are_done_in_whole_or_not_at_all():
    subject = prepared(scaled, grids((9, 7)))
    bench = Workbench(subject.tree, subject.nests[0])
    before, names = bench.program, bench.names
    with pytest.raises(IllegalStepError):
        bench.apply("unroll_and_jam", ("L0", 2, "L1", "L0"))
    assert (bench.program, bench.names) == (before, names)


def test_threads_that_write_one_element_are_found():
    subject = prepared(scaled, grids((9, 7)))
    bench = Workbench(subject.tree, subject.nests[0])
    bench.apply("parallel", ("L0",))
    assert fault(subject, bench.program, 0) == ""
    memory = {**subject.cases[0][0], "_s1": 0}
    columns = Interpreted(bench.program, 0)
    assert columns(memory)["b"] == memory["b"]  # no column, nothing to do
    wider = {**memory, "_s0": 9, "_s1": 9}
    with pytest.raises(FaultError):
        columns(wider)


def test_a_number_of_single_precision_is_another_one():
    subject = prepared(rounded, [[np.ones(5), np.ones(5, np.float32), np.ones(5)]])
    memory, found = subject.cases[0]
    assert found["b"] == [value * ROUNDED % MODULUS for value in memory["a"]] != memory["a"]
    assert found["c"] == [2 * value % MODULUS for value in memory["a"]]


def test_what_becomes_an_index_is_a_small_number():
    subject = prepared(marked, [[np.ones(9), np.ones(5), np.ones(9)]])
    memory, found = subject.cases[0]
    assert set(found["c"]) <= set(memory["b"][:3])
    assert len(set(found["c"])) > 1


def test_a_call_of_another_product_is_wrong():
    subject = prepared(multiplied, PRODUCTS)
    bench = Workbench(subject.tree, subject.nests[-1])
    bench.apply("library", ("L0",))
    whole, less = (Interpreted(bench.program, 0) for _ in range(2))
    less.source = less.source.replace("_gemm((", "_gemm((-1 + ", 1)
    memory, right = subject.cases[0]
    assert whole(memory) == right != less(memory)


def test_a_program_is_checked_with_random_sequences():
    result = checked("atax", 3, 0)
    assert result["sequences"] >= 2
    assert not result["wrong"]
    assert not result["raised"]
    assert sum(result["allowed"].values()) > 0
    assert sum(result["refused"].values()) > 0
    assert result["trees"] <= result["sequences"] + 1


def test_sequences_are_compiled_and_compared_with_python(monkeypatch):
    turned, back = ("interchange", ("L0", "L1")), ("interchange", ("L1", "L0"))
    recipes = [(0, (turned,)), (0, (("tile", ("L0", 4)),)), (0, (turned, back, turned))]
    workload = legality_programs.load("mvt")
    text = subject(workload).text
    said = compiled("mvt", text, recipes)
    assert said == {"compiled": 3, "programs": 3, "wrong": [], "left": {}}
    given = arguments(workload, SIZES[0])
    other = legality_compiled.Data(given, [np.zeros_like(a) for a in workload.results(given)])
    monkeypatch.setattr(legality_compiled, "_data", lambda *_: other)
    said = compiled("mvt", text, recipes[:1])
    assert said["compiled"] == 0
    assert "wrong without any step" in next(iter(said["left"]))
