"""Which accumulations in loops are products of matrices, and how arrays hold these."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as pairs

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.expr import ONE, Polynomial
from loopbook.program.inside import Around, is_never_negative
from loopbook.steps.accumulation import Element


@dataclass(frozen=True)
class Extent:
    """How often a loop runs.

    Attributes:
        begin: the first value of its variable.
        exact: where it ends at the least of several bounds, that is one opaque symbol.
        most: what it is not more than, each of them.
    """

    begin: str
    exact: Polynomial
    most: tuple[Polynomial, ...]

    @classmethod
    def between(cls, lows: Sequence[Polynomial], highs: Sequence[Polynomial]) -> Extent:
        """Of a loop that counts by ones from the greatest of `lows` to the least of `highs`."""
        most = tuple(expr.plus(high, low, -1) for high, low in pairs(highs, lows))
        low, high = expr.largest(map(expr.text, lows)), expr.smallest(map(expr.text, highs))
        return cls(low, expr.polynomial(f"{high} - {low}"), most)

    def times(self, other: Extent) -> Extent:
        """Of two loops in each other."""
        most = tuple(expr.product(a, b) for a, b in pairs(self.most, other.most))
        return Extent(self.begin, expr.product(self.exact, other.exact), most)

    @property
    def constant(self) -> int | None:
        """A number that it is not more than; None if none is known."""
        numbers = [most.get((), 0) for most in self.most if most.keys() <= {()}]
        return min(numbers, default=None)


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
class Axis:
    """Loops that together count one dimension of a product.

    Attributes:
        loops: variables, outermost first.
        extent: how often they run.
    """

    loops: tuple[str, ...]
    extent: Extent

    @property
    def size(self) -> str:
        return expr.text(self.extent.exact)


@dataclass(frozen=True)
class Product:
    """``result += left @ right``.

    Attributes:
        rows, columns: of the result.
        inner: columns of the left matrix, rows of the right one.
    """

    rows: Axis
    columns: Axis
    inner: Axis
    left: Matrix
    right: Matrix
    result: Matrix

    @property
    def loops(self) -> frozenset[str]:
        """The variables of the loops that count them."""
        return frozenset((*self.rows.loops, *self.columns.loops, *self.inner.loops))


@dataclass(frozen=True)
class _Strided:
    """An element, and how far it moves in memory.

    Attributes:
        along: loop variable to how far it moves with it; without those it does not move with.
    """

    element: Element
    along: Mapping[str, Polynomial]


def product(
    target: Element, factors: Sequence[Element], extents: Mapping[str, Extent], around: Around = ()
) -> Product:
    """The product that loops add up; loops that are left over are around it.

    Args:
        target: to which the product of the two `factors` is added.
        extents: loop variable to how often the loop runs, outermost first.
        around: what is known of the variables of loops around all of these.

    Raises:
        IllegalStepError: it is none, or its matrices are not known to be stored in rows.
    """
    result, *others = (_strided(element, extents) for element in (target, *factors))
    left, right = _sides(result, others)
    row = _axis((result, left), right, extents)
    column = _axis((result, right), left, extents)
    inner = _axis((left, right), result, extents)
    counted = frozenset((*row.loops, *column.loops, *inner.loops))
    starts = {name: f"({extents[name].begin})" for name in counted}
    return Product(
        rows=row,
        columns=column,
        inner=inner,
        left=_matrix(left, row, inner, starts, around),
        right=_matrix(right, inner, column, starts, around),
        result=_matrix(result, row, column, starts, around),
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
    moving: tuple[_Strided, _Strided], still: _Strided, extents: Mapping[str, Extent]
) -> Axis:
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
    axis = Axis((last,), extents[last])
    for name in reversed(names):
        step = axis.extent.exact
        if any(one.along[name] != expr.product(one.along[last], step) for one in moving):
            break
        axis = Axis((name, *axis.loops), extents[name].times(axis.extent))
    return axis


def _matrix(
    array: _Strided, row: Axis, column: Axis, starts: Mapping[str, str], around: Around
) -> Matrix:
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
        rooms = (expr.plus(leading, most, -1) for most in inner.extent.most)
        if array.along[inner.loops[-1]] == ONE and any(is_never_negative(r, around) for r in rooms):
            return Matrix(data, transposed, leading, start)
    raise IllegalStepError(f"{data} is not stored in rows that are apart")
