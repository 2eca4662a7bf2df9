"""Small dense linear algebra as loops: cholesky, solve, inv, det.

Before::

    L = np.linalg.cholesky(A)

After, row by row::

    for i ...: for j in range(i): L[i, j] = (A[i, j] - sum of L[i, k] * L[j, k]) / L[j, j]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from loopbook.frontend import arith, nests, types
from loopbook.frontend.code import Code, bare
from loopbook.frontend.constructs.elementwise import cast
from loopbook.frontend.registry import lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Index, Scalar, Thing, Value, looked_at, whole


def _matrix(t: Translator, a: Value) -> tuple[Array, Int]:
    array = t.array(a)
    if array.rank != 2 or not t.code.same(array.shape[0], array.shape[1]):
        raise t.code.fail("linear algebra of what is no square matrix")
    return t.array(cast(t, array, types.floating(array.dtype))), array.shape[0]


@lowers(np.linalg.cholesky)
def cholesky(t: Translator, a: Value) -> Value:
    code = t.code
    array, n = _matrix(t, a)
    if array.view is None:
        array = t.stored(array)
    buffer = code.temporary((n, n), array.dtype)
    result = whole(buffer, (n, n))
    name, total = buffer.name, code.fresh("sum_")
    nests.assign(code, result, Scalar(types.zero(array.dtype), array.dtype))
    with code.loop(ZERO, n) as i:
        with code.loop(ZERO, i, hint="j") as j:
            code.emit(f"{total} = {array.element((i, j)).text}")
            with code.loop(ZERO, j, hint="k") as k:
                code.emit(
                    f"{total} = {total} - {name}[{i.text}, {k.text}] * {name}[{j.text}, {k.text}]"
                )
            code.emit(f"{name}[{i.text}, {j.text}] = {total} / {name}[{j.text}, {j.text}]")
        code.emit(f"{total} = {array.element((i, i)).text}")
        with code.loop(ZERO, i, hint="k") as k:
            code.emit(
                f"{total} = {total} - {name}[{i.text}, {k.text}] * {name}[{i.text}, {k.text}]"
            )
        code.emit(f"{name}[{i.text}, {i.text}] = math.sqrt({total})")
    _suppose_of_all(t, result, n, ">")
    return result


def _suppose_of_all(t: Translator, matrix: Array, n: Int, symbol: str) -> None:
    """Leave it to Python to raise where an element of the diagonal does not compare so with nought.
    They are looked at in a loop of their own, so that the one before stays as the book knows it."""
    code = t.code
    with code.loop(ZERO, n) as i:
        pivot = matrix.element((i, i))
        zero = arith.convert(code, arith.constant(0.0), pivot.dtype)
        code.suppose(arith.compare(code, symbol, pivot, zero).text)


def _eliminate(t: Translator, matrix: Array, n: Int, right: Array | None, width: Int) -> str:
    """Gaussian elimination with the greatest pivot of each column, in place; gives the sign."""
    code = t.code
    best, pivot, sign = (code.fresh(h) for h in ("best_", "pivot_", "sign_"))
    code.emit(f"{sign} = 1.0")
    swapped = [(matrix, n)] + ([(right, width)] if right is not None else [])
    with code.loop(ZERO, n, hint="c") as c:
        code.emit(f"{best} = {bare(arith.absolute(code, matrix.element((c, c))).text)}")
        code.emit(f"{pivot} = {c.text}")
        with code.loop(c + 1, n, hint="r") as r:
            size = code.fresh("magnitude_")
            code.emit(f"{size} = {bare(arith.absolute(code, matrix.element((r, c))).text)}")
            with code.indented(f"if {size} > {best}:"):
                code.emit(f"{best} = {size}")
                code.emit(f"{pivot} = {r.text}")
        with code.indented(f"if {pivot} != {c.text}:"):
            code.emit(f"{sign} = -{sign}")
            for array, size in swapped:
                with _columns(code, ZERO, size, "k") as k:
                    here, there = (c, k), (Int.atom(pivot), k)
                    kept = code.let(array.element(here))
                    _put(t, array, here, array.element(there))
                    _put(t, array, there, kept)
        # Of a column of noughts LAPACK leaves the rest as it is, and so a determinant is nought.
        apart = nullcontext() if right is not None else code.indented(f"if {best} != 0.0:")
        with apart, code.loop(c + 1, n, hint="r") as r:
            quotient = arith.binary(code, "/", matrix.element((r, c)), matrix.element((c, c)))
            factor = code.let(quotient)
            for array, size in swapped:
                with _columns(code, c if array is matrix else ZERO, size, "k") as k:
                    _take(t, array, (r, k), arith.binary(code, "*", factor, array.element((c, k))))
    return sign


@contextmanager
def _columns(code: Code, first: Int, count: Int, hint: str = "i") -> Iterator[Int]:
    """A loop over columns. There is none for a single one: docc is wrong about bits of counts in
    programs with loops that run once, and other programs than those are refused as well."""
    if count == ONE:
        yield first
        return
    with code.loop(first, count, hint=hint) as k:
        yield k


def _put(t: Translator, array: Array, place: Index, value: Scalar) -> None:
    for line in nests.stores(array, place, value):
        t.code.emit(line)


def _take(t: Translator, array: Array, place: Index, value: Scalar) -> None:
    """Subtract from an element."""
    _put(t, array, place, arith.binary(t.code, "-", array.element(place), value))


def _solve(t: Translator, array: Array, right: Array, n: Int, width: Int) -> Array:
    code = t.code
    dtype = types.promote((array.dtype, False), (right.dtype, False))[0]
    matrix = whole(code.temporary((n, n), dtype), (n, n))
    x = whole(code.temporary((n, width), dtype), (n, width))
    nests.assign(code, matrix, array)
    nests.assign(code, x, right)
    _eliminate(t, matrix, n, x, width)
    _suppose_of_all(t, matrix, n, "!=")
    with code.loop(ZERO, n, hint="c") as back:
        r = n - 1 - back
        with code.loop(r + 1, n, hint="k") as k, _columns(code, ZERO, width) as j:
            product = arith.binary(code, "*", matrix.element((r, k)), x.element((k, j)))
            _take(t, x, (r, j), product)
        with _columns(code, ZERO, width) as j:
            quotient = arith.binary(code, "/", x.element((r, j)), matrix.element((r, r)))
            _put(t, x, (r, j), code.let(quotient))
    return x


def _inv_each(matrices):
    return np.array([np.linalg.inv(one) for one in matrices])


def _det_each(matrices):
    return np.array([np.linalg.det(one) for one in matrices])


def _solve_each(matrices, rights):
    return np.array([np.linalg.solve(one, b) for one, b in zip(matrices, rights, strict=True)])


def _each(t: Translator, python: Callable[..., Any], *args: Value) -> Value | None:
    """The same for each of a row of matrices; None for one matrix."""
    from loopbook.frontend.inline import inline

    ranks = {value.rank if isinstance(value, Array) else 0 for value in args}
    return inline(t, python, list(args), {}, t.code.origin) if ranks == {3} else None


@lowers(np.linalg.solve)
def solve(t: Translator, a: Value, b: Value) -> Value:
    if (several := _each(t, _solve_each, a, b)) is not None:
        return several
    array, n = _matrix(t, a)
    right = t.array(b)
    if right.rank == 1:
        column = looked_at(right, (right.shape[0], ONE), ((ZERO, ((0, ONE),)),))
        found = _solve(t, array, column, n, ONE)
        return looked_at(found, (n,), ((ZERO, ((0, ONE),)), (ZERO, ())))
    return _solve(t, array, right, n, right.shape[1])


@lowers(np.linalg.inv)
def inv(t: Translator, a: Value) -> Value:
    from loopbook.frontend.constructs.creation import eye

    if (several := _each(t, _inv_each, a)) is not None:
        return several
    array, n = _matrix(t, a)
    return _solve(t, array, t.array(eye(t, arith.whole(n), dtype=Thing(array.dtype))), n, n)


@lowers(np.linalg.det)
def det(t: Translator, a: Value) -> Value:
    if (several := _each(t, _det_each, a)) is not None:
        return several
    array, n = _matrix(t, a)
    code = t.code
    matrix = whole(code.temporary((n, n), array.dtype), (n, n))
    nests.assign(code, matrix, array)
    product = code.fresh("det_")
    sign = _eliminate(t, matrix, n, None, ZERO)
    code.emit(f"{product} = {sign}")
    with code.loop(ZERO, n) as i:
        code.emit(f"{product} = {product} * {matrix.element((i, i)).text}")
    return Scalar(product, array.dtype)
