"""Sliding products of two lines of numbers: convolve, correlate.

Before::

    y = np.convolve(x, w, "same")

After::

    for i0 in range(m - 1 - h): y[i0] = sum of the products with those x[k] that there are
    for i0 in range(m - 1 - h, n - h):
        for k0 in range(m): y[i0] = y[i0] + x[i0 - (m - 1 - h) + k0] * w[m - 1 - k0]
    for i0 in range(n - h, n): y[i0] = sum of the products with those x[k] that there are

What lies outside is left out, not nought: nought times what is no number would be none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from loopbook.frontend import arith, nests, types
from loopbook.frontend.constructs.joining import part
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Index, Scalar, Sum, Value, held, whole


@lowers(np.convolve)
def convolve(t: Translator, a: Value, v: Value, mode: Value | None = None) -> Value:
    """Sliding products of two lines of numbers; the first must be at least as long."""
    return _sliding(t, a, v, "full" if mode is None else t.python(mode), turned=True)


@lowers(np.correlate)
def correlate(t: Translator, a: Value, v: Value, mode: Value | None = None) -> Value:
    one, other = t.array(a), t.array(FUNCTIONS[np.conjugate](t, t.array(v)))
    how = "valid" if mode is None else t.python(mode)
    swapped = one.rank == other.rank == 1 and t.code.facts.nonnegative(
        one.shape[0] - other.shape[0]
    )
    if swapped is not False:
        return _sliding(t, one, other, how, turned=False)
    return FUNCTIONS[np.flip](t, _sliding(t, other, one, how, turned=False))


@dataclass(frozen=True)
class _Lines:
    t: Translator
    long: Array
    short: Array
    turned: bool

    def product(self, place: Int, number: Int) -> Scalar:
        """An element of the long line with one of the short line, which may be turned round."""
        other = self.short.shape[0] - 1 - number if self.turned else number
        left, right = self.long.element((place,)), self.short.element((other,))
        return arith.binary(self.t.code, "*", left, right)


def _sliding(t: Translator, a: Value, v: Value, mode: str, turned: bool) -> Value:
    code = t.code
    long, short = t.array(a), t.array(v)
    if long.rank != 1 or short.rank != 1 or mode not in ("valid", "same", "full"):
        raise code.fail("convolve of what are no lines, or with an unknown mode")
    n, m = long.shape[0], short.shape[0]
    if turned and code.facts.nonnegative(n - m) is False:  # NumPy takes them the other way round
        long, short, n, m = short, long, m, n
    if turned and None in (code.facts.known(n), code.facts.known(m)):
        return _of_full(t, _spread(t, long, short), n, m, mode)
    if code.facts.nonnegative(n - m) is not True or code.facts.nonnegative(m - 1) is not True:
        raise code.fail("convolve with a second operand that is longer than the first, or empty")
    if mode != "valid":
        long, short = (x if x.view is not None else t.stored(x) for x in (long, short))
    lines = _Lines(t, long, short, turned)
    dtype = types.promote(long.kind, short.kind)[0]

    def at(own: Index, inner: Index) -> Scalar:
        return lines.product(own[0] + inner[0], inner[0])

    summand = Sum((m,), at, long.buffers | short.buffers, 1)
    middle = Array((n - m + 1,), dtype, None, None, (summand,), summand.buffers, 1)
    if mode == "valid":
        return middle
    # Of all n + m - 1 places, those before `skip` are left out.
    skip = ZERO
    if mode == "same":
        skip = t.integer(arith.binary(code, "//", arith.whole(m - 1), arith.constant(2)))
    length = n if mode == "same" else n + m - 1
    result = whole(code.temporary((length,), dtype), (length,))
    head = m - 1 - skip
    _margin(lines, result, ZERO, head, skip)
    nests.assign(code, part(result, 0, head, n - m + 1), middle)
    _margin(lines, result, head + n - m + 1, length, skip)
    return result


def _spread(t: Translator, a: Array, v: Array) -> Array:
    """All products, each added to the place that it belongs to: only the loops know which of the
    lines is the longer one."""
    code = t.code
    a, v = (x if x.view is not None else t.stored(x) for x in (a, v))
    n, m = a.shape[0], v.shape[0]
    for size in (n, m):
        code.suppose(f"{size.text} > 0")
    dtype = types.promote(a.kind, v.kind)[0]
    length = code.bounded(n + m - 1, 1)
    result = whole(code.temporary((length,), dtype), (length,))
    nests.assign(code, result, arith.constant(dtype.type(0)))
    with code.loop(ZERO, n) as i, code.loop(ZERO, m, hint="k") as k:
        found = arith.binary(code, "*", a.element((i,)), v.element((k,)))
        found = arith.binary(code, "+", result.element((i + k,)), found)
        for line in nests.stores(result, (i + k,), code.let(found)):
            code.emit(line)
    return result


def _of_full(t: Translator, full: Array, n: Int, m: Int, mode: str) -> Value:
    """The places of all that a mode keeps, of lines of which either may be the longer one."""
    if mode == "full":
        return full
    less, more = (_one_of(t, name, n, m) for name in ("min", "max"))
    if mode == "valid":
        return part(full, 0, less - 1, more - less + 1)
    skip = t.integer(arith.binary(t.code, "//", arith.whole(less - 1), arith.constant(2)))
    return part(full, 0, skip, more)


def _one_of(t: Translator, choice: str, n: Int, m: Int) -> Int:
    code, name = t.code, t.code.fresh("n_")
    code.emit(f"{name} = {choice}({n.text}, {m.text})")
    one, other = (code.facts.bound(size, upper=True) for size in (n, m))
    code.facts.ranges[name] = (ZERO, None if one is None or other is None else one + other)
    return Int.atom(name)


def _margin(lines: _Lines, result: Array, start: Int, stop: Int, skip: Int) -> None:
    """The places from `start` to `stop`, where the short line sticks out at an end."""
    code, n, m = lines.t.code, lines.long.shape[0], lines.short.shape[0]
    assert result.view is not None
    buffer, dtype = result.view.buffer, result.dtype
    if code.is_empty(stop - start):
        return
    with code.loop(start, stop) as i:
        shift = i + skip - (m - 1)  # where the short line begins, on the long one
        nought = arith.constant(dtype.type(0))
        for line in nests.put(buffer, (i,), nought, dtype):
            code.emit(line)
        first, last = (ZERO - shift, m) if start == ZERO else (ZERO, n - shift)
        with code.loop(first, last, hint="k") as k:
            so_far = held(buffer, (i,), dtype)
            found = arith.binary(code, "+", so_far, lines.product(shift + k, k))
            for line in nests.put(buffer, (i,), code.let(found), dtype):
                code.emit(line)
