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
from typing import Any

import numpy as np

from loopbook.frontend import arith, types
from loopbook.frontend.calls import called
from loopbook.frontend.code import UnrollError
from loopbook.frontend.hints import METHODS as METHOD_HINTS
from loopbook.frontend.indexing import items_of, load_at
from loopbook.frontend.lists import comprehension
from loopbook.frontend.operators import SYMBOLS, lift, negated, operate
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
        case ast.BinOp():
            left, right = evaluate(t, node.left), evaluate(t, node.right)
            return operate(t, type(node.op), left, right)
        case ast.UnaryOp():
            return negated(t, SYMBOLS[type(node.op)], evaluate(t, node.operand))
        case ast.Compare():
            return _compare(t, node)
        case ast.BoolOp():
            return _logical(t, node)
        case ast.IfExp():
            return _conditional(t, node)
        case ast.Subscript():
            base = evaluate(t, node.value)
            if isinstance(base, Thing) and isinstance(base.value, Grid):
                return base.value.at(t, items_of(t, node.slice))
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
        case ast.ListComp() | ast.GeneratorExp():
            return _comprehension(t, node)
        case _:
            raise t.code.fail(f"{type(node).__name__} expressions: {ast.unparse(node)[:60]}")


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
    return values.items


class Grid:
    """`np.mgrid`, `np.ogrid`, `np.r_`: things that are called with an index."""

    def at(self, t: Translator, items: list[Value]) -> Value:
        raise NotImplementedError


GRIDS: dict[int, Grid] = {}
"""From the identity of NumPy's object to ours."""


def wrapped(value: Any) -> Value:
    """A Python object as a value."""
    if id(value) in GRIDS:
        return Thing(GRIDS[id(value)])
    if isinstance(value, bool | int | float | complex | np.number | np.bool_):
        return arith.constant(value)
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
        if name == "outer" and isinstance(owner.value, np.ufunc):
            return Bound("ufunc.outer", owner.value)
        return wrapped(found)
    if name == "append" and isinstance(owner, Listing | Tup):
        return Bound(name, owner)
    if name in ATTRIBUTES:
        return ATTRIBUTES[name](t, owner)
    if name in METHODS:
        return Bound(name, owner)
    hint = f"; {METHOD_HINTS[name]}" if name in METHOD_HINTS else ""
    raise t.code.fail(
        f"the attribute {name} of {'an array' if isinstance(owner, Array) else 'this'}{hint}"
    )


def _compare(t: Translator, node: ast.Compare) -> Value:
    values = [evaluate(t, side) for side in (node.left, *node.comparators)]
    result: Value | None = None
    for operator, left, right in zip(node.ops, values, values[1:], strict=False):
        if isinstance(operator, ast.Is | ast.IsNot | ast.In | ast.NotIn):
            found: Value = _identity(t, operator, left, right)
        elif isinstance(left, Thing | Tup) or isinstance(right, Thing | Tup):
            same = t.python(left) == t.python(right)
            found = arith.constant(same == isinstance(operator, ast.Eq))
        else:
            symbol = SYMBOLS[type(operator)]
            found = lift(t, lambda a, b, s=symbol: arith.compare(t.code, s, a, b), left, right)
        result = found if result is None else arith.logical("&", t.number(result), t.number(found))
    assert result is not None
    return result


def _identity(t: Translator, operator: ast.cmpop, left: Value, right: Value) -> Scalar:
    if isinstance(operator, ast.In | ast.NotIn):
        found = t.python(left) in t.python(right)
        return arith.constant(found == isinstance(operator, ast.In))
    none = [isinstance(v, Thing) and v.value is None for v in (left, right)]
    if any(none):
        return arith.constant(all(none) == isinstance(operator, ast.Is))
    raise t.code.fail("is, of anything but None")


def _logical(t: Translator, node: ast.BoolOp) -> Value:
    """``and`` and ``or`` of numbers; what stands behind is only computed when it is wanted."""
    code = t.code
    both = isinstance(node.op, ast.And)
    result = arith.truth(t.number(evaluate(t, node.values[0])))
    for inner in node.values[1:]:
        if result.value is not None:
            if bool(result.value) != both:
                return result
            result = arith.truth(t.number(evaluate(t, inner)))
            continue
        with code.captured() as lines:
            value = arith.truth(t.number(evaluate(t, inner)))
        if not lines and "[" not in value.text:
            result = arith.logical("&" if both else "|", result, value)
            continue
        name = code.fresh("b_")
        code.emit(f"{name} = {result.text}")
        with code.indented(f"if {name}:" if both else f"if not {name}:"):
            code.replay(lines)
            code.emit(f"{name} = {value.text}")
        result = Scalar(name, types.BOOL)
    return result


def _conditional(t: Translator, node: ast.IfExp) -> Value:
    code = t.code
    condition = arith.truth(t.number(evaluate(t, node.test)))
    if condition.value is not None:
        return evaluate(t, node.body if condition.value else node.orelse)
    made = len(code.temporaries)
    with code.captured() as first:
        one = _side(t, node.body)
    with code.captured() as second:
        other = _side(t, node.orelse)
    if isinstance(one, Array) or isinstance(other, Array):
        del code.temporaries[made:]
        return _one_of(t, node, condition)
    left, right = t.number(one), t.number(other)
    if not first and not second:
        return arith.select(code, condition, left, right)
    dtype, weak = types.promote(left.kind, right.kind)
    name = code.fresh("s_")
    for head, lines, value in ((f"if {condition.text}:", first, left), ("else:", second, right)):
        with code.indented(head):
            code.replay(lines)
            code.emit(f"{name} = {arith.convert(code, value, dtype).text}")
    return Scalar(name, dtype, weak, Int.atom(name) if dtype.kind in "iu" else None)


def _side(t: Translator, node: ast.expr) -> Value:
    """One side's value: a number is computed where the side is, for what it is made of is there."""
    value = evaluate(t, node)
    return t.number(value) if isinstance(value, Array) and not value.rank else value


def _one_of(t: Translator, node: ast.IfExp, condition: Scalar) -> Value:
    """One of two arrays, in memory of its own."""
    code = t.code
    t.settle_all()
    condition = code.let(condition) if "[" in condition.text else condition
    name = code.fresh("chosen_")
    t.frame.made.add(name)

    def run() -> None:
        with code.indented(f"if {condition.text}:"):
            t.bind(name, evaluate(t, node.body))
        with code.indented("else:"):
            t.bind(name, evaluate(t, node.orelse))

    t.with_homes([(name, True)], run)
    return t.frame.env.pop(name)


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
        return source.items
    if isinstance(source, Thing) and isinstance(source.value, Range):
        ends = source.value
        span = (ends.stop - ends.start).constant
        if span is None and most > MOST_ITEMS:
            span = t.python(arith.whole(ends.stop - ends.start))
        if span is not None and len(range(0, span, ends.step)) <= most:
            return [arith.whole(ends.start + i) for i in range(0, span, ends.step)]
    raise _ManyItems
