"""``for`` and ``while``.

Before::

    for row in A:                   for k in range(n - 1, -1, -2):    for k, a in enumerate(x):
        total = total + row.sum()       x[k] = total                      s = s + k * a

After::

    total_0 = 0.0                   for i0 in range(n - 1, -1, -2):   for i0 in range(x.shape[0]):
    for i0 in range(A.shape[0]):        x[i0] = total_0                   s_0 = x[i0]
        ...                                                               s_1 = s_1 + i0 * s_0
        total_0 = total_0 + sum_0
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from loopbook.frontend import arith, lists, loose, sorts
from loopbook.frontend.code import HomelessError, Line, UnrollError, bare, is_empty
from loopbook.frontend.counters import Counters, nested
from loopbook.frontend.liveness import asked_of, rebinds, stores
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import INT
from loopbook.frontend.values import Array, Listing, Scalar, Thing, Tup, Value


def for_(t: Translator, node: ast.For) -> None:
    """A loop over a range, the rows of an array, or the items of a tuple (written out)."""
    iterable = t.expr(node.iter)
    if isinstance(iterable, Listing):
        iterable = Thing(lists.rows(t, iterable))
    if isinstance(iterable, Thing) and isinstance(iterable.value, Counters):
        t.statement(nested(t, node, iterable.value))
    elif isinstance(iterable, Thing) and isinstance(iterable.value, Range):
        from loopbook.frontend.edges import without_edges
        from loopbook.frontend.quotients import without_quotients
        from loopbook.frontend.swapping import without_swaps
        from loopbook.frontend.windows import window

        ends, instead = iterable.value, None
        if ends.step == 1:
            instead = without_swaps(t, node, ends.start, ends.stop)
            instead = instead or without_edges(t, node, ends.start, ends.stop)
            instead = instead or without_quotients(t, node, ends.start, ends.stop)
        if instead is not None:
            t.body(instead)
        elif count := window(t, node, ends):
            t.code.differs = True
            _each(t, node, (arith.whole(ends.start + place) for place in range(count)))
        else:
            _loop(t, node, ends.start, ends.stop, ends.step, arith.whole)
    elif isinstance(iterable, Thing) and isinstance(iterable.value, Rows):
        _loop(t, node, ZERO, iterable.value.count, 1, iterable.value.item)
    elif isinstance(iterable, Array) and iterable.rank:
        rows = rows_of(t, iterable)
        _loop(t, node, ZERO, rows.count, 1, rows.item)
    elif isinstance(iterable, Tup):
        _each(t, node, iterable.each())
    elif isinstance(iterable, Thing) and isinstance(iterable.value, str):
        _each(t, node, map(Thing, iterable.value))
    else:
        raise t.code.fail(f"a loop over {ast.unparse(node.iter)}; use range")


MOST_WRITTEN_OUT = 32
"""Most iterations of a loop that is written out because something in it needs the number."""


class Range:
    """What ``range(…)`` gives."""

    def __init__(self, start: Int, stop: Int, step: int) -> None:
        self.start, self.stop, self.step = start, stop, step

    def array(self) -> Value:
        """Its numbers as an array of indices, where they are neighbours."""
        if self.step != 1:
            return Thing(self)
        return Array((self.stop - self.start,), INT, lambda own: arith.whole(self.start + own[0]))


@dataclass(frozen=True)
class Rows:
    """What a loop goes through, an item for each iteration."""

    count: Int
    item: Callable[[Int], Value]


def rows_of(t: Translator, array: Array) -> Rows:
    """The rows of an array, or its numbers."""
    from loopbook.frontend.indexing import load_at

    found = array if array.view is not None else t.array(array)
    rows = found if found.view is not None else t.stored(found)
    return Rows(rows.shape[0], lambda i: load_at(t, rows, [arith.whole(i)]))


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
    count = stop - start if step > 0 else start - stop
    if is_empty(count) or (_leaves_given(t, node) and t.code.facts.nonnegative(count - 1) is False):
        return
    t.settle_all()
    begin_again = _beginning(t)
    try:
        _rolled(t, node, start, stop, step, item)
    except UnrollError:
        count = t.code.facts.known(stop - start)
        if step != 1 or count is None or not 0 <= count <= MOST_WRITTEN_OUT:
            raise
        begin_again()
        if not t.code.facts.zero(stop - start - count):
            raise
        _each(t, node, (item(start + place) for place in range(count)))
    except HomelessError:
        runs = t.code.facts.nonnegative(stop - start - 1) is True
        if not t.code.peeled or step != 1 or not runs:
            raise
        begin_again()
        _each(t, node, [item(start)])
        _rolled(t, node, start + 1, stop, step, item)


def _leaves_given(t: Translator, node: ast.For) -> bool:
    """Whether a name is the caller's array until a loop assigns another one: what is asked for
    behind a loop that does not come by is that very array, and no copy of it."""
    found = (t.frame.env.get(name) for name, empty in _homes(t, node) if not empty)
    return any(
        isinstance(value, Array)
        and value.view is not None
        and value.view.buffer.place == "argument"
        for value in found
    )


def _beginning(t: Translator) -> Callable[[], None]:
    """What leads back to here, as if nothing had been translated since."""
    code, frame = t.code, t.frame
    lines, written, made, depth = code.lines, len(code.lines), len(code.temporaries), code.depth
    env = dict(frame.env)

    def begin_again() -> None:
        code.lines, code.depth, code.memo = lines, depth, {}
        del lines[written:], code.temporaries[made:]
        frame.env = dict(env)

    return begin_again


def _each(t: Translator, node: ast.For, items: Iterable[Value]) -> None:
    """A loop written out."""
    turn = t.frame.turn
    try:
        with _written_out(t, True):
            for number, item in enumerate(items):
                t.frame.turn = (*turn, number)
                t.store(node.target, item)
                t.body(node.body)
    finally:
        t.frame.turn = turn


@contextmanager
def _written_out(t: Translator, unrolled: bool) -> Iterator[None]:
    """In a loop that is written out, or in one that is not; what is around it may be translated
    once more after an error."""
    kept, t.frame.unrolled = t.frame.unrolled, unrolled
    try:
        yield
    finally:
        t.frame.unrolled = kept


def _rolled(
    t: Translator, node: ast.For, start: Int, stop: Int, step: int, item: Callable[[Int], Value]
) -> None:
    hint = node.target.id + "_" if isinstance(node.target, ast.Name) else "i"

    def run() -> None:
        before = set(t.frame.env)
        count = stop - start if step > 0 else start - stop
        first, last = map(t.code.without_greatest, (start, stop))
        looping = t.code.loop(first, last, step, hint)
        with _followed(t, node, count), looping as variable, _round(t, node):
            t.store(node.target, _copied(t, node, item(variable)))
            t.body(node.body)
        _forget(t, node, before)

    with _written_out(t, False):
        t.with_homes(_homes(t, node), run)


@contextmanager
def _round(t: Translator, node: ast.For | ast.While) -> Iterator[None]:
    """A loop's body: how it ends is how it begins again."""
    aliases = t.aliases
    loose.refresh(t)
    start, before, lasting = len(aliases.stored), list(aliases.known), list(t.code.temporaries)
    head = t.frame.live.head.get(id(node), frozenset())
    asked = t.frame.live.begun.get(id(node), frozenset()) & t.frame.homes.keys() & asked_of(node)
    homeless = [name for name in sorted(asked) if isinstance(t.frame.env.get(name), Thing)]
    yield
    for name in homeless:
        if t.frame.homes[name].value is not None:
            raise HomelessError(name, t.code.origin)
    aliases.comes_round(start, lasting, head, t.frame, t.frames)
    aliases.known = [*before, *(a for a in aliases.known if a not in before)]


