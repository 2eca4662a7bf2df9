"""Comparisons, ``and`` and ``or``, ``a if c else b``.

Before::

    y = x if n > 2 and x[n] > 0 else -x             k in (1, 3)

After::

    b_0 = n > 2                                     k == 1 or k == 3
    if b_0:
        b_0 = x[n] > 0
    if b_0: ...
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from loopbook.frontend import (
    arith,
    choices,
    list_changes,
    lists,
    own_operators,
    sorts,
    types,
)
from loopbook.frontend.code import Line, bare, reads
from loopbook.frontend.operators import SYMBOLS, lift
from loopbook.frontend.records import Fields
from loopbook.frontend.registry import FUNCTIONS
from loopbook.frontend.symbols import Int
from loopbook.frontend.tested import narrowed
from loopbook.frontend.things import compared
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Buffer, Index, Listing, Scalar, Thing, Tup, Value


def compare(t: Translator, node: ast.Compare) -> Value:
    if any(isinstance(operator, ast.In | ast.NotIn) for operator in node.ops):
        node = _among(node)
    values = [_from_outside(t, t.expr(side)) for side in (node.left, *node.comparators)]
    result: Value | None = None
    for operator, left, right in zip(node.ops, values, values[1:], strict=False):
        if isinstance(operator, ast.Is | ast.IsNot | ast.In | ast.NotIn):
            found: Value = _identity(t, operator, left, right)
        elif (own := own_operators.compared(t, type(operator), left, right)) is not None:
            found = own
        elif (decided := compared(t, SYMBOLS[type(operator)], left, right)) is not None:
            found = decided
        elif isinstance(operator, ast.Eq | ast.NotEq) and _is_same(node, operator):
            found = FUNCTIONS[np.isnan](t, left)  # which docc takes for equal to itself
            if isinstance(operator, ast.Eq):
                found = lift(t, lambda x: arith.unary(t.code, "~", x), found)
            if isinstance(found, Scalar):
                found = replace(found, weak=t.number(left).weak)
        else:
            symbol = SYMBOLS[type(operator)]
            found = lift(t, lambda a, b, s=symbol: arith.compare(t.code, s, a, b), left, right)
        result = found if result is None else arith.logical("&", t.number(result), t.number(found))
    assert result is not None
    return result


def _from_outside(t: Translator, value: Value) -> Value:
    is_array = isinstance(value, Thing) and isinstance(value.value, np.ndarray)
    return t.array(value) if is_array else value


def _is_same(node: ast.Compare, operator: ast.cmpop) -> bool:
    """Whether a variable or an element is compared with itself, as tests for NaN do it."""
    sides = [node.left, *node.comparators]
    place = node.ops.index(operator)
    one, other = sides[place : place + 2]
    return isinstance(one, ast.Name | ast.Subscript) and ast.dump(one) == ast.dump(other)


def _among(node: ast.Compare) -> ast.Compare:
    """What is asked for in a set may as well be in a tuple."""
    sides = [
        ast.Tuple(s.elts, ast.Load()) if isinstance(s, ast.Set) else s for s in node.comparators
    ]
    return ast.copy_location(ast.Compare(node.left, node.ops, sides), node)


def _identity(t: Translator, operator: ast.cmpop, left: Value, right: Value) -> Scalar:
    if isinstance(operator, ast.In | ast.NotIn):
        among = Tup(right.each()) if isinstance(right, Fields) else right
        if isinstance(left, Scalar) and left.value is None and isinstance(among, Tup):
            return _is_one_of(t, left, among, isinstance(operator, ast.In))
        if isinstance(left, Scalar) and isinstance(among, Listing | Array):
            found = list_changes.is_in(t, among, left)
            return found if isinstance(operator, ast.In) else arith.unary(t.code, "not", found)
        found = t.python(left) in t.python(among)
        return arith.constant(found == isinstance(operator, ast.In))
    none = [isinstance(v, Thing) and v.value is None for v in (left, right)]
    if any(none):
        return arith.constant(all(none) == isinstance(operator, ast.Is))
    if all(isinstance(v, Thing) for v in (left, right)):
        return arith.constant((t.python(left) is t.python(right)) == isinstance(operator, ast.Is))
    found = _same_truth(t, left, right)
    if found is not None:
        return found if isinstance(operator, ast.Is) else arith.unary(t.code, "not", found)
    raise t.code.fail("is, of numbers or arrays; use ==")


def _same_truth(t: Translator, left: Value, right: Value) -> Scalar | None:
    """Whether two are the same truth value, of which Python has one each; NumPy's are others, and
    so are numbers. None where neither is one of Python's."""
    sides = [t.number(side) if isinstance(side, Array) and not side.rank else side
             for side in (left, right)]  # fmt: skip
    truths = [isinstance(v, Scalar) and v.weak and v.dtype.kind == "b" for v in sides]
    if any(isinstance(v, Scalar) and v.sorts is not None for v in sides) or not any(truths):
        return None
    one, other = sides
    if not all(truths) or not isinstance(one, Scalar) or not isinstance(other, Scalar):
        return arith.constant(False)
    return replace(arith.compare(t.code, "==", one, other), weak=True)


