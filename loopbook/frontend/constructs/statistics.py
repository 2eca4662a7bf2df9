"""Covariances, histograms, counts, convolutions.

Before::

    h = np.bincount(x, minlength=n)

After::

    for i0 in range(n): h[i0] = 0
    for i0 in range(x.shape[0]): h[x[i0]] = h[x[i0]] + 1
"""

from __future__ import annotations

import ast

import numpy as np

from loopbook.frontend import arith, nests, types
from loopbook.frontend.code import bare
from loopbook.frontend.constructs.binned import histogram_of_edges, in_shares
from loopbook.frontend.constructs.elementwise import cast
from loopbook.frontend.constructs.evenly import dtype_of, filled, linspace
from loopbook.frontend.constructs.products import contract
from loopbook.frontend.constructs.reductions import mean
from loopbook.frontend.inline import inline
from loopbook.frontend.operators import lift, operate
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import FLOAT, INT
from loopbook.frontend.values import Array, Scalar, Thing, Tup, Value, subscript, whole


@lowers(np.cov)
def cov(
    t: Translator,
    m: Value,
    y: Value | None = None,
    rowvar: Value | None = None,
    bias: Value | None = None,
    ddof: Value | None = None,
    *,
    dtype: Value | None = None,
) -> Value:
    """Covariances of the rows (of the columns, if `rowvar` is false), or of two lines."""
    kind = dtype_of(t, dtype, FLOAT)
    if kind.kind != "f":
        raise t.code.fail(f"cov of numbers as {kind}")
    if y is not None:
        m = FUNCTIONS[np.stack](t, Tup((_line(t, m), _line(t, y))))
    array = t.array(cast(t, t.array(m), kind))
    if array.rank != 2:
        raise t.code.fail("cov of what is no matrix")
    rows = rowvar is None or bool(t.python(rowvar))
    axis = 1 if rows else 0
    centre = mean(t, array, arith.constant(axis), keepdims=arith.constant(True))
    centred = t.stored(t.array(operate(t, ast.Sub, array, centre)))
    less = 1 if ddof is None else t.python(ddof)
    less = 0 if bias is not None and t.python(bias) else less
    letters = ["ik", "jk"] if rows else ["ki", "kj"]
    product = t.array(contract(t, [centred, centred], letters, "ij"))
    return operate(t, ast.Div, product, arith.whole(array.shape[axis] - less))


def _line(t: Translator, value: Value) -> Value:
    array = t.array(value)
    if array.rank != 1:
        raise t.code.fail("cov of two things that are no lines of numbers")
    return array


@lowers(np.corrcoef)
def corrcoef(t: Translator, x: Value, y: Value | None = None, rowvar: Value | None = None) -> Value:
    matrix = t.stored(t.array(cov(t, x, y, rowvar)))
    scale = t.stored(
        t.array(
            lift(t, lambda v: arith.function(t.code, "sqrt", v), FUNCTIONS[np.diagonal](t, matrix))
        )
    )
    half = operate(t, ast.Div, matrix, FUNCTIONS[np.expand_dims](t, scale, arith.constant(1)))
    return operate(t, ast.Div, half, scale)


@lowers(np.histogram)
def histogram(
    t: Translator,
    a: Value,
    bins: Value | None = None,
    range: Value | None = None,
    weights: Value | None = None,
    density: Value | None = None,
) -> Value:
    """Counts in bins of equal width, or between edges, and the edges.

    The bin is guessed by division, then put right by comparing with the edges, as NumPy does it.
    """
    code, array = t.code, t.array(a)
    if density is not None and t.python(density):
        found = histogram(t, a, bins, range, weights)
        assert isinstance(found, Tup)
        return inline(t, in_shares, list(found.items), {}, code.origin)
    if isinstance(bins, Array | Tup):
        if weights is not None:
            raise code.fail("histogram with edges and weights; give the number of bins")
        return inline(t, histogram_of_edges, [array, bins], {}, code.origin)
    if array.view is None or array.rank != 1:
        array = t.array(FUNCTIONS[np.ravel](t, array))
        array = array if array.view is not None else t.stored(array)
    count = Int.of(10) if bins is None else t.integer(bins)
    if isinstance(range, Tup):
        ends = [t.number(v) for v in range.items]
    else:
        ends = [t.number(FUNCTIONS[f](t, array)) for f in (np.min, np.max)]
    common = types.promote((array.dtype, False), *(end.kind for end in ends))[0]
    of_edges = common if common.kind == "f" else FLOAT
    low, high = (code.let(t.number(cast(t, v, FLOAT))) for v in ends)
    first, last = code.fresh("low_"), code.fresh("high_")
    code.emit(f"{first} = {low.text}")
    code.emit(f"{last} = {high.text}")
    with code.indented(f"if {first} == {last}:"):
        code.emit(f"{first} = {first} - 0.5")
        code.emit(f"{last} = {last} + 0.5")
    low, high = Scalar(first, FLOAT), Scalar(last, FLOAT)
    exact = linspace(t, low, high, arith.whole(count + 1))
    edges = t.stored(t.array(cast(t, t.array(exact), of_edges)))
    assert edges.view is not None
    given = None
    kind = INT
    if weights is not None and not (isinstance(weights, Thing) and weights.value is None):
        given = t.array(FUNCTIONS[np.ravel](t, t.array(weights)))
        if given.dtype.kind == "b":
            raise code.fail("histogram with truth values as weights; count those that are true")
        kind = given.dtype
    result = whole(code.temporary((count,), kind), (count,))
    assert result.view is not None
    nests.assign(code, result, filled((count,), kind, arith.constant(kind.type(0))))
    value, place = code.fresh("x_"), code.fresh("bin_")
    bounds = edges.view.buffer
    inside = f"{value} >= {bounds.name}[0] and {value} <= {bounds.name}[{count.text}]"
    with code.loop(ZERO, array.shape[0]) as i:
        element = arith.convert(code, array.element((i,)), FLOAT)
        code.emit(f"{value} = {bare(element.text)}")
        with code.indented(f"if {inside}:"):
            code.emit(f"{place} = int(({value} - {first}) / ({last} - {first}) * {count.operand})")
            with code.indented(f"if {place} == {count.text}:"):
                code.emit(f"{place} = {place} - 1")
            with code.indented(f"if {value} < {bounds.name}[{place}]:"):
                code.emit(f"{place} = {place} - 1")
            inner = f"{place} != {(count - 1).text}"
            with code.indented(f"if {value} >= {bounds.name}[{place} + 1] and {inner}:"):
                code.emit(f"{place} = {place} + 1")
            target = subscript(result.view.buffer, (Int.atom(place),))
            weight = "1" if given is None else given.element((i,)).text
            code.emit(f"{target} = {target} + {weight}")
    return Tup((result, edges))
