"""Sums, and the like, into elements that arrays of indices name, and polynomials.

Before::

    np.add.at(h, (rows, cols), w)          y = np.polyval(c, x)

After::

    for i0 in range(n):                    for i0 in range(m):
        h[rows[i0], cols[i0]] += w[i0]         y[i0] = (c[0] * x[i0] + c[1]) * x[i0] + c[2]
"""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from loopbook.frontend import arith, nests, types
from loopbook.frontend.casts import strong
from loopbook.frontend.code import bare
from loopbook.frontend.constructs.joining import part
from loopbook.frontend.indexing import advanced, load_at
from loopbook.frontend.operators import lift
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Scalar, Thing, Tup, Value, held, looked_at, whole


def _at(ufunc: np.ufunc):
    def lowering(t: Translator, a: Value, indices: Value, b: Value) -> Value:
        code = t.code
        if not isinstance(a, Array) or a.view is None:
            raise code.fail("ufunc.at of what is no array in memory")
        items = list(indices.items) if isinstance(indices, Tup) else [indices]
        if not all(isinstance(item, Array) and item.dtype.kind in "iu" for item in items):
            raise code.fail("ufunc.at with other indices than arrays of whole numbers")
        buffer = a.view.buffer
        t.writes_to(buffer)
        items = [t.stored(i) if buffer in i.buffers else i for i in map(t.array, items)]
        shape, place, _ = advanced(t, a, _of_elements(t, a, items))
        value = t.array(b)
        shape = nests.agreed(code, shape, value.shape)
        value = nests.fit(code, value, shape)
        if buffer in value.buffers:
            value = nests.materialise(code, value)
        with ExitStack() as stack:
            own = tuple(stack.enter_context(code.loop(ZERO, size)) for size in shape)
            index = a.view.index(place(own))
            element = value.element(own)
            found = t.number(FUNCTIONS[ufunc](t, held(buffer, index, a.dtype), element))
            if not np.can_cast(found.dtype, a.dtype, "same_kind"):  # as NumPy's raises
                raise code.fail(f"{found.dtype} put into elements of {a.dtype}")
            for line in nests.put(buffer, index, code.let(found), a.dtype):
                code.emit(line)
        return Thing(None)

    return lowering


def _of_elements(t: Translator, a: Array, items: list[Array]) -> list[Array]:
    """Indices of whole rows as those of all elements in them."""
    rank, missing = max(item.rank for item in items), a.rank - len(items)
    if not missing:
        return items
    spread = [
        looked_at(
            nests.fit(t.code, item, nests.broadcast(t.code, [i.shape for i in items])),
            (*item.shape, *[ONE] * missing),
            tuple((ZERO, ((axis, ONE),)) for axis in range(rank)),
        )
        for item in items
        if item.rank == rank
    ]
    if len(spread) < len(items):
        raise t.code.fail("ufunc.at of whole rows by indices of different ranks")
    for axis in range(missing):
        shape = [ONE] * (rank + missing)
        shape[rank + axis] = a.shape[len(items) + axis]
        at = rank + axis
        spread.append(Array(tuple(shape), types.INT, lambda own, at=at: arith.whole(own[at])))
    return spread


for _ufunc in (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum):
    lowers(_ufunc.at)(_at(_ufunc))


@lowers(np.polyder)
def polyder(t: Translator, p: Value, m: Value | None = None) -> Value:
    """The derivative of a polynomial."""
    line = t.array(p)
    if line.rank != 1:
        raise t.code.fail("polyder of coefficients that are no line")
    for _ in range(1 if m is None else t.python(m)):
        top = line.shape[0] - 1
        if not t.code.facts.nonnegative(top - 1):
            raise t.code.fail("polyder of a constant")
        powers = Array((top,), types.INT, lambda own, top=top: arith.whole(top - own[0]))
        line = t.array(
            lift(t, lambda c, k: arith.binary(t.code, "*", c, k), part(line, 0, ZERO, top), powers)
        )
    return line


@lowers(np.polyval)
def polyval(t: Translator, p: Value, x: Value) -> Value:
    """A polynomial by Horner's rule."""
    line = t.array(p)
    if line.rank != 1:
        raise t.code.fail("polyval of coefficients that are no line")
    count = line.shape[0]
    if not t.array(x).rank:  # NumPy makes an array of it
        x = strong(t.number(x))

    def step(y: Value, factor: Value) -> Value:
        return lift(
            t,
            lambda a, z, c: arith.binary(t.code, "+", arith.binary(t.code, "*", a, z), c),
            y, x, factor,
        )  # fmt: skip

    if count.constant is not None:
        result: Value = arith.constant(0)
        for place in range(count.constant):
            result = step(result, load_at(t, line, [arith.whole(Int.of(place))]))
        return result
    base = t.array(x)
    line = line if line.view is not None else t.stored(line)
    dtype = types.promote(line.kind, base.kind)[0]
    made = whole(t.code.temporary(base.shape, dtype), base.shape)
    nests.assign(t.code, made, arith.constant(dtype.type(0)))
    with t.code.loop(ZERO, count, hint="k") as k:
        found = step(made, load_at(t, line, [arith.whole(k)]))
        nests.assign(t.code, made, t.array(found))
    return made if base.rank else made.element(())


@lowers(np.vander)
def vander(t: Translator, x: Value, N: Value | None = None, increasing: Value | None = None):
    """Powers of each number, the highest one first; of whole numbers in whole numbers."""
    code, line = t.code, t.array(x)
    if line.rank != 1 or line.dtype.kind == "c":
        raise code.fail("vander of what is no line of real numbers")
    line = line if line.view is not None else t.stored(line)
    count = line.shape[0] if N is None or isinstance(N, Thing) else t.integer(N)
    dtype = np.promote_types(line.dtype, types.INT)
    result = whole(code.temporary((line.shape[0], count), dtype), (line.shape[0], count))
    assert result.view is not None
    buffer, rising = result.view.buffer, increasing is not None and bool(t.python(increasing))
    if any(map(code.is_empty, result.shape)):
        return result
    with code.loop(ZERO, line.shape[0]) as i:
        power = Scalar(code.fresh("power_"), dtype)
        factor = code.let(arith.convert(code, line.element((i,)), dtype))
        code.emit(f"{power.text} = {'1.0' if dtype.kind == 'f' else '1'}")
        with code.loop(ZERO, count, hint="k") as k:
            place = (i, k if rising else count - 1 - k)
            for text in nests.put(buffer, place, power, dtype):
                code.emit(text)
            code.emit(f"{power.text} = {bare(arith.binary(code, '*', power, factor).text)}")
    return result
