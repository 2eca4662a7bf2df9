"""Data made up for SDFGs without any: the program is defined on them, and docc agrees."""

from __future__ import annotations

import json
import math
from functools import partial

import numpy as np
import pytest

from loopbook.errors import InputError, LoopbookError
from loopbook.program.load import load_json
from loopbook.sdfg import frontend
from loopbook.sdfg.arguments import bind_text
from loopbook.sdfg.build import build_baseline
from loopbook.sdfg.made_up import MadeUp
from loopbook.sdfg.made_values import Kind, Place, values
from loopbook.toolchain import scratch
from loopbook.toolchain.run import Binding, compare
from loopbook.workloads import polybench, synthetic
from loopbook.workloads.call import Call


def gather(p, a, b):
    for i in range(b.shape[0]):
        for j in range(a.shape[1]):
            b[i] += a[p[i], j]


def scatter(p, a, b):
    for i in range(p.shape[0]):
        b[p[i]] = a[i]


def spmv(start, column, value, x, y):
    for i in range(y.shape[0]):
        for k in range(start[i], start[i + 1]):
            y[i] += value[k] * x[column[k]]


def histogram(a, h):
    for i in range(a.shape[0]):
        h[a[i]] += 1


def neighbours(p, a, b):
    for i in range(b.shape[0]):
        b[i] = a[p[i] - 1] + a[p[i] + 1]


def columns(p, a, b):
    for i in range(a.shape[0]):
        for j in range(p.shape[0]):
            b[i, j] = a[i, p[j]]


def twice(p, q, a, b):
    for i in range(b.shape[0]):
        b[i] = a[q[p[i]]]


def counted(n, a, b):
    for i in range(n.shape[0]):
        for j in range(n[i]):
            b[i] += a[j]


def rooted(a, b):
    for i in range(a.shape[0]):
        b[i] = math.sqrt(a[i]) + math.log(a[i]) / a[i]


def whole(a, b, c):
    for i in range(a.shape[0]):
        c[i] = (a[i] * 3) // b[i] + a[i] % b[i]


def masked(m, a, b):
    for i in range(a.shape[0]):
        if m[i]:
            b[i] = a[i]


def clipped(a, b):
    for i in range(a.shape[0]):
        b[i] = max(a[i], 0.0)


def solved(a, b):
    for i in range(b.shape[0]):
        for j in range(i):
            b[i] -= a[i, j] * b[j]
        b[i] = b[i] / a[i, i]


def packed(a, b):
    k = 0
    for i in range(a.shape[0]):
        if a[i] > 1.0:
            b[k] = a[i]
            k = k + 1


def bins(a, h):
    for i in range(a.shape[0]):
        h[int(a[i])] += 1


def ints(*shape):
    return np.ones(shape, np.int64)


def reals(*shape, dtype: type = float):
    return np.ones(shape, dtype)


PROGRAMS = [
    (gather, ints(5), reals(7, 6), reals(5)),
    (scatter, ints(5), reals(5), reals(9)),
    (spmv, ints(6), ints(11), reals(11), reals(7), reals(5)),
    (histogram, ints(9), ints(5)),
    (neighbours, ints(5), reals(9), reals(5)),
    (columns, ints(5), reals(7, 9), reals(7, 5)),
    (twice, ints(5), ints(7), reals(9), reals(5)),
    (counted, ints(5), reals(9), reals(5)),
    (rooted, reals(5), reals(5)),
    (whole, ints(5), ints(5), ints(5)),
    (whole, *(np.ones(5, np.int32) for _ in range(3))),
    (masked, np.ones(5, bool), reals(5), reals(5)),
    (clipped, reals(5, dtype=np.float32), reals(5, dtype=np.float32)),
    (solved, reals(6, 6), reals(6)),
    (packed, reals(6), reals(6)),
    (bins, reals(6), ints(8)),
]


def text_of(kernel, *arguments):
    return frontend.trace(kernel, arguments)


def by_name(text, arguments):
    return dict(zip(load_json(text)["arguments"], arguments, strict=True))


def agrees(text, made):
    """Whether docc's unoptimised code computes what the interpreter does, on both data."""
    with scratch.folder() as folder:
        library = build_baseline(text, "none", folder).library
        for trial in (made.first, made.second):
            own = Binding(partial(bind_text, text), trial.arguments).results(library)
            compare(own, trial.results)


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [(one, rest) for one, *rest in PROGRAMS],
    ids=[one.__name__ for one, *_ in PROGRAMS],
)
def test_programs_are_defined_on_made_up_data_and_docc_agrees(kernel, arguments):
    text = text_of(kernel, *arguments)
    made = MadeUp(text, {})
    assert not any(made.first.rank)
    agrees(text, made)
    again = MadeUp(text, {})
    for one, other in zip(made.first.arguments, again.first.arguments, strict=True):
        assert np.array_equal(one, other)
    other = MadeUp(text, {}, seed=7).first.arguments
    assert not all(map(np.array_equal, made.first.arguments, other))
    with scratch.folder() as folder:  # guard zones catch what is written past an array
        library = build_baseline(text, "none", folder).library
        given = made.arguments(made.small)
        Binding(partial(bind_text, text), given).results(library)


