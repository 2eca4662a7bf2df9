"""Expressions: operators, names, attributes, calls.

Before::

    y = alpha * (A @ x) + z

After: an `Array` whose `at` is ``z[i]`` and whose `sums` hold ``alpha * A[i, k] * x[k]``; the
statement that wants it writes the loops.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

import numpy as np

from loopbook.frontend import arith, conditions, lists, own_operators, records
from loopbook.frontend.calls import called
from loopbook.frontend.code import UnrollError
from loopbook.frontend.comprehensions import comprehension
from loopbook.frontend.hints import EXPRESSIONS
from loopbook.frontend.hints import METHODS as METHOD_HINTS
from loopbook.frontend.indexing import items_of, load_at
from loopbook.frontend.operators import SYMBOLS, negated, operate
from loopbook.frontend.records import Fields
from loopbook.frontend.registry import ATTRIBUTES, METHODS
from loopbook.frontend.scopes import own_names
from loopbook.frontend.symbols import Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import (
    Array,
    Bound,
    Listing,
    Scalar,
    Slice,
    Thing,
    Tup,
    Unknown,
    Value,
    whole,
)


def evaluate(t: Translator, node: ast.expr) -> Value:
    """The value of an expression; what it has to compute first is written to ``t.code``."""
    value = _evaluated(t, node)
    if isinstance(value, Unknown):
        raise t.code.untold()
    if isinstance(value, Thing) and isinstance(value.value, np.ndarray):
        return from_outside(t, value.value)
    return value


def from_outside(t: Translator, value: np.ndarray) -> Value:
    """An array that the function reads and neither makes nor is called with."""
    return whole(t.code.constant(value)) if value.ndim else arith.constant(value[()])


def _evaluated(t: Translator, node: ast.expr) -> Value:
    match node:
        case ast.Constant():
            return wrapped(node.value)
        case ast.Name():
            return lookup(t, node.id)
        case ast.Tuple() | ast.List():
            items = tuple(item for part in node.elts for item in _spread(t, part))
            return Tup(items, isinstance(node, ast.List))
        case ast.Dict():
            return records.displayed(t, node)
        case ast.BinOp():
            left, right = evaluate(t, node.left), evaluate(t, node.right)
            return operate(t, type(node.op), left, right)
        case ast.UnaryOp(op=ast.Not()):
            return arith.unary(t.code, "not", t.test(node.operand))
        case ast.UnaryOp():
            value = evaluate(t, node.operand)
            own = own_operators.unary(t, type(node.op), value)
            return negated(t, SYMBOLS[type(node.op)], value) if own is None else own
        case ast.Compare():
            return conditions.compare(t, node)
        case ast.BoolOp():
            return conditions.logical(t, node)
        case ast.IfExp():
            return conditions.conditional(t, node)
        case ast.Subscript():
            base = evaluate(t, node.value)
            if isinstance(base, Thing) and isinstance(base.value, Grid):
                return base.value.at(t, items_of(t, node.slice))
            if isinstance(base, Listing):
                return lists.item_at(t, base, items_of(t, node.slice))
            return load_at(t, base, items_of(t, node.slice))
        case ast.Slice():
            parts = (
                None if p is None else evaluate(t, p) for p in (node.lower, node.upper, node.step)
            )
            numbers = [
                None if p is None or (isinstance(p, Thing) and p.value is None) else t.number(p)
                for p in parts
            ]
            return Slice(*numbers, count=_count(t, node.step))
        case ast.Attribute():
            return attribute(t, evaluate(t, node.value), node.attr)
        case ast.Call():
            return called(t, node)
        case ast.Lambda():
            from loopbook.frontend.inline import Local

            return Thing(Local(node, t.frame, t))
        case ast.DictComp():
            return _dict(t, node)
        case ast.JoinedStr():
            return _text(t, node)
        case ast.ListComp() | ast.GeneratorExp():
            return _comprehension(t, node)
        case _:
            raise t.code.fail(unloopable(node))


def unloopable(node: ast.expr) -> str:
    """What is said of an expression of a kind that has no loops."""
    kind = type(node).__name__
    hint = f"; {EXPRESSIONS[kind]}" if kind in EXPRESSIONS else ""
    return f"{kind} expressions: {ast.unparse(node)[:60]}{hint}"


def _text(t: Translator, node: ast.JoinedStr) -> Thing:
    """A text of what is known."""
    parts = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            if part.conversion != -1 or part.format_spec is not None:
                raise t.code.fail(f"a text with formats: {ast.unparse(node)[:60]}")
            parts.append(str(t.python(evaluate(t, part.value))))
        else:
            parts.append(t.python(evaluate(t, part)))
    return Thing("".join(parts))


def _count(t: Translator, step: ast.expr | None) -> Int | None:
    """How many numbers a step of ``n * 1j`` or ``5j`` asks for; None for other steps."""
    match step:
        case ast.Constant(value=complex() as number) if number.real == 0:
            return Int.of(int(abs(number)))
        case ast.BinOp(left=count, op=ast.Mult(), right=ast.Constant(value=complex() as number)) | (
            ast.BinOp(left=ast.Constant(value=complex() as number), op=ast.Mult(), right=count)
        ) if number == 1j:
            value = evaluate(t, count)
            return t.integer(value) if isinstance(value, Scalar) else None
        case ast.Call(func=ast.Name(id="complex"), args=[ast.Constant(value=0), count]):
            return t.integer(evaluate(t, count))
    return None


def _spread(t: Translator, node: ast.expr) -> tuple[Value, ...]:
    """The items that a part of a tuple stands for: itself, or those of ``*values``."""
    if not isinstance(node, ast.Starred):
        return (evaluate(t, node),)
    values = evaluate(t, node.value)
    if not isinstance(values, Tup):
        raise t.code.fail("*values that are no tuple")
    return values.each()


class Grid:
    """`np.mgrid`, `np.ogrid`, `np.r_`: things that are called with an index."""

    def at(self, t: Translator, items: list[Value]) -> Value:
        raise NotImplementedError


GRIDS: dict[int, Grid] = {}
"""From the identity of NumPy's object to ours."""