def _is_one_of(t: Translator, value: Scalar, among: Tup, wanted: bool) -> Scalar:
    """Whether a number is equal to one of a few."""
    value, found = t.code.let(value), arith.constant(False)
    for item in among.items:
        same = arith.compare(t.code, "==", value, t.number(item))
        found = arith.logical("|", found, same)
    found = found if wanted else arith.unary(t.code, "not", found)
    return replace(found, weak=True)


def test(t: Translator, node: ast.expr) -> Scalar:
    """Whether an expression is true: of ``and`` and ``or`` no side is needed, only that."""
    if isinstance(node, ast.BoolOp):
        value = _without_things(t, node)
        if value is None:
            return _truth(t, node)
    else:
        value = t.expr(node)
    if isinstance(value, Listing):
        return lists.is_full(value)
    if type(value) is Tup:
        return arith.constant(bool(value.items))
    if isinstance(value, Thing) and isinstance(value.value, str | None):
        return arith.constant(bool(value.value))
    return arith.truth(t.number(value))


def logical(t: Translator, node: ast.BoolOp) -> Value:
    """``and`` and ``or``: one of the sides, which is a number where it is no truth value."""
    value = _without_things(t, node)
    if value is not None:
        return value
    if _are_truths(t, node.values):
        return _truth(t, node)
    first, *others = node.values
    rest = others[0] if len(others) == 1 else ast.BoolOp(node.op, others)
    number = t.number(t.expr(first))
    if (
        _thing(t, rest) is not None
    ):  # None, say, as the end of a slice: which one it is must be known
        return t.expr(rest) if bool(t.python(number)) == isinstance(node.op, ast.And) else number
    name = t.code.fresh("side_")
    t.frame.env[name] = t.code.let(number)
    side = ast.Name(name, ast.Load())
    sides = (rest, side) if isinstance(node.op, ast.And) else (side, rest)
    try:
        return conditional(t, ast.fix_missing_locations(ast.IfExp(side, *sides)))
    finally:
        del t.frame.env[name]


def _are_truths(t: Translator, nodes: Sequence[ast.expr]) -> bool:
    """Whether all of them are truth values. They are looked at, not computed."""
    return all(_is_truth(t, node) for node in nodes)


def _is_truth(t: Translator, node: ast.expr) -> bool:
    match node:
        case ast.BoolOp(values=values):
            return _are_truths(t, values)
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
    made = len(t.code.temporaries)
    try:
        with t.code.captured():
            return t.number(t.expr(node)).dtype.kind == "b"
    finally:
        del t.code.temporaries[made:]


