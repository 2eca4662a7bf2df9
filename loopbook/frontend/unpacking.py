"""One value for several targets.

Before::

    n, m = A.shape                  first, *rest = (a, b, c)            x, y, z = p

After, as if it had been written::

    n = A.shape[0]                  first = a                           x = p[0]
    m = A.shape[1]                  rest = [b, c]                       y = p[1]; z = p[2]
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from loopbook.frontend import arith
from loopbook.frontend.indexing import load_at
from loopbook.frontend.symbols import Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Tup, Value


def spread(
    t: Translator, targets: Sequence[ast.expr], value: Value
) -> Iterator[tuple[ast.expr, Value]]:
    """Each target with what it is assigned; one may take all that the others leave."""
    places = [n for n, target in enumerate(targets) if isinstance(target, ast.Starred)]
    if not places:
        yield from zip(targets, unpacked(t, value, len(targets)), strict=True)
        return
    left = len(value.items) - len(targets) + 1 if isinstance(value, Tup) else -1
    if not isinstance(value, Tup) or left < 0:
        raise t.code.fail("*names for what is no tuple, or too short a one")
    (at,), items = places, value.each()
    rest = Tup(items[at : at + left], True)
    given = (*items[:at], rest, *items[at + left :])
    for target, item in zip(targets, given, strict=True):
        yield target.value if isinstance(target, ast.Starred) else target, item


def unpacked(t: Translator, value: Value, count: int) -> tuple[Value, ...]:
    """The items of a tuple, or the rows of an array."""
    if isinstance(value, Tup):
        if len(value.items) != count:
            raise t.code.fail("unpacking the wrong number of values")
        return value.each()
    if isinstance(value, Array) and value.shape and t.code.facts.zero(value.shape[0] - count):
        return tuple(load_at(t, value, [arith.whole(Int.of(i))]) for i in range(count))
    raise t.code.fail("unpacking what is no tuple")