PYTHONS = (bool, int, float, complex)
NUMBERS = (*PYTHONS, np.number, np.bool_)


def wrapped(value: Any) -> Value:
    """A Python object as a value."""
    if id(value) in GRIDS:
        return Thing(GRIDS[id(value)])
    if isinstance(value, Enum) and isinstance(value, int | float):
        value = int(value) if isinstance(value, int) else float(value)
    if isinstance(value, NUMBERS) and (type(value) in PYTHONS or isinstance(value, np.generic)):
        return arith.constant(value)
    if type(value) is dict:
        return Fields(tuple(map(wrapped, value.values())), False, tuple(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return Fields(tuple(map(wrapped, value)), False, value._fields, type(value))
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        start, stop, step = (None if part is None else arith.constant(part) for part in parts)
        return Slice(start, stop, step)
    if isinstance(value, tuple | list):
        return Tup(tuple(map(wrapped, value)), isinstance(value, list))
    return Thing(value)


def lookup(t: Translator, name: str) -> Value:
    """What a name stands for."""
    frame = t.frame
    if name in frame.env:
        return frame.env[name]
    if name in frame.names:
        value = frame.names[name]
        return (
            value if isinstance(value, Scalar | Array | Tup | Thing | Unknown) else wrapped(value)
        )
    if hasattr(builtins, name):
        return Thing(getattr(builtins, name))
    raise t.code.fail(f"{name}, which may have no value here")


def attribute(t: Translator, owner: Value, name: str) -> Value:
    """``owner.name``."""
    if isinstance(owner, Thing):
        try:
            found = getattr(owner.value, name)
        except AttributeError:
            raise t.code.fail(f"the attribute {name} of {owner.value!r}") from None
        if isinstance(found, np.ndarray):  # nobody would see that it has changed
            raise t.code.fail(f"the array {name} of something else; pass it as an argument")
        t.code.wide = t.code.wide or found is np.uint64
        if name == "outer" and isinstance(owner.value, np.ufunc):
            return Bound("ufunc.outer", owner.value)
        return wrapped(found)
    if isinstance(owner, Fields) and owner.kind not in (dict, list):
        return records.attribute(t, owner, name)
    if isinstance(owner, Slice) and name in ("start", "stop", "step"):
        return getattr(owner, name) or Thing(None)
    growing = ("append", "pop", "popleft", "reverse")
    if (name in growing and isinstance(owner, Listing | Tup)) or (
        name == "sort" and isinstance(owner, Listing)
    ):
        return Bound(name, owner)
    if name in ATTRIBUTES:
        return ATTRIBUTES[name](t, owner)
    if name in METHODS:
        return Bound(name, owner)
    hint = f"; {METHOD_HINTS[name]}" if name in METHOD_HINTS else ""
    raise t.code.fail(
        f"the attribute {name} of {'an array' if isinstance(owner, Array) else 'this'}{hint}"
    )


MOST_ITEMS = 16
"""Most items of a comprehension over numbers that are known that is written out."""


def _comprehension(t: Translator, node: ast.ListComp | ast.GeneratorExp) -> Value:
    """The items one by one where they are few, else in loops."""
    code = t.code
    kept = code.lines, len(code.lines), len(code.temporaries), dict(t.frame.env), code.depth
    try:
        return _written_out(t, node, MOST_ITEMS)
    except _ManyItems:
        del kept[0][kept[1] :], code.temporaries[kept[2] :]
        t.frame.env = dict(kept[3])
    try:
        return comprehension(t, node)
    except UnrollError:  # something in it needs the numbers
        code.lines, code.depth, code.memo = kept[0], kept[4], {}
        del code.lines[kept[1] :], code.temporaries[kept[2] :]
        t.frame.env = dict(kept[3])
    try:
        return _written_out(t, node, 2 * MOST_ITEMS)
    except _ManyItems:
        raise code.fail("a comprehension over what is not known; use a loop") from None


def _written_out(t: Translator, node: ast.ListComp | ast.GeneratorExp, most: int) -> Tup:
    items = Tup(tuple(_items(t, node, node.generators, most)), isinstance(node, ast.ListComp))
    for name in own_names(node):
        t.frame.env.pop(name, None)
    return items


def _dict(t: Translator, node: ast.DictComp) -> Fields:
    """A dict of a few items."""
    pair = ast.Tuple([node.key, node.value], ast.Load())
    pairs = ast.copy_location(ast.ListComp(pair, node.generators), node)
    try:
        items = _written_out(t, pairs, 2 * MOST_ITEMS).items
    except _ManyItems:
        raise t.code.fail("a dict of many items, or nobody knows how many; use arrays") from None
    found = {t.python(item.items[0]): t.fixed(item.items[1]) for item in items}
    return Fields(tuple(found.values()), False, tuple(found))


class _ManyItems(Exception):
    """Too many items to be written out, or nobody knows how many."""


def _items(
    t: Translator,
    node: ast.ListComp | ast.GeneratorExp,
    generators: Sequence[ast.comprehension],
    most: int,
) -> Iterator[Value]:
    if not generators:
        yield evaluate(t, node.elt)
        return
    first, *others = generators
    for item in _known(t, evaluate(t, first.iter), most):
        t.store(first.target, item)
        tests = [arith.truth(t.number(evaluate(t, test))) for test in first.ifs]
        if any(test.value is None for test in tests):
            raise _ManyItems
        if all(test.value for test in tests):
            yield from _items(t, node, others, most)


def _known(t: Translator, source: Value, most: int) -> Sequence[Value]:
    """The items that a comprehension goes through, if they are few."""
    from loopbook.frontend.loops import Range

    if isinstance(source, Tup):
        return source.each()
    if isinstance(source, Thing) and isinstance(source.value, str):
        return [Thing(letter) for letter in source.value]
    if isinstance(source, Thing) and isinstance(source.value, Range):
        ends = source.value
        span = (ends.stop - ends.start).constant
        if span is None and most > MOST_ITEMS:
            span = t.python(arith.whole(ends.stop - ends.start))
        if span is not None and len(range(0, span, ends.step)) <= most:
            return [arith.whole(ends.start + i) for i in range(0, span, ends.step)]
    raise _ManyItems