def _truth(t: Translator, node: ast.BoolOp) -> Scalar:
    """Whether all sides are true, or one; what stands behind is only computed when it is wanted."""
    code, both = t.code, isinstance(node.op, ast.And)
    result = t.test(node.values[0])
    for place, inner in enumerate(node.values[1:], start=1):
        if result.value is not None:
            if bool(result.value) != both:
                return result
            result = t.test(inner)
            continue
        with code.captured() as lines, narrowed(t, node.values[:place], both):
            value = t.test(inner)
        if value.value is not None and not lines:
            if bool(value.value) != both:
                return value
            continue
        if not lines and "[" not in value.text:
            result = arith.logical("&" if both else "|", result, value)
            continue
        name = code.fresh("b_")
        code.emit(f"{name} = {result.text}")
        with code.indented(f"if {name}:" if both else f"if not {name}:"):
            code.replay(lines)
            code.emit(f"{name} = {value.text}")
        result = Scalar(name, types.BOOL, result.weak and value.weak)
    return result


def conditional(t: Translator, node: ast.IfExp) -> Value:
    code = t.code
    condition = t.test(node.test)
    if condition.value is not None:
        return t.expr(node.body if condition.value else node.orelse)
    made = len(code.temporaries)
    with code.captured() as first, narrowed(t, [node.test], True), reads() as ones:
        one = _side(t, node.body)
    with code.captured() as second, narrowed(t, [node.test], False), reads() as others:
        other = _side(t, node.orelse)
    if isinstance(one, Array) or isinstance(other, Array):
        del code.temporaries[made:]
        return _one_of(t, node, condition)
    if isinstance(one, Tup) and isinstance(other, Tup) and len(one.items) == len(other.items):
        if any(isinstance(item, Array) for item in (*one.items, *other.items)):
            del code.temporaries[made:]
            return _one_of(t, node, condition, one)
        return _items_of(t, condition, (first, one), (second, other))
    left, right = t.number(one), t.number(other)
    if not first and not second:
        if all(_is_inside(t, read) for read in others):
            return choices.either(code, condition, left, right)
        if all(_is_inside(t, read) for read in ones):
            return choices.either(code, arith.unary(code, "not", condition), right, left)
    dtype, weak = types.promote(left.kind, right.kind)
    told = sorts.of_one(code, (dtype, weak), left, right)
    name = code.fresh("s_")
    for head, lines, value in ((f"if {condition.text}:", first, left), ("else:", second, right)):
        with code.indented(head):
            code.replay(lines)
            code.emit(f"{name} = {arith.convert(code, value, dtype).text}")
            if told is not None and told.text:
                code.emit(f"{told.text} = {sorts.text_of(code, value)}")
    whole = Int.atom(name) if dtype.kind in "iu" else None
    return Scalar(name, dtype, weak, whole, sorts=told)


def _is_inside(t: Translator, read: tuple[Buffer, Index]) -> bool:
    """Whether an element is one of its array's, also where the side that reads it is not taken."""
    facts, (buffer, index) = t.code.facts, read
    return all(
        facts.never_negative(place) and facts.never_negative(size - place - 1)
        for place, size in zip(index, buffer.shape, strict=True)
    )


def _items_of(
    t: Translator, condition: Scalar, then: tuple[list[Line], Tup], other: tuple[list[Line], Tup]
) -> Tup:
    """One of two tuples of numbers, item by item: ``c, s = (1.0, 0.0) if r == 0 else …``."""
    code = t.code
    pairs = [tuple(map(t.number, pair)) for pair in zip(then[1].items, other[1].items, strict=True)]
    kinds = [types.promote(*(side.kind for side in pair)) for pair in pairs]
    if any(dtype.kind == "c" for dtype, _ in kinds):
        raise code.fail("one of two tuples of complex numbers; use if and else")
    names = [code.fresh("s_") for _ in pairs]
    told = [sorts.of_one(code, kind, *pair) for kind, pair in zip(kinds, pairs, strict=True)]
    for place, (head, (lines, _)) in enumerate(((f"if {condition.text}:", then), ("else:", other))):
        with code.indented(head):
            code.replay(lines)
            for name, pair, (dtype, _), sort in zip(names, pairs, kinds, told, strict=True):
                code.emit(f"{name} = {bare(arith.convert(code, pair[place], dtype).text)}")
                if sort is not None and sort.text:
                    code.emit(f"{sort.text} = {sorts.text_of(code, pair[place])}")
    return Tup(
        tuple(
            Scalar(name, dtype, weak, Int.atom(name) if dtype.kind in "iu" else None, sorts=sort)
            for name, (dtype, weak), sort in zip(names, kinds, told, strict=True)
        )
    )


