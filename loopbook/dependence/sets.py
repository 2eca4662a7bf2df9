"""Whether integers satisfy linear constraints."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from loopbook.dependence.engine import Column, question
from loopbook.dependence.model import Linear, plus, shifted
from loopbook.errors import DependenceError

_Row = frozenset[tuple[str, int]]

DEEP = 3
"""Known forms that are added up before isl is asked. A bound of a tile in a tile takes three."""


def empty(equations: Iterable[Linear], inequalities: Iterable[Linear]) -> bool:
    """Whether no integers make all `equations` 0 and all `inequalities` 0 or more.

    What is too large to be decided counts as not empty.
    """
    return _empty(
        frozenset(frozenset(form.items()) for form in equations),
        frozenset(frozenset(form.items()) for form in inequalities),
    )


def holds(known: Collection[Linear], form: Linear) -> bool:
    """Whether a form is 0 or more wherever the known ones are.

    Most questions need no isl: a form that some known ones add up to holds, and one that has no
    bound in some direction does not.
    """
    if not _is_bounded(known, form):  # what adds up to it bounds it
        return False
    return _holds(
        frozenset(frozenset(row.items()) for row in known),
        frozenset(form.items()),
    )


def adds_up(known: Collection[Linear], form: Linear) -> bool:
    """Whether a form is 0 or more since some known ones add up to it. `holds` may know better, but
    asks isl: this is for where a wrong "no" costs nothing.
    """
    return _is_bounded(known, form) and _adds_up(known, form, DEEP)


@lru_cache(maxsize=4096)
def _holds(rows: frozenset[_Row], row: _Row) -> bool:
    """`holds`, remembered: recipes ask of the same loops in other orders."""
    known: list[Linear] = list(map(dict, rows))
    form = dict(row)
    if _adds_up(known, form, DEEP):
        return True
    below = shifted({symbol: -factor for symbol, factor in form.items()}, -1)
    return empty([], [*known, below])


def _adds_up(known: Collection[Linear], form: Linear, depth: int) -> bool:
    """Whether a form is a sum of some known ones, as often as they are needed, and of a constant
    that is not negative: each takes away a symbol."""
    symbol = next((symbol for symbol in form if symbol), None)
    if symbol is None:
        return form.get("", 0) >= 0
    factor = form[symbol]
    return depth > 0 and any(
        _adds_up(known, plus(form, row, -(factor // row[symbol])), depth - 1)
        for row in known
        if row.get(symbol, 0) * factor > 0 and factor % row[symbol] == 0
    )


def _is_bounded(known: Collection[Linear], form: Linear) -> bool:
    """Whether, for each symbol of a form, something known bounds it on the side on which the form
    falls. Where nothing does, the symbol may go on that way for ever, unless what is known cannot
    be at all; that is not asked then."""
    return all(
        not symbol or any(row.get(symbol, 0) * factor > 0 for row in known)
        for symbol, factor in form.items()
    )


def same_points(one: Iterable[Linear], two: Iterable[Linear]) -> bool:
    """Whether the same integers make all forms of one, and all of the other, 0 or more."""
    first, second = list(one), list(two)
    return all(row in second or holds(second, row) for row in first) and all(
        row in first or holds(first, row) for row in second
    )


@lru_cache(maxsize=4096)
def _empty(equations: frozenset[_Row], inequalities: frozenset[_Row]) -> bool:
    forms = [*equations, *inequalities]
    names = dict.fromkeys(symbol for form in forms for symbol, _ in form if symbol)
    try:
        with question() as engine:
            space = engine.isl.Space.set_alloc(engine.context, 0, len(names))
            columns: dict[str, Column] = {n: (engine.sink, i) for i, n in enumerate(names)}
            local = engine.isl.LocalSpace.from_space(space)
            system = engine.isl.BasicSet.universe(space)
            for number, form in enumerate(forms):
                row = engine.constraint(
                    local, columns, dict(form), equation=number < len(equations)
                )
                system = system.add_constraint(row)
            return system.is_empty()
    except DependenceError:
        return False
