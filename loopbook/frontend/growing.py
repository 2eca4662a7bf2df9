"""Python's whole numbers that may outgrow a word of 64 bits: they are looked at where they grow.

Before::

    for k in range(n):                for k in range(1, n):
        s += 1 / 16 ** k                  f *= k

After, with the calls in which they do run as Python::

    # only if n - 1 <= 15             for k_0 in range(1, n):
    for k_0 in range(n):                  if not math.fabs(float(f_0) * float(k_0)) < 9.2e18:
        s_0 = s_0 + 1 / (1 << k_0 * 4)        failed_0[0] = 1; return
                                          f_0 = f_0 * k_0

What grows in a loop is what a name gets of itself by a product, or of itself and itself by a sum
(``a, b = b, a + b``); what is added up otherwise would take years to get there. Remainders of a
number, and its last bits, keep it small. NumPy's numbers wrap around, and are no matter of this.
Here is what is looked at; `loopbook.frontend.outgrown` says how.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence

from loopbook.syntax import mentioned, walk

WORD = 1 << 63

_WHOLE = ("int", "len", "abs", "min", "max", "sum", "round", "pow")
"""Python's functions that may give whole numbers."""

_RING = ast.Add | ast.Sub | ast.Mult | ast.LShift
"""Of these, a word that has wrapped around has the last bits."""


def with_checks(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A function's statements, with one in front of each in a loop that lets a number grow: an
    expression that is only `checked`."""
    if not any(isinstance(part, ast.For | ast.While) for one in body for part in walk(one)):
        return list(body)
    return _with_checks(body, _whole_names(body), frozenset(), {}, looping=False)


def _with_checks(
    body: Sequence[ast.stmt],
    whole: frozenset[str],
    growing: frozenset[str],
    least: Mapping[str, int],
    *,
    looping: bool,
) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.For | ast.While | ast.If):
            own, inside, known = growing, looping, least
            if not isinstance(node, ast.If):
                own, inside = growing | (_growing(node.body) & whole), True
                known = {**least, **_bounds(node.body)}
            made = copy.copy(node)
            made.body = _with_checks(node.body, whole, own, known, looping=inside)
            made.orelse = _with_checks(node.orelse, whole, own, known, looping=inside)
            found.append(made)
            continue
        value = _value(node) if looping else None
        for part in _checked_parts(value, growing, least) if value is not None else ():
            if _may_be_whole(part, whole):
                check = ast.Expr(copy.deepcopy(part))
                check.checks_room = True  # type: ignore[attr-defined]
                found.append(ast.fix_missing_locations(ast.copy_location(check, node)))
        found.append(node)
    return found


def _value(node: ast.stmt) -> ast.expr | None:
    """What a statement computes."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            return ast.copy_location(ast.BinOp(ast.Name(name, ast.Load()), op, value), node)
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            return value
        case ast.AnnAssign(value=value) | ast.Return(value=value):
            return value
    return None


def _checked_parts(
    node: ast.AST, growing: frozenset[str], least: Mapping[str, int], *, last: bool = False
) -> Iterator[ast.BinOp]:
    """The parts of an expression that may be too large, innermost first.

    Args:
        last: whether only the last bits count.
    """
    if isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda | ast.ListComp | ast.GeneratorExp):
        return  # not all of it is computed
    if isinstance(node, ast.BinOp) and _masks(node):
        last = True
    elif not (isinstance(node, ast.BinOp) and isinstance(node.op, _RING)):
        last = last and isinstance(node, ast.Name | ast.Constant)
    for child in ast.iter_child_nodes(node):
        yield from _checked_parts(child, growing, least, last=last)
    if isinstance(node, ast.BinOp) and not last and _may_outgrow(node, growing, least):
        yield node


