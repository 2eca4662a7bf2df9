"""Items by key: what `loopbook.frontend.keyed` has found to be such.

Before::

    best = max(range(n), key=lambda i: a[i] * b[i])

After::

    for i0 in range(n):
        items_0[i0] = a[i0] * b[i0]
    best = np.argmax(items_0)

Keys are numbers, and none of them is NaN, or the call is Python's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, lists
from loopbook.frontend.expressions import wrapped
from loopbook.frontend.indexing import load_at
from loopbook.frontend.keyed import greatest_by, least_by, sorted_by
from loopbook.frontend.loops import Range
from loopbook.frontend.operators import lift, operate
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Listing, Thing, Value


def _best(function: Callable[..., object]) -> Callable[..., Value]:
    def lowering(t: Translator, through: Value, keys: Value) -> Value:
        line = _line(t, keys)
        if line.dtype.kind == "f":  # of NaN the greatest is NaN
            greatest = t.code.let(t.number(FUNCTIONS[np.max](t, line)))
            t.code.suppose(f"math.fabs({greatest.text}) >= 0.0")
        place = t.code.let(t.number(FUNCTIONS[function](t, line)))
        if isinstance(through, Thing) and isinstance(through.value, Range):
            return replace(t.number(_numbers(t, through.value, place)), weak=True)
        if isinstance(through, Listing):
            return lists.item_at(t, through, [place])
        return load_at(t, t.array(through), [place])

    return lowering


lowers(greatest_by)(_best(np.argmax))
lowers(least_by)(_best(np.argmin))


@lowers(sorted_by)
def sorted_by_(
    t: Translator, through: Value, keys: Value, *, reverse: Value | None = None
) -> Value:
    """Items whose keys are the same stay in their order, whichever way the others go."""
    line = _line(t, keys)
    down = reverse is not None and t.python(reverse)
    if down:
        symbol = "-" if line.dtype.kind == "f" else "~"  # there is no - of the least number
        line = t.stored(t.array(lift(t, lambda a: arith.unary(t.code, symbol, a), line)))
    order = t.array(FUNCTIONS[np.argsort](t, line, kind=wrapped("stable")))
    if line.dtype.kind == "f":  # NaN comes last
        last = t.code.let(order.element((order.shape[0] - 1,)))
        t.code.suppose(f"math.fabs({line.element((Int.atom(last.text),)).text}) >= 0.0")
    if isinstance(through, Thing) and isinstance(through.value, Range):
        made, weak = _numbers(t, through.value, order), True
    elif isinstance(through, Listing) or not isinstance(through, Array):
        raise t.code.fail("sorted() by key of what is no range or array")
    else:
        made, weak = load_at(t, through, [order]), False
    return lists.of_numbers(t, "ordered", t.array(made), weak)


def _line(t: Translator, keys: Value) -> Array:
    """The keys in memory."""
    line = t.array(keys)
    if line.rank != 1 or line.dtype.kind not in "biuf":
        raise t.code.fail("keys that are no numbers")
    return t.stored(line)


def _numbers(t: Translator, ends: Range, places: Value) -> Value:
    """What stands at places of a range."""
    steps = operate(t, ast.Mult, places, arith.constant(ends.step))
    return operate(t, ast.Add, steps, arith.whole(ends.start))