def _side(t: Translator, node: ast.expr) -> Value:
    """One side's value: a number is computed where the side is, for what it is made of is there."""

    def settled(value: Value) -> Value:
        if isinstance(value, Tup):
            return value.of(map(settled, value.items))
        return t.number(value) if isinstance(value, Array) and not value.rank else value

    return settled(t.expr(node))


def _one_of(t: Translator, node: ast.IfExp, condition: Scalar, like: Tup | None = None) -> Value:
    """One of two arrays, in memory of its own.

    Args:
        like: one of two tuples of arrays and numbers, if it is those.
    """
    code = t.code
    t.settle_all()
    condition = code.let(condition) if "[" in condition.text else condition
    names = [code.fresh("chosen_") for _ in (like.items if like else "1")]
    t.frame.made |= {*names}

    def choose(side: ast.expr) -> None:
        value = t.expr(side)
        items = value.items if like and isinstance(value, Tup) else [value]
        for name, item in zip(names, items, strict=True):
            t.bind(name, item)

    def run() -> None:
        known = list(t.aliases.known)
        with code.indented(f"if {condition.text}:"):
            choose(node.body)
        then, t.aliases.known = t.aliases.known, known
        with code.indented("else:"):
            choose(node.orelse)
        t.aliases.known = [*then, *(a for a in t.aliases.known if a not in then)]

    t.with_homes([(name, True) for name in names], run)
    found = [t.frame.env.pop(name) for name in names]
    return like.of(found) if like else found[0]


def as_branches(t: Translator, node: ast.Assign) -> ast.If | None:
    """``a[i] = row if test else 0.0``, of which one side has elements and the other one is a number
    for all of them, as a statement; None if it is none."""
    match node:
        case ast.Assign(targets=[ast.Subscript()], value=ast.IfExp(test, body, other)):
            known = [_is_literal(side) for side in (body, other)]
        case _:
            return None
    if known[0] == known[1]:
        return None
    made = len(t.code.temporaries)
    with t.code.captured():
        value = t.expr(other if known[0] else body)
    del t.code.temporaries[made:]
    if not isinstance(value, Array) or not value.rank:
        return None
    sides = [ast.copy_location(ast.Assign(node.targets, side), node) for side in (body, other)]
    return ast.copy_location(ast.If(test, [sides[0]], [sides[1]]), node)


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _without_things(t: Translator, node: ast.BoolOp) -> Value | None:
    """What ``and`` and ``or`` give whose first side is None, or another thing that is known; None
    where it is a number."""
    first = _thing(t, node.values[0])
    return None if first is None else _behind(t, node, first)


def _behind(t: Translator, node: ast.BoolOp, first: Thing) -> Value:
    if bool(first.value) != isinstance(node.op, ast.And):
        return first
    others = node.values[1:]
    rest = others[0] if len(others) == 1 else ast.BoolOp(node.op, others)
    return t.expr(ast.copy_location(rest, node))


def _thing(t: Translator, node: ast.expr) -> Thing | None:
    """What an expression without calls is, if it is no number. What has sides is not translated to
    find that out, since each of its sides would be once more."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return None
        case ast.BoolOp(values=[first, *_]):
            found = _thing(t, first)
            value = None if found is None else _behind(t, node, found)
            return value if isinstance(value, Thing) else None
    if any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
        return None
    with t.code.captured() as lines:
        value = t.expr(node)
    return value if isinstance(value, Thing) and not lines else None
