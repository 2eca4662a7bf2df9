"""Which iteration writes an element: a flat index as digits of a mixed radix.

The loops ``for i < n: for j < m: t[m*i + j] = …`` write element ``m*i + j`` in iteration (i, j),
and no other. What is read as ``t[m*r + c + 1]`` was written in iteration (r, c + 1), if there is
such a one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopbook.dependence import holds
from loopbook.dependence.linear import from_polynomial
from loopbook.dependence.model import Linear
from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.expr import ONE, Expr, Polynomial
from loopbook.program.tree import Loop


@dataclass(frozen=True)
class Radix:
    """How the iterations of a perfect nest are numbered by the elements that they write.

    Attributes:
        strides, lows, highs: of each loop, outermost first.
        order: the loops' places by stride, the largest first.
        start: the index where all variables are 0.
    """

    strides: tuple[Polynomial, ...]
    lows: tuple[Polynomial, ...]
    highs: tuple[Polynomial, ...]
    order: tuple[int, ...]
    start: Polynomial

    @classmethod
    def of(cls, index: Expr, loops: Sequence[Loop]) -> Radix:
        """The numbering of a nest by the index that it writes.

        Raises:
            SdfgError: two iterations may write the same element, or bounds depend on each other.
        """
        variables = [loop.variable for loop in loops]
        terms = index.polynomial
        strides: list[dict] = [{} for _ in loops]
        start: dict = {}
        for monomial, factor in terms.items():
            inside = [name for name in monomial if name in variables]
            hidden = [s for s in monomial if not s.isidentifier()]
            if len(inside) > 1 or any(set(expr.symbols(s)) & set(variables) for s in hidden):
                raise SdfgError("its index is not linear in the loops' variables")
            if not inside:
                start[monomial] = factor
                continue
            rest = list(monomial)
            rest.remove(inside[0])
            strides[variables.index(inside[0])][tuple(rest)] = factor
        lows, highs = [], []
        for loop in loops:
            found = loop.bounds
            if len(found.lows) != 1 or len(found.highs) != 1:
                raise SdfgError("its loops have more than one bound")
            for bound in (found.lows[0], found.highs[0]):
                if expr.mentioned(bound) & set(variables):
                    raise SdfgError("its loops depend on each other")
            lows.append(found.lows[0])
            highs.append(found.highs[0])
        order = _nested(
            strides, [expr.plus(h, low, -1) for h, low in zip(highs, lows, strict=True)]
        )
        return cls(tuple(strides), tuple(lows), tuple(highs), order, start)

    @property
    def elements(self) -> tuple[Polynomial, list[tuple[Polynomial, Polynomial]]]:
        """Which elements they write: the first one, and by how much and how often it goes on, the
        largest strides first."""
        start = self.start
        for stride, low in zip(self.strides, self.lows, strict=True):
            start = expr.plus(start, expr.product(stride, low))
        return start, [
            (self.strides[place], expr.plus(self.highs[place], self.lows[place], -1))
            for place in self.order
        ]

    @property
    def symbols(self) -> frozenset[str]:
        """The sizes and scalars that say which elements these are."""
        start, dimensions = self.elements
        forms = [start, *(form for pair in dimensions for form in pair)]
        return frozenset(name for form in forms for name in expr.mentioned(form))

    def digits(
        self, index: Expr, known: Sequence[Linear], variables: frozenset[str]
    ) -> list[Polynomial]:
        """The variables' values in the iteration that wrote an element.

        Args:
            index: of the element.
            known: what is 0 or more where it is read.
            variables: of the loops there.

        Raises:
            SdfgError: it is not known, or may be none of the iterations.
        """
        rest = expr.plus(index.polynomial, self.start, -1)
        found: list[Polynomial] = [{} for _ in self.order]
        for place in self.order:
            found[place], rest = expr.divided(rest, self.strides[place])
        if rest:
            raise SdfgError("the index that is read is another one than what was written")
        for digit, low, high in zip(found, self.lows, self.highs, strict=True):
            above = expr.plus(digit, low, -1)
            below = expr.plus(expr.plus(high, digit, -1), ONE, -1)
            for form in (above, below):
                if not holds(known, from_polynomial(form, variables)):
                    raise SdfgError("what is read may not have been written")
        return found


def _nested(strides: Sequence[Polynomial], extents: Sequence[Polynomial]) -> tuple[int, ...]:
    """The dimensions by stride, the largest first: each as large as all smaller ones together.

    Raises:
        SdfgError: they are not.
    """
    waiting = dict(enumerate(strides))
    order: list[int] = []
    size: Polynomial = ONE
    while waiting:
        place = next((p for p, stride in waiting.items() if stride == size), None)
        if place is None:  # there may be gaps between rows
            smallest = (
                p
                for p, stride in waiting.items()
                if all(_at_least(other, stride) for other in waiting.values())
            )
            place = next(smallest, None)
        if place is None or not (strides[place] == size or _at_least(strides[place], size)):
            raise SdfgError("its elements do not lie in rows")
        del waiting[place]
        order.append(place)
        size = expr.product(strides[place], extents[place])
    return tuple(reversed(order))


def _at_least(one: Polynomial, two: Polynomial) -> bool:
    """Whether a polynomial of sizes is as large as another one wherever all sizes are 1 or more."""
    return all(factor >= 0 for factor in expr.over_one(expr.plus(one, two, -1)).values())
