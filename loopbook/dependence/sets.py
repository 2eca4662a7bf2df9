"""Whether integers satisfy linear constraints."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from loopbook.dependence.engine import Column, question
from loopbook.dependence.model import Linear, shifted
from loopbook.errors import DependenceError

_Row = frozenset[tuple[str, int]]


def empty(equations: Iterable[Linear], inequalities: Iterable[Linear]) -> bool:
    """Whether no integers make all `equations` 0 and all `inequalities` 0 or more.

    What is too large to be decided counts as not empty.
    """
    return _empty(
        frozenset(frozenset(form.items()) for form in equations),
        frozenset(frozenset(form.items()) for form in inequalities),
    )


def holds(known: Collection[Linear], form: Linear) -> bool:
    """Whether a form is 0 or more wherever the known ones are."""
    if not form or (form.keys() == {""} and form[""] >= 0) or form in known:
        return True
    below = shifted({symbol: -factor for symbol, factor in form.items()}, -1)
    return empty([], [*known, below])


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
