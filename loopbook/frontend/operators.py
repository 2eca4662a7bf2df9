"""Operators on arrays and numbers: broadcasting, sums that wait, ``+=`` in place.

Before::

    y += 2 * (A @ x)

After::

    for i0 in range(n):
        sum_0 = 0.0
        for k0 in range(m):
            sum_0 = sum_0 + 2.0 * (A[i0, k0] * x[k0])
        y[i0] = y[i0] + sum_0
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, lists, nests, own_operators, types
from loopbook.frontend.indexing import items_of, load_at, store_at
from loopbook.frontend.list_parts import put
from loopbook.frontend.narrow import wraps
from loopbook.frontend.records import Fields
from loopbook.frontend.registry import FUNCTIONS
from loopbook.frontend.symbols import Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import (
    Array,
    Listing,
    Pair,
    Scalar,
    Thing,
    Tup,
    Value,
    elementwise,
)

SYMBOLS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
    ast.RShift: ">>", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==",
    ast.NotEq: "!=", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not",
}  # fmt: skip


def lift(
    t: Translator, form: Callable[..., Scalar], *operands: Value, cost: int = 1
) -> Scalar | Array:
    """An elementwise operation with broadcasting.

    Args:
        form: makes the result's element of elements of the operands.
        cost: of one element.
    """
    code = t.code
    given: list[Scalar | Array] = []
    beside = any(isinstance(operand, Array) for operand in operands)
    for operand in operands:
        if isinstance(operand, Array):
            given.append(nests.force(code, operand))
        elif isinstance(operand, Tup) or (isinstance(operand, Listing) and beside):
            given.append(t.array(operand))
        else:
            given.append(t.number(operand))
    arrays = [g for g in given if isinstance(g, Array)]
    if not arrays:
        return form(*given)
    masks = [a.mask for a in arrays if a.mask is not None]
    if masks and (any(a.mask is None and a.rank for a in arrays) or not _all_same(t, masks)):
        given = [t.stored(g) if isinstance(g, Array) and g.mask is not None else g for g in given]
        arrays, masks = [g for g in given if isinstance(g, Array)], []
    shape = nests.broadcast(code, [a.shape for a in arrays])
    fitted: list[Scalar | Array] = []
    for one in given:
        if isinstance(one, Array):
            if one.cost > 2 and one.mask is None and not _same_shape(t, one, shape):
                one = nests.materialise(code, one)
            one = nests.fit(code, one, shape)
        fitted.append(one)
    with code.captured():
        sample = form(*(f if isinstance(f, Scalar) else _sample(f) for f in fitted))

    def at(own: tuple[Int, ...]) -> Scalar:
        return form(*(f if isinstance(f, Scalar) else f.element(own) for f in fitted))

    result = elementwise(shape, sample.dtype, at, *fitted, cost=cost)
    if masks:
        result = replace(result, mask=masks[0], buffers=result.buffers | masks[0].buffers)
    return result


def _all_same(t: Translator, masks: list[Array]) -> bool:
    from loopbook.frontend.masks import same_mask

    return all(one is masks[0] or same_mask(t, one, masks[0]) for one in masks[1:])


def _sample(array: Array) -> Scalar:
    """An element, for its type; as text no name, which might be an argument's."""
    if array.dtype.kind == "c":
        return Pair(("x[0]", "x[1]"), array.dtype, array.weak)
    return Scalar("x[0]", array.dtype, array.weak)


def _same_shape(t: Translator, array: Array, shape: tuple[Int, ...]) -> bool:
    return len(array.shape) == len(shape) and all(map(t.code.same, array.shape, shape))


def operate(t: Translator, operator: type, left: Value, right: Value) -> Value:
    """A binary operator."""
    if (found := own_operators.binary(t, operator, left, right)) is not None:
        return found
    if operator is ast.MatMult:
        return FUNCTIONS[np.matmul](t, left, right)
    symbol = SYMBOLS[operator]
    if isinstance(left, Listing) and isinstance(right, Listing | Tup) and symbol == "+":
        return lists.joined(t, left, right)
    if isinstance(left, Tup) and isinstance(right, Listing) and symbol == "+":
        return lists.joined(t, left, right)
    if isinstance(left, Tup) or isinstance(right, Tup):
        return _tuples(t, symbol, left, right)
    summed = [isinstance(v, Array) and bool(v.sums) for v in (left, right)]
    if any(summed) and symbol in ("+", "-", "*"):
        found = _with_sums(t, symbol, left, right)
        if found is not None:
            return found
    _suppose_fits(t, left, right)
    _suppose_fits(t, right, left)
    cost = 4 if symbol in ("**", "//", "%", "/") else 1
    return lift(t, lambda a, b: arith.binary(t.code, symbol, a, b), left, right, cost=cost)


