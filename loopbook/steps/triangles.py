"""Products of which only a triangle is wanted, computed in full beside the arrays.

A library multiplies rectangles. Where a tile around the loops says how large the triangle can be,
its bounding box is small: the product of that is computed in a local array, of which the triangle
is added to the result. (SYRK on top of GEMM: Kågström, Ling and Van Loan, ACM TOMS 24(3), 1998.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from loopbook.errors import IllegalStepError
from loopbook.program import expr, tree
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.types import Type
from loopbook.steps.accumulation import Element
from loopbook.steps.editor import BYTES, MAX_BYTES, Editor
from loopbook.steps.products import Extent, Matrix, Product

Ends = tuple[Sequence[Polynomial], Sequence[Polynomial]]
"""What a loop begins at, the greatest of them, and what it runs up to, the least of them."""


@dataclass(frozen=True)
class Boxes:
    """The ranges that loops run through, whatever the others do.

    Attributes:
        extents: by variable, in the order of the loops.
        triangle: a loop, and the one in it of which the bounds speak of its variable; or nothing.
        ends: by variable of the triangle, where the loops begin and end.
    """

    extents: dict[str, Extent]
    triangle: tuple[tree.Loop, ...]
    ends: dict[str, Ends] = field(default_factory=dict)

    def squared(self, what: Product) -> dict[str, Extent]:
        """The ranges, but for a triangle next to the diagonal of a product of a matrix with its own
        transpose those of a square with the diagonal in it.

        Such a square is symmetric, and a library computes one half of it (`loopbook.sdfg.gram`).
        All its rows are among those that the triangle needs: the first for one of its sides, the
        last for the other.
        """
        (row, *more), (column, *others) = what.rows.loops, what.columns.loops
        if not _is_gram(what) or more or others or {row, column} != {*self.ends}:
            return self.extents
        apart = expr.plus(what.right.start, what.left.start, -1)
        begin, other = (expr.polynomial(self.extents[name].begin) for name in (row, column))
        shift = expr.plus(expr.plus(apart, other, -1), begin)
        (low, high), (left, right) = self.ends[row], self.ends[column]
        if apart == {(): 1}:
            high = [expr.plus(end, shift) for end in right]
            left = [expr.plus(end, shift, -1) for end in low]
        elif apart == {(): -1}:
            low = [expr.plus(end, shift) for end in left]
            right = [expr.plus(end, shift, -1) for end in high]
        else:
            return self.extents
        square = {row: Extent.between(low, high), column: Extent.between(left, right)}
        return self.extents | square


def _is_gram(what: Product) -> bool:
    """Whether rows of a matrix are multiplied by rows of the same one."""
    left, right = what.left, what.right
    turned = left.transposed != right.transposed
    return turned and left.data == right.data and left.leading == right.leading


def boxes(loops: Sequence[tree.Loop]) -> Boxes:
    """How often loops that count by ones run.

    Args:
        loops: in each other, outermost first.

    Raises:
        IllegalStepError: they count in another way, or more than one depends on another one.
    """
    variables = {loop.variable for loop in loops}
    extents: dict[str, Extent] = {}
    triangle: tuple[tree.Loop, ...] = ()
    ends: dict[str, Ends] = {}
    for loop in loops:
        bounds = loop.bounds
        if bounds.step != 1 or not bounds.highs:
            raise IllegalStepError(f"{loop.variable} does not count to bounds by ones")
        of = {name for b in (*bounds.lows, *bounds.highs) for name in expr.mentioned(b)} & variables
        if not of:
            extents[loop.variable] = Extent.between(bounds.lows, bounds.highs)
            continue
        outer = [other for other in loops if other.variable in of]
        if triangle or len(outer) != 1:
            raise IllegalStepError("bounds depend on more than one other loop")
        triangle = (*outer, loop)
        (first,) = of
        ends = dict(zip((first, loop.variable), _box(outer[0], loop), strict=True))
        extents |= {name: Extent.between(*between) for name, between in ends.items()}
    return Boxes(extents, triangle, ends)


def _box(outer: tree.Loop, inner: tree.Loop) -> tuple[Ends, Ends]:
    """The smallest rectangle around all that two loops run through."""
    row, around, own = outer.variable, outer.bounds, inner.bounds
    lows, highs = list(around.lows), list(around.highs)
    for low in own.lows:
        for high in own.highs:  # rows where there is nothing may lie outside of the arrays
            room = expr.plus(high, low, -1)
            match room.get((row,), 0):
                case 0:
                    pass
                case 1:
                    lows.append(expr.plus({(): 1}, expr.plus(room, {(row,): 1}, -1), -1))
                case -1:
                    highs.append(expr.plus(room, {(row,): 1}))
                case _:
                    raise IllegalStepError("the triangle is no plain one")
    last = [expr.plus(high, {(): -1}) for high in highs]
    return (
        (_distinct(lows), _distinct(highs)),
        (
            _distinct(at for low in own.lows for at in _at(low, row, lows, last)),
            _distinct(at for high in own.highs for at in _at(high, row, last, lows)),
        ),
    )


def _at(
    bound: Polynomial, row: str, rising: Sequence[Polynomial], falling: Sequence[Polynomial]
) -> list[Polynomial]:
    """A bound where it leaves most room."""
    factor = bound.get((row,), 0)
    rest = expr.plus(bound, {(row,): factor}, -1)
    if row in expr.mentioned(rest):
        raise IllegalStepError("the triangle is no plain one")
    if not factor:
        return [bound]
    ends = rising if factor > 0 else falling
    return [expr.plus(rest, end, factor) for end in ends]


def _distinct(forms: Iterable[Polynomial]) -> list[Polynomial]:
    return list({frozenset(form.items()): form for form in forms}.values())


@dataclass(frozen=True)
class Beside:
    """A local array for the whole box of a triangle.

    Attributes:
        matrix: how it holds the product.
        type: of it, as memlets have it.
        added: loops that add the triangle to the result.
    """

    matrix: Matrix
    type: Type
    added: tree.Loop

    @classmethod
    def of(
        cls, editor: Editor, what: Product, target: Element, triangle: Sequence[tree.Loop]
    ) -> Beside:
        """The array for a product.

        Raises:
            IllegalStepError: the triangle is not one of the result, or may be too large.
        """
        axes = what.rows, what.columns
        if {loop.variable for loop in triangle} != {name for axis in axes for name in axis.loops}:
            raise IllegalStepError("the bounds of what is added up depend on other loops")
        height, width = (axis.extent.constant for axis in axes)
        element = editor.element_type(target.data)
        if not height or not width or BYTES[element.dtype] * height * width > MAX_BYTES:
            raise IllegalStepError("the triangle is not known to be small")
        name, kind = editor.stack_array(f"{target.data}_box", element, height * width)
        row, column = (expr.polynomial(f"{axis.loops[0]} - ({axis.extent.begin})") for axis in axes)
        place = expr.text(expr.plus(column, row, width))
        at = (Expr(target.index),)
        body: tree.Node = editor.added((name, place), (target.data, at), kind)
        for loop in reversed(triangle):
            loop = replace(loop, id=editor.new_number(""))
            body = replace(loop, body=replace(loop.body, children=(body,)))
        assert isinstance(body, tree.Loop)
        return cls(Matrix(name, False, {(): width}, {}), kind, body)