def _masks(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return isinstance(node.op, ast.BitAnd) and any(_number(one) is not None for one in sides)


def _may_outgrow(node: ast.BinOp, growing: frozenset[str], least: Mapping[str, int]) -> bool:
    left, right = mentioned(node.left), mentioned(node.right)
    most = _most(node, least)
    if most is not None and most < WORD:
        return False
    match node.op:
        case ast.Pow() | ast.LShift():
            return bool(right) or (isinstance(node.op, ast.LShift) and bool(left & growing))
        case ast.Mult():
            return bool((left | right) & growing)
        case ast.Add() | ast.Sub():
            return bool(left & growing) and bool(right & growing)
    return False


def _growing(body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names that a loop's body gives values that depend on what they were, and in which there
    is a product or a sum of two such."""
    needs: dict[str, set[str]] = {}
    values: dict[str, list[ast.expr]] = {}
    for name, value in _given(body):
        needs.setdefault(name, set()).update(mentioned(value))
        values.setdefault(name, []).append(value)
    for _ in needs:
        before = sum(map(len, needs.values()))
        for name in needs:
            for other in list(needs[name] & needs.keys()):
                needs[name] |= needs[other]
        if sum(map(len, needs.values())) == before:
            break
    carried = {name for name in needs if name in needs[name]}
    return frozenset(
        name
        for name in carried
        if any(
            _grows(part, {one for one in carried if name in needs[one] and one in needs[name]})
            for other in carried
            if name in needs[other] and other in needs[name]
            for value in values[other]
            for part in walk(value)
        )
    )


def _grows(part: ast.AST, own: set[str]) -> bool:
    if not isinstance(part, ast.BinOp):
        return False
    left, right = mentioned(part.left) & own, mentioned(part.right) & own
    if isinstance(part.op, ast.Mult | ast.LShift):
        return bool(left or right)
    return isinstance(part.op, ast.Add | ast.Sub) and bool(left and right)


def _bounds(body: Sequence[ast.stmt]) -> dict[str, int]:
    """Names to what their sizes stay below, where each value that they get is a remainder of a
    constant or the last bits."""
    given, bounds = list(_given(body)), dict[str, int]()
    while True:
        found: dict[str, int | None] = {}
        for name, value in given:
            most, before = _most(value, bounds), found.get(name, 0)
            found[name] = None if most is None or before is None else max(most, before)
        new = {n: most for n, most in found.items() if most is not None and n not in bounds}
        if not new:
            return bounds
        bounds |= new


def _most(node: ast.expr, known: Mapping[str, int]) -> int | None:
    """A bound of a whole number's size; None if none is seen."""
    number = _number(node)
    if number is not None:
        return abs(number)
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _most(node.left, known), _most(node.right, known)
    match node.op:
        case ast.Mod():
            return abs(number) if (number := _number(node.right)) else None
        case ast.BitAnd():
            masks = [one for one in map(_number, (node.left, node.right)) if one is not None]
            return masks[0] if masks and masks[0] >= 0 else None
        case ast.FloorDiv():
            return left
        case ast.Mult() if left is not None and right is not None:
            return left * right
        case ast.Add() | ast.Sub() if left is not None and right is not None:
            return left + right
        case ast.LShift() if left is not None and right is not None and right < 64:
            return left << right
    return None


def _number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case ast.BinOp(left, ast.Pow(), right) | ast.BinOp(left, ast.LShift(), right):
            base, places = _number(left), _number(right)
            if base is not None and places is not None and 0 <= places <= 64 and abs(base) <= 64:
                return base**places if isinstance(node.op, ast.Pow) else base << places
    return None


def _given(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """The names that statements give values, and these."""
    for statement in body:
        for part in walk(statement):
            if isinstance(part, ast.Assign):
                for target in part.targets:
                    yield from _pairs(target, part.value)
            elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                name = ast.Name(part.target.id, ast.Load())
                yield part.target.id, ast.BinOp(name, part.op, part.value)
            elif isinstance(part, ast.AnnAssign) and part.value is not None:
                yield from _pairs(part.target, part.value)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _pairs(one, other)
    elif isinstance(target, ast.Tuple):
        for one in target.elts:
            yield from _pairs(one, value)


def _whole_names(body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names that may be Python's whole numbers: none that is given a float, an element of an
    array, or what some function gives."""
    given = list(_given(body))
    whole = frozenset(part.id for one in body for part in walk(one) if isinstance(part, ast.Name))
    while True:
        less = whole - {name for name, value in given if not _may_be_whole(value, whole)}
        if less == whole:
            return whole
        whole = less


def _may_be_whole(node: ast.expr, whole: frozenset[str]) -> bool:
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int)
        case ast.Name(id=name):
            return name in whole
        case ast.BinOp(op=ast.Div() | ast.MatMult()):
            return False
        case ast.BinOp(left=left, right=right):
            return _may_be_whole(left, whole) and _may_be_whole(right, whole)
        case ast.UnaryOp(operand=operand):
            return _may_be_whole(operand, whole)
        case ast.IfExp(body=one, orelse=other):
            return _may_be_whole(one, whole) and _may_be_whole(other, whole)
        case ast.Call(func=ast.Name(id=name), args=args):
            return name in _WHOLE and (name == "int" or all(_may_be_whole(a, whole) for a in args))
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
    return False