@pytest.mark.parametrize("name", ["gemm", "cholesky", "lu", "durbin", "nussinov", "trisolv", "adi"])
def test_polybench(name):
    workload = polybench.load(name)
    text = Call.of(workload, workload.arguments(next(iter(workload.parameters)))).text
    agrees(text, MadeUp(text, {}))


@pytest.mark.parametrize("seed", range(3))
def test_made_loops(seed):
    for drawn in synthetic.draw(4, seed):
        workload = drawn.workload
        arguments = workload.arguments(next(iter(workload.parameters)))
        text = Call.of(workload, arguments).text
        agrees(text, MadeUp(text, {}))


def test_columns_stay_in_their_rows():
    text = text_of(columns, *PROGRAMS[5][1:])
    made = MadeUp(text, {})
    sizes = dict.fromkeys(made.names, 0)
    traced = frontend.size_symbols(columns, PROGRAMS[5][1:])
    given = by_name(text, made.arguments({name: traced[name] for name in sizes}))
    assert given["p"].max() < 9
    assert given["p"].min() >= 0


def test_rows_of_sparse_matrices_never_fall():
    text = text_of(spmv, *PROGRAMS[2][1:])
    made = MadeUp(text, {})
    for second in (False, True):
        given = by_name(text, made.arguments(dict.fromkeys(made.names, 30), second=second))
        assert (np.diff(given["start"]) >= 0).all()
        assert given["start"].max() <= given["value"].size == given["column"].size
        assert 0 <= given["column"].min() <= given["column"].max() < given["x"].size


def test_second_data_are_others():
    for kernel, *arguments in PROGRAMS:
        made = MadeUp(text_of(kernel, *arguments), {})
        sizes = dict.fromkeys(made.names, 20)
        pairs = zip(made.arguments(sizes), made.arguments(sizes, second=True), strict=True)
        assert not all(np.array_equal(one, other) for one, other in pairs)


def test_small_sizes_are_no_round_numbers_and_keep_the_order_of_those_asked_for():
    text = text_of(gather, *PROGRAMS[0][1:])
    names = MadeUp(text, {}).names
    like = dict(zip(names, (300, 200, 100), strict=False))
    small = MadeUp(text, like).small
    assert sorted(small, key=lambda name: small[name]) == sorted(like, key=lambda name: like[name])
    assert all(size % 2 and size % 5 for size in small.values())


def test_what_is_defined_on_no_data_is_refused_with_one_line():
    def never(a, b):
        for i in range(a.shape[0]):
            b[i] = a[i] / (a[i] - a[i])

    with pytest.raises(InputError, match="divided by zero") as caught:
        MadeUp(text_of(never, reals(5), reals(5)), {}).first  # noqa: B018
    assert "\n" not in str(caught.value)


def test_what_takes_too_long_even_at_small_sizes_is_refused():
    text = text_of(clipped, reals(5), reals(5))
    document = json.loads(text)
    endless = json.dumps(document).replace("i < _s0", "i < 1000000000 + _s0")
    assert endless != json.dumps(document)
    with pytest.raises(LoopbookError):
        MadeUp(endless, {}).arguments({"_s0": 5})


@pytest.mark.parametrize("kind", [Kind("positive"), Kind("signed", "permuted"), Kind("small")])
@pytest.mark.parametrize("dtype", ["i1", "i4", "u2", "f4", "f8", "?"])
def test_values_keep_to_what_is_known_of_their_place(kind, dtype):
    rng = np.random.default_rng(0)
    kept = np.dtype(dtype)
    if kept.kind != "b":
        found = values(Place(500, index=(3, 90)), kept, kind, rng)
        assert found.dtype == kept
        assert 3 <= found.min() <= found.max() <= 90
        ordered = values(Place(50, index=(0, 90), ordered=True), kept, kind, rng)
        assert (np.diff(ordered.astype(float)) >= 0).all()
        assert values(Place(500, divisor=True), kept, kind, rng).all()
    plain = values(Place(500), kept, kind, rng)
    assert len(np.unique(plain)) > 1
