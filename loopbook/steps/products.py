"""Which accumulations in loops are products of matrices, and how arrays hold these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.expr import Expr, Polynomial
from loopbook.steps.accumulation import Accumulation, Element

ONE: Polynomial = {(): 1}


@dataclass(frozen=True)
class Matrix:
    """How an array holds a matrix.

    Attributes:
        transposed: it holds the transpose.
        leading: elements from one stored row to the next.
        start: index of its first element, in which loops around the product may occur.
    """

    data: str
    transposed: bool
    leading: Polynomial
    start: Polynomial


@dataclass(frozen=True)
class Product:
    """``result += left @ right``.

    Attributes:
        rows, columns: of the result.
        inner: columns of the left matrix, rows of the right one.
        variables: of the loops that count them.
    """

    rows: Polynomial
    columns: Polynomial
    inner: Polynomial
    left: Matrix
    right: Matrix
    result: Matrix
    variables: frozenset[str]


@dataclass(frozen=True)
class _Axis:
    """Loops that together count one dimension of a product.

    Attributes:
        loops: variables, outermost first.
        extent: how often they run.
    """

    loops: tuple[str, ...]
    extent: Polynomial


@dataclass(frozen=True)
class _Strided:
    """An element, and how far it moves in memory.

    Attributes:
        along: loop variable to how far it moves with it; without those it does not move with.
    """

    element: Element
    along: Mapping[str, Polynomial]


def product(
    found: Accumulation, extents: Mapping[str, Polynomial], begins: Mapping[str, Expr]
) -> Product:
    """The product that loops add up; loops that are left over are around it.

    Args:
        extents: loop variable to how often the loop runs, outermost first.
        begins: and to where it begins.

    Raises:
        IllegalStepError: it is none, or its matrices are not known to be stored in rows.
    """
    target, *factors = (_strided(e, extents) for e in (found.target, *found.factors))
    left, right = _sides(target, factors)
    row = _axis((target, left), right, extents)
    column = _axis((target, right), left, extents)
    inner = _axis((left, right), target, extents)
    counted = frozenset((*row.loops, *column.loops, *inner.loops))
    starts = {name: f"({begin})" for name, begin in begins.items() if name in counted}
    return Product(
        rows=row.extent,
        columns=column.extent,
        inner=inner.extent,
        left=_matrix(left, row, inner, starts),
        right=_matrix(right, inner, column, starts),
        result=_matrix(target, row, column, starts),
        variables=counted,
    )


def _strided(element: Element, loops: Collection[str]) -> _Strided:
    """How an element moves.

    Raises:
        IllegalStepError: the index is not linear.
    """
    along: dict[str, dict[tuple[str, ...], int]] = {}
    for monomial, factor in expr.polynomial(element.index).items():
        moving = [symbol for symbol in monomial if symbol in loops]
        rest = tuple(symbol for symbol in monomial if symbol not in loops)
        if len(moving) > 1 or not expr.mentioned({rest: 1}).isdisjoint(loops):
            raise IllegalStepError(f"{element.data} is not indexed linearly")
        if moving:
            along.setdefault(moving[0], {})[rest] = factor
    return _Strided(element, along)


def _sides(target: _Strided, factors: Sequence[_Strided]) -> tuple[_Strided, _Strided]:
    """The factors: the one with the rows of what is added to, and the one with its columns.

    Raises:
        IllegalStepError: it has no neighbouring elements in rows, or they are no columns.
    """
    for left, right in (factors, factors[::-1]):
        columns = target.along.keys() & right.along.keys() - left.along.keys()
        if any(target.along[name] == ONE for name in columns):
            return left, right
    if ONE not in target.along.values():
        raise IllegalStepError("what is added to has no neighbouring elements in rows")
    raise IllegalStepError("the nest is no product of matrices")


def _axis(
    moving: tuple[_Strided, _Strided], still: _Strided, extents: Mapping[str, Polynomial]
) -> _Axis:
    """The loops that move two of the matrices, and not the third: of several those, from the
    innermost on, that lie in both like one.

    Raises:
        IllegalStepError: there are none.
    """
    first, second = moving
    names = [
        v for v in extents if v in first.along.keys() & second.along.keys() - still.along.keys()
    ]
    if not names:
        raise IllegalStepError("the nest is no product of matrices")
    last = names.pop()
    axis = _Axis((last,), extents[last])
    for name in reversed(names):
        if any(one.along[name] != _times(one.along[last], axis.extent) for one in moving):
            break
        axis = _Axis((name, *axis.loops), _times(extents[name], axis.extent))
    return axis


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    return expr.polynomial(f"{expr.text(a)}*{expr.text(b)}")


def _matrix(array: _Strided, row: _Axis, column: _Axis, starts: Mapping[str, str]) -> Matrix:
    """How an array holds the matrix with these rows and columns.

    Args:
        starts: where the loops that count them begin.

    Raises:
        IllegalStepError: rows are not apart, or not known to be.
    """
    data, index = array.element.data, array.element.index
    start = expr.polynomial(expr.substitute(index, starts))
    for transposed, outer, inner in ((False, row, column), (True, column, row)):
        leading = array.along[outer.loops[-1]]
        if array.along[inner.loops[-1]] == ONE and _at_least(leading, inner.extent):
            return Matrix(data, transposed, leading, start)
    raise IllegalStepError(f"{data} is not stored in rows that are apart")


def _at_least(stride: Polynomial, extent: Polynomial) -> bool:
    """Whether ``stride >= extent``, as far as is plain to see. A stride is made of an array's
    sizes, which are at least 1: each further one in a term makes it no smaller."""
    left = {m: stride.get(m, 0) - extent.get(m, 0) for m in {*stride, *extent}}
    for monomial in sorted(extent, key=len, reverse=True):
        for larger in stride:
            if left[monomial] < 0 and not Counter(monomial) - Counter(larger):
                moved = min(-left[monomial], max(left[larger], 0))
                left[monomial] += moved
                left[larger] -= moved
    return all(not f or (f > 0 and (not m or m in stride)) for m, f in left.items())