def _suppose_fits(t: Translator, number: Value, array: Value) -> None:
    """Leave it to Python to raise where one of its numbers, which only the loops know, has no room
    in the type of an array that it is computed with."""
    if not isinstance(number, Scalar) or not isinstance(array, Array) or array.weak:
        return
    if not number.weak or number.dtype.kind != "i" or not wraps(array.dtype):
        return
    if number.value is not None or number.sorts is not None or number.text in t.code.arguments:
        return
    ends = np.iinfo(array.dtype)
    if number.whole is not None:
        bounds = (t.code.facts.bound(number.whole, upper) for upper in (False, True))
        known = [end.constant for end in bounds if end is not None]
        if len(known) == 2 and all(n is not None and ends.min <= n <= ends.max for n in known):
            return
    t.code.suppose(f"{ends.min} <= {t.code.let(number).text} <= {ends.max}")


def _tuples(t: Translator, symbol: str, left: Value, right: Value) -> Value:
    if isinstance(left, Tup) and isinstance(right, Tup) and symbol == "+":
        return left.of(left.items + right.items)
    if symbol == "*":
        items, count = (left, right) if isinstance(left, Tup) else (right, left)
        if isinstance(items, Tup) and isinstance(count, Scalar):
            return items.of(items.items * t.python(count))
    if isinstance(left, Array) or isinstance(right, Array):
        return lift(t, lambda a, b: arith.binary(t.code, symbol, a, b), left, right)
    raise t.code.fail(f"{symbol} of tuples")


def _with_sums(t: Translator, symbol: str, left: Value, right: Value) -> Value | None:
    """Sums, differences and multiples of what holds sums that are not computed yet; None where
    that has to be computed first."""
    code = t.code
    if symbol == "*":
        value, factor = (left, right) if isinstance(left, Array) and left.sums else (right, left)
        if not isinstance(factor, Scalar) or not isinstance(value, Array) or not value.rank:
            return None
        dtype = types.promote(value.kind, factor.kind)[0]
        if dtype != value.dtype or dtype.kind not in "fiuc":
            return None
        factor = code.let(factor)
        return _scaled(value, factor, dtype, lambda a, b: arith.binary(code, "*", a, b))
    sides: list[Array] = []
    for side in (left, right):
        if isinstance(side, Thing):
            side = t.number(side)
        if isinstance(side, Scalar):
            kept = side
            side = Array((), side.dtype, lambda own, kept=kept: kept, weak=side.weak)
        if not isinstance(side, Array) or side.mask is not None:
            return None
        sides.append(side)
    shape = nests.broadcast(code, [s.shape for s in sides])
    dtype = types.promote(sides[0].kind, sides[1].kind)[0]
    for side in sides:
        if side.sums and (side.dtype != dtype or not _same_shape(t, side, shape)):
            return None
    parts = [p for s in sides[:1] for p in s.sums]
    sign = -1 if symbol == "-" else 1
    parts += [replace(p, sign=p.sign * sign) for p in sides[1].sums]
    rests = [replace(s, sums=()) if s.at is not None else None for s in sides]
    if rests[0] is not None and rests[1] is not None:
        rest = lift(t, lambda a, b: arith.binary(code, symbol, a, b), rests[0], rests[1])
    elif rests[0] is not None:
        rest = nests.fit(code, rests[0], shape)
    elif rests[1] is not None:
        rest = nests.fit(code, rests[1], shape)
        if sign < 0:
            rest = negated(t, "-", rest)
    else:
        rest = None
    buffers = frozenset(b for s in sides for b in s.buffers)
    if isinstance(rest, Scalar):
        number = rest
        rest = Array((), rest.dtype, lambda own: number)
    at = rest.at if isinstance(rest, Array) else None
    return Array(shape, dtype, at, None, tuple(parts), buffers, cost=sides[0].cost + sides[1].cost)


