"""Short loops over the neighbours of an element, written out.

Before::

    for i in range(1, n - 1):
        low = a[i]
        for p in range(-1, 2):
            if a[i + p] < low:
                low = a[i + p]
        b[i] = low

After::

    for i in range(1, n - 1):
        low_0 = a[i]
        low_1 = a[i - 1] if a[i - 1] < low_0 else low_0
        low_2 = a[i] if a[i] < low_1 else low_1
        low_3 = a[i + 1] if a[i + 1] < low_2 else low_2
        b[i] = low_3

The loop around is the innermost one then, and computed in vectors; where the first and the last
iterations differ (``a[(i + p) % n]``), that is seen in its body (`edges`). Plain sums are written
out where all is translated (`short`).

So are loops of few updates of whole arrays, ``for p in range(3): out += w[p] * x[p : p + n]``,
which become one loop through all elements then: 3 by 3 weights over 600 by 700 numbers take 0.43 ms
instead of 0.97 (AVX-512, 2026-11-27).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from loopbook.frontend.loops import Range
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array
from loopbook.syntax import walk

MOST_COPIES = 25
"""Of a body: neighbourhoods of five by five."""

MOST_CODE = 500
"""Nodes of all copies' trees: 9 copies of a body took 0.2 s more to translate and to compile."""

_LEFT_OUT = ast.While | ast.Break | ast.Continue | ast.Return | ast.FunctionDef | ast.Lambda


def window(t: Translator, node: ast.For, ends: Range) -> int:
    """How many iterations of a loop to write out: all, if it is short, makes little code, and
    updates whole arrays or is in a loop that is not short and has tests, remainders, minima or
    maxima in its body; else 0."""
    count = (ends.stop - ends.start).constant or 0
    if ends.step != 1 or not 0 < count <= MOST_COPIES:
        return 0
    parts = [part for statement in node.body for part in walk(statement)]
    if any(isinstance(part, _LEFT_OUT) for part in parts):
        return 0
    around = t.code.trips[-1] if t.code.trips else None
    inside = around is not None and around.constant is None
    if not (_updates_arrays(t, node.body) or (inside and any(map(_branches, parts)))):
        return 0
    copies, code = _written(node.body)
    return count if count * copies <= MOST_COPIES and count * code <= MOST_CODE else 0


def _updates_arrays(t: Translator, body: Sequence[ast.stmt]) -> bool:
    """Whether statements, those in loops inside included, add something to arrays, or name it."""
    found = False
    for statement in body:
        match statement:
            case ast.For(body=inner, orelse=[]):
                if not _updates_arrays(t, inner):
                    return False
                found = True
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub()):
                if not isinstance(value := t.frame.env.get(name), Array) or not value.rank:
                    return False
                found = True
            case ast.Assign(targets=[ast.Name()]):
                pass
            case _:
                return False
    return found


def _written(body: Sequence[ast.stmt]) -> tuple[int, int]:
    """How often the innermost body stands there once short loops in it are written out, and how
    many nodes all have; more than there may be if it has other loops."""
    copies, code = 1, 0
    for statement in body:
        for part in walk(statement):
            code += 1
            if isinstance(part, ast.For):
                times = _times(part.iter)
                inner_copies, inner_code = _written(part.body)
                copies = max(copies, times * inner_copies)
                code += (times - 1) * inner_code
    return copies, code


def _times(iterable: ast.expr) -> int:
    """How often a loop runs whose ends are numbers; more often than it may for all others."""
    match iterable:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return len(items)
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if args:
            try:
                return len(range(*(ast.literal_eval(arg) for arg in args)))
            except (ValueError, TypeError):
                return MOST_COPIES + 1
    return MOST_COPIES + 1


def _branches(part: ast.AST) -> bool:
    match part:
        case ast.If() | ast.IfExp() | ast.Compare() | ast.BinOp(op=ast.Mod()):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in ("min", "max", "minimum", "maximum", "fmin", "fmax")
    return False