@contextmanager
def _followed(t: Translator, node: ast.For | ast.While, count: Int | None = None) -> Iterator[None]:
    """A loop, with the types that numbers may have in it and after it.

    Args:
        count: how many times it comes by, where that is known.
    """
    own = stores([node.target]) if isinstance(node, ast.For) else frozenset()
    begun = sorts.state(t)
    exits: dict[str, list[sorts.State]] = {"break": [], "continue": []}
    t.frame.exits.append(exits)
    sorts.any_of(t, t.assigned(node.body) | own)
    try:
        yield
    finally:
        t.frame.exits.pop()
    forever = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
    sorts.over(t, begun, exits, count, forever=forever)


def _copied(t: Translator, node: ast.For, value: Value) -> Value:
    if isinstance(value, Tup):
        return value.of(_copied(t, node, item) for item in value.items)
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
    begin_again = _beginning(t)
    try:
        _while_rolled(t, node)
    except HomelessError:
        if not t.code.peeled or not (isinstance(node.test, ast.Constant) and node.test.value):
            raise
        begin_again()
        with _written_out(t, True):
            t.body(node.body)
        _while_rolled(t, node)


def _while_rolled(t: Translator, node: ast.While) -> None:
    def run() -> None:
        code, before = t.code, set(t.frame.env)
        kept = len(code.trips)
        code.trips.append(None)
        try:
            with _followed(t, node):
                _while(t, node)
        finally:
            del code.trips[kept:]
        _forget(t, node, before)

    with _written_out(t, False):
        t.with_homes(_homes(t, node), run)


def _while(t: Translator, node: ast.While) -> None:
    code = t.code
    with code.captured() as lines:
        loose.refresh(t)
        condition = t.test(node.test)
    head = "while True:" if lines else f"while {bare(condition.text)}:"
    with code.indented(head):
        if lines:
            code.replay(lines)
            stop = arith.unary(code, "not", condition)
            with code.indented(f"if {bare(stop.text)}:"):
                code.emit("break")
        with _round(t, node):
            begin, raises = len(code.lines), code.raises
            t.body(node.body)
            if code.raises > raises:  # or it might never end
                stop = Line(code.depth + 1, "break", code.origin)
                test = Line(code.depth, f"if {code.failed}[0] != 0:", code.origin)
                code.lines[begin:begin] = [test, stop]


__all__ = ["ONE", "Range", "Rows", "for_", "rows_of", "while_"]
