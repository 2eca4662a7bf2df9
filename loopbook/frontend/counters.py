"""Loops that go through several counters at once, as loops in each other.

Before::

    for i, j in np.ndindex(n, m):           for i, j in itertools.combinations(range(n), 2):
        A[i, j] = i - j                         d = d + x[i] * x[j]

After, as if it had been written::

    for i in range(n):                      for i in range(n):
        for j in range(m):                      for j in range(i + 1, n):
            A[i, j] = i - j                         d = d + x[i] * x[j]
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from loopbook.frontend import arith
from loopbook.frontend.desugar import breaks
from loopbook.frontend.liveness import stores
from loopbook.frontend.symbols import Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Thing, Value


@dataclass(frozen=True)
class Counters:
    """What ``np.ndindex`` and the like give.

    Attributes:
        sides: what each counter goes through.
        rising: where all counters end that each begin behind the one before, if they do.
        elements: of which the loop is given one for each iteration as well, with the counters.
    """

    sides: tuple[Value, ...]
    rising: Int | None = None
    elements: Array | None = None


def nested(t: Translator, node: ast.For, counters: Counters) -> ast.For:
    """The loops that stand for one over several counters.

    Raises:
        LoweringError: if it is left before its end: that would leave the innermost one only.
    """
    if breaks(node.body):
        raise t.code.fail("break out of a loop over several counters; use loops in each other")
    env, number = t.frame.env, len(counters.sides)
    tag = f"{node.lineno}_{node.col_offset}"
    targets, body = _counters(node, counters, tag)
    given = [f"counters_{place}_{tag}" for place in range(number)]
    for name, side in zip(given, counters.sides, strict=True):
        env[name] = side
    if counters.elements is not None:
        env[f"elements_{tag}"] = counters.elements
    if counters.rising is not None:
        env[f"range_{tag}"] = Thing(range)
        env[f"stop_{tag}"] = arith.whole(counters.rising)
    made: list[ast.stmt] = body
    for place in reversed(range(number)):
        source: ast.expr = ast.Name(given[place], ast.Load())
        if counters.rising is not None and place:
            text = f"range_{tag}({targets[place - 1]} + 1, stop_{tag})"
            source = ast.parse(text, mode="eval").body
        loop = ast.For(ast.Name(targets[place], ast.Store()), source, made, [])
        made = [ast.fix_missing_locations(ast.copy_location(loop, node))]
    outermost = made[0]
    assert isinstance(outermost, ast.For)
    t.frame.live.replaced(node, [outermost])
    return outermost


def _counters(node: ast.For, counters: Counters, tag: str) -> tuple[list[str], list[ast.stmt]]:
    """Names for the counters, the loop's own where that is the same, and the body with them."""
    count, target = len(counters.sides), node.target
    element: ast.expr | None = None
    if counters.elements is not None and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target, element = target.elts
    own = _names(target)
    same = len(own) == count == len(set(own)) and not set(own) & stores(node.body)
    if counters.elements is not None and element is None:
        same = False
    names = own if same else [f"counter_{place}_{tag}" for place in range(count)]
    place = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
    found = ast.Subscript(ast.Name(f"elements_{tag}", ast.Load()), place, ast.Load())
    made: list[ast.stmt] = []
    if element is not None:
        made.append(ast.Assign([element], found))
    if not same and counters.elements is not None and element is None:
        made.append(ast.Assign([target], ast.Tuple([place, found], ast.Load())))
    elif not same:
        made.append(ast.Assign([target], place))
    for statement in made:
        ast.fix_missing_locations(ast.copy_location(statement, node))
    return names, [*made, *node.body]


def _names(target: ast.expr) -> list[str]:
    """The names in a target that is a tuple of such; none for others."""
    parts = target.elts if isinstance(target, ast.Tuple) else []
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []
