"""``for`` and ``while``.

Before::

    for row in A:                   for k in range(n - 1, -1, -2):
        total = total + row.sum()       x[k] = total

After::

    total_0 = 0.0                   for i0 in range(n - 1, -1, -2):
    for i0 in range(A.shape[0]):        x[i0] = total_0
        ...
        total_0 = total_0 + sum_0
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from loopbook.frontend import arith
from loopbook.frontend.code import UnrollError, bare, is_empty
from loopbook.frontend.liveness import rebinds, stores
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Scalar, Thing, Tup, Value


def for_(t: Translator, node: ast.For) -> None:
    """A loop over a range, the rows of an array, or the items of a tuple (written out)."""
    iterable = t.expr(node.iter)
    if isinstance(iterable, Thing) and isinstance(iterable.value, Range):
        ends = iterable.value
        _loop(t, node, ends.start, ends.stop, ends.step, arith.whole)
    elif isinstance(iterable, Array) and iterable.rank:
        from loopbook.frontend.indexing import load_at

        rows = iterable if iterable.view is not None else t.array(iterable)
        if rows.view is None:
            rows = t.stored(rows)
        _loop(t, node, ZERO, rows.shape[0], 1, lambda i: load_at(t, rows, [arith.whole(i)]))
    elif isinstance(iterable, Tup):
        kept, t.frame.unrolled = t.frame.unrolled, True
        for item in iterable.items:
            t.store(node.target, item)
            t.body(node.body)
        t.frame.unrolled = kept
    else:
        raise t.code.fail(f"a loop over {ast.unparse(node.iter)}; use range")


MOST_WRITTEN_OUT = 32
"""Most iterations of a loop that is written out because something in it needs the number."""


class Range:
    """What ``range(…)`` gives."""

    def __init__(self, start: Int, stop: Int, step: int) -> None:
        self.start, self.stop, self.step = start, stop, step


def _homes(t: Translator, node: ast.For | ast.While) -> list[tuple[str, bool]]:
    """Names that the loop carries from one iteration to the next or to what follows it."""
    head = t.frame.live.head.get(id(node), frozenset())
    after = t.frame.live.after.get(id(node), frozenset())
    own = stores([node.target]) if isinstance(node, ast.For) else frozenset()
    names = []
    for name in sorted(t.assigned(node.body) | own):
        bound = name in t.frame.env
        if name in head and bound and name not in own:
            names.append((name, False))
        elif name in after:
            names.append((name, not bound))
    return names


def _loop(
    t: Translator, node: ast.For, start: Int, stop: Int, step: int, item: Callable[[Int], Value]
) -> None:
    if is_empty(stop - start if step > 0 else start - stop):
        return
    t.settle_all()
    code, frame = t.code, t.frame
    kept = code.lines, len(code.lines), len(code.temporaries), dict(frame.env), code.depth
    unrolled = frame.unrolled
    try:
        _rolled(t, node, start, stop, step, item)
    except UnrollError:
        count = code.facts.known(stop - start)
        if step != 1 or count is None or not 0 <= count <= MOST_WRITTEN_OUT:
            raise
        code.lines, code.depth, code.memo = kept[0], kept[4], {}
        del code.lines[kept[1] :], code.temporaries[kept[2] :]
        frame.env = dict(kept[3])
        if not code.facts.zero(stop - start - count):
            raise
        frame.unrolled = True
        for place in range(count):
            t.store(node.target, item(start + place))
            t.body(node.body)
        frame.unrolled = unrolled


def _rolled(
    t: Translator, node: ast.For, start: Int, stop: Int, step: int, item: Callable[[Int], Value]
) -> None:
    hint = node.target.id + "_" if isinstance(node.target, ast.Name) else "i"
    kept, t.frame.unrolled = t.frame.unrolled, False

    def run() -> None:
        before = set(t.frame.env)
        with t.code.loop(start, stop, step, hint) as variable:
            t.store(node.target, _copied(t, node, item(variable)))
            t.body(node.body)
        _forget(t, node, before)

    t.with_homes(_homes(t, node), run)
    t.frame.unrolled = kept


def _copied(t: Translator, node: ast.For, value: Value) -> Value:
    if isinstance(value, Scalar) and value.whole is None:
        return t.code.let(value)
    return value


def _forget(t: Translator, node: ast.For | ast.While, before: set[str]) -> None:
    """Names that only mean something within an iteration."""
    own = stores([node.target]) if isinstance(node, ast.For) else frozenset()
    for name in rebinds(node.body) | own | (stores(node.body) - before):
        if name not in t.frame.homes:
            t.frame.env.pop(name, None)


def while_(t: Translator, node: ast.While) -> None:
    """A loop whose condition is computed anew before each iteration."""
    t.settle_all()
    kept, t.frame.unrolled = t.frame.unrolled, False

    def run() -> None:
        code, before = t.code, set(t.frame.env)
        with code.captured() as lines:
            condition = arith.truth(t.number(t.expr(node.test)))
        head = "while True:" if lines else f"while {bare(condition.text)}:"
        with code.indented(head):
            if lines:
                code.replay(lines)
                stop = arith.unary(code, "not", condition)
                with code.indented(f"if {bare(stop.text)}:"):
                    code.emit("break")
            t.body(node.body)
        _forget(t, node, before)

    t.with_homes(_homes(t, node), run)
    t.frame.unrolled = kept


__all__ = ["ONE", "Range", "for_", "while_"]
