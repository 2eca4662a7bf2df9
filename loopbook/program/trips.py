"""How often loops run, at given sizes."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.bounds import Bounds
from loopbook.program.expr import Polynomial
from loopbook.program.nest import Nest
from loopbook.program.shape import Shape


def trip_counts(nest: Nest, symbols: Mapping[str, int]) -> dict[str, int]:
    """Loop name to how often it runs each time it is reached; where that depends on loops around
    it, for a value in the middle of theirs.

    Args:
        symbols: values of the SDFG's size symbols. Loops whose bounds cannot be told from them are
            left out.
    """
    values: dict[str, float] = dict(symbols)
    counts: dict[str, int] = {}
    for loop in nest.loops:
        try:
            bounds = loop.bounds
            step = bounds.step or 1
            first = max(value(low, values) for low in bounds.lows)
            ends = list(_ends(bounds, loop.indvar, step, values))
            if ends:
                last = min(ends) if step > 0 else max(ends)
                counts[loop.name] = max(0, math.ceil((last - first) / step))
                values[loop.indvar] = (first + last) / 2
        except (SdfgError, KeyError, ValueError, ArithmeticError):
            continue
    return counts


def iterations(nest: Shape, trips: Mapping[str, int]) -> int | None:
    """How often the bodies of all innermost loops run together; None if that cannot be told.

    While loops, whose trips nobody knows, count as running once.

    Args:
        trips: what `trip_counts` gave. Loops that never run count as running once as well.
    """
    total = 0
    if "innermost" not in nest.notes:
        nest.notes["innermost"] = _innermost(nest)
    for around in nest.notes["innermost"]:
        product = 1
        for name, counted in around:
            if name in trips:
                product *= max(1, trips[name])
            elif counted:
                return None
        total += product
    return total


def _innermost(nest: Shape) -> list[list[tuple[str, bool]]]:
    """For each innermost loop the names of the loops around it, and whether their trips count."""
    inner = {loop.index for loop in nest.loops} - {loop.parent for loop in nest.loops}
    return [[(loop.name, loop.kind != "while") for loop in nest.ancestry(n)] for n in inner]


def _ends(bounds: Bounds, variable: str, step: int, values: Mapping[str, float]) -> Iterator[float]:
    """Where a loop's variable has to stop short of, for each part of its condition that tells."""
    for room in bounds.room:
        rest = dict(room)
        factor = rest.pop((variable,), 0)
        if factor * step < 0:
            gap = value(rest, values) + 1
            yield math.ceil(gap / -factor) if step > 0 else math.floor(-gap / factor)


def value(polynomial: Polynomial, values: Mapping[str, float]) -> float:
    """A polynomial's value.

    Raises:
        KeyError: it holds a symbol or function that is not known.
    """
    return sum(
        factor * math.prod(symbol_value(symbol, values) for symbol in monomial)
        for monomial, factor in polynomial.items()
    )


def symbol_value(text: str, values: Mapping[str, float]) -> float:
    """The value of what a polynomial takes for one symbol: a name, docc's floor division, the least
    or greatest of some."""
    if text in values:
        return values[text]
    match expr.parse(text):
        case ast.Call(func=ast.Name(id="idiv"), args=[over, under]):
            over, under = (
                value(expr.polynomial(ast.unparse(one)), values) for one in (over, under)
            )
            return math.floor(over / under)
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=args):
            found = [value(expr.polynomial(ast.unparse(one)), values) for one in args]
            return min(found) if name == "min" else max(found)
    raise KeyError(text)