def negated(t: Translator, symbol: str, value: Value) -> Value:
    """A unary operator."""
    if symbol == "not":
        return arith.unary(t.code, symbol, t.number(value))
    if symbol == "-" and isinstance(value, Array) and value.sums and value.rank:
        return _scaled(
            value, arith.constant(-1), value.dtype, lambda a, b: arith.binary(t.code, "*", a, b)
        )
    return lift(t, lambda a: arith.unary(t.code, symbol, a), value)


def augmented(t: Translator, node: ast.AugAssign) -> None:
    """``target op= value``, in place for arrays.

    Before::  A[i, :j] -= B[i, :j] * x
    After::   for i0 in range(j): A[i, i0] = A[i, i0] - B[i, i0] * x
    """
    code = t.code
    if isinstance(node.target, ast.Name):
        current = t.expr(node.target)
        if isinstance(current, Fields):
            given = t.expr(node.value)
            own = own_operators.binary_in_place(t, type(node.op), current, given)
            if own is not None:
                t.bind(node.target.id, own)
                return
            raise code.fail(f"changing {node.target.id}, which the caller has too; make a new one")
        if not isinstance(current, Array):
            t.bind(node.target.id, operate(t, type(node.op), current, t.expr(node.value)))
            return
        _in_place(t, node)
    elif isinstance(node.target, ast.Attribute | ast.Subscript) and _is_field(t, node.target):
        _in_place(t, node)
    elif isinstance(node.target, ast.Subscript) and lists.holds(t, node.target):
        current = t.expr(node.target)
        lists.store(t, node.target, operate(t, type(node.op), current, t.expr(node.value)))
    elif isinstance(node.target, ast.Subscript):
        if (owner := lists.named_by(t, node.target.value)) is not None:
            places = [t.fixed(place) for place in items_of(t, node.target.slice)]
            value = lists.item_at(t, owner, places)
            value = operate(t, type(node.op), value, t.expr(node.value))
            put(t, owner, places, value)
            return
        base = t.target_array(node.target.value)
        items = items_of(t, node.target.slice)
        current = load_at(t, base, items)
        value = operate(t, type(node.op), current, t.expr(node.value))
        _check_kind(t, base, value)
        store_at(t, base, items, value)
    else:
        raise code.fail(f"assigning to {ast.unparse(node.target)}")


def _is_field(t: Translator, node: ast.Attribute | ast.Subscript) -> bool:
    """Whether it is an array that a record holds, and goes on holding."""
    if not isinstance(node.value, ast.Name):
        return False
    owner = t.expr(node.value)
    if not isinstance(owner, Fields) or issubclass(owner.kind, tuple):
        return False
    return isinstance(t.expr(node), Array)


def _in_place(t: Translator, node: ast.AugAssign) -> None:
    current = t.target_array(node.target)
    value = operate(t, type(node.op), current, t.expr(node.value))
    _check_kind(t, current, value)
    if not isinstance(value, Array | Scalar):
        raise t.code.fail("+= of what is no number")
    assert current.view is not None
    t.writes_to(current.view.buffer)
    nests.assign(t.code, current, value)


def _check_kind(t: Translator, target: Array, value: Value) -> None:
    if target.weak:
        return  # a list holds whatever it is given
    if (
        isinstance(value, Scalar | Array)
        and not np.can_cast(value.dtype, target.dtype, "same_kind")
        and not (isinstance(value, Scalar) and value.weak)
    ):
        raise t.code.fail(f"{value.dtype} put into an array of {target.dtype} in place")


def _scaled(value: Array, factor: Scalar, dtype: np.dtype, times) -> Array:
    """A value with sums times a number; `times` multiplies two scalars."""
    sums = tuple(
        replace(part, at=(lambda own, inner, at=part.at: times(factor, at(own, inner))))
        for part in value.sums
    )
    at = value.at
    rest = (lambda own: times(factor, at(own))) if at is not None else None
    return replace(value, dtype=dtype, at=rest, sums=sums, view=None, cost=value.cost + 1)
