"""Small dense linear algebra as loops: cholesky, solve, inv, det.

Before::

    L = np.linalg.cholesky(A)

After, row by row::

    for i ...: for j in range(i): L[i, j] = (A[i, j] - sum of L[i, k] * L[j, k]) / L[j, j]
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend import nests, types
from loopbook.frontend.constructs.elementwise import cast
from loopbook.frontend.registry import lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Buffer, Scalar, Value, looked_at, whole


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
    return result


def _eliminate(t: Translator, matrix: Buffer, n: Int, right: Buffer | None, width: Int) -> str:
    """Gaussian elimination with the greatest pivot of each column, in place; gives the sign."""
    code = t.code
    a = matrix.name
    best, pivot, factor, swap = (code.fresh(h) for h in ("best_", "pivot_", "factor_", "swap_"))
    sign = code.fresh("sign_")
    code.emit(f"{sign} = 1.0")
    pairs = [(a, n)] + ([(right.name, width)] if right is not None else [])
    with code.loop(ZERO, n, hint="c") as c:
        code.emit(f"{best} = math.fabs({a}[{c.text}, {c.text}])")
        code.emit(f"{pivot} = {c.text}")
        with code.loop(c + 1, n, hint="r") as r:
            here = f"math.fabs({a}[{r.text}, {c.text}])"
            code.emit(f"{factor} = {here}")
            with code.indented(f"if {factor} > {best}:"):
                code.emit(f"{best} = {factor}")
                code.emit(f"{pivot} = {r.text}")
        with code.indented(f"if {pivot} != {c.text}:"):
            code.emit(f"{sign} = -{sign}")
            for name, size in pairs:
                with code.loop(ZERO, size, hint="k") as k:
                    code.emit(f"{swap} = {name}[{c.text}, {k.text}]")
                    code.emit(f"{name}[{c.text}, {k.text}] = {name}[{pivot}, {k.text}]")
                    code.emit(f"{name}[{pivot}, {k.text}] = {swap}")
        with code.loop(c + 1, n, hint="r") as r:
            code.emit(f"{factor} = {a}[{r.text}, {c.text}] / {a}[{c.text}, {c.text}]")
            for name, size in pairs:
                with code.loop(c if name == a else ZERO, size, hint="k") as k:
                    place = f"{name}[{r.text}, {k.text}]"
                    code.emit(f"{place} = {place} - {factor} * {name}[{c.text}, {k.text}]")
    return sign


def _solve(t: Translator, array: Array, right: Array, n: Int, width: Int) -> Array:
    code = t.code
    matrix, x = code.temporary((n, n), array.dtype), code.temporary((n, width), array.dtype)
    nests.assign(code, whole(matrix, (n, n)), array)
    nests.assign(code, whole(x, (n, width)), right)
    _eliminate(t, matrix, n, x, width)
    with code.loop(ZERO, n, hint="c") as back:
        r = n - 1 - back
        with code.loop(r + 1, n, hint="k") as k, code.loop(ZERO, width) as j:
            place = f"{x.name}[{r.text}, {j.text}]"
            row = f"{matrix.name}[{r.text}, {k.text}]"
            code.emit(f"{place} = {place} - {row} * {x.name}[{k.text}, {j.text}]")
        with code.loop(ZERO, width) as j:
            place = f"{x.name}[{r.text}, {j.text}]"
            code.emit(f"{place} = {place} / {matrix.name}[{r.text}, {r.text}]")
    return whole(x, (n, width))


@lowers(np.linalg.solve)
def solve(t: Translator, a: Value, b: Value) -> Value:
    array, n = _matrix(t, a)
    right = t.array(b)
    if right.rank == 1:
        column = looked_at(right, (right.shape[0], ONE), ((ZERO, ((0, ONE),)),))
        found = _solve(t, array, column, n, ONE)
        return looked_at(found, (n,), ((ZERO, ((0, ONE),)), (ZERO, ())))
    return _solve(t, array, right, n, right.shape[1])


@lowers(np.linalg.inv)
def inv(t: Translator, a: Value) -> Value:
    from loopbook.frontend import arith
    from loopbook.frontend.constructs.creation import eye

    array, n = _matrix(t, a)
    return _solve(t, array, t.array(eye(t, arith.whole(n))), n, n)


@lowers(np.linalg.det)
def det(t: Translator, a: Value) -> Value:
    array, n = _matrix(t, a)
    code = t.code
    matrix = code.temporary((n, n), array.dtype)
    nests.assign(code, whole(matrix, (n, n)), array)
    product = code.fresh("det_")
    sign = _eliminate(t, matrix, n, None, ZERO)
    code.emit(f"{product} = {sign}")
    with code.loop(ZERO, n) as i:
        code.emit(f"{product} = {product} * {matrix.name}[{i.text}, {i.text}]")
    return Scalar(product, array.dtype)
