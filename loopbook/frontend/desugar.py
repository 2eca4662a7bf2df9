"""Statements that others can say: ``else`` after loops, ``continue`` in front of the rest of one,
``del``, ``with np.errstate``, ``match``, and assignments in expressions.

Before::

    for i in range(n):
        if x[i] > 1:
            break
    else:
        i = -1

After::

    whole_0_ = True
    for i in range(n):
        if x[i] > 1:
            whole_0_ = False
            break
    if whole_0_:
        i = -1
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from itertools import count

from loopbook.frontend.by_key import with_own_dicts
from loopbook.frontend.extended import with_appends
from loopbook.frontend.growing import with_checks
from loopbook.frontend.keyed import with_keys
from loopbook.frontend.matches import branches
from loopbook.frontend.to_lists import with_items
from loopbook.frontend.walrus import apart, hoisted
from loopbook.syntax import Branches, skips

QUIET = ("ignore", "warn", "print", "log")
"""What `np.errstate` may ask for that changes no number and raises nothing."""


def desugared(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A function's statements in fewer kinds of them; `body` itself stays what it is."""
    numbers = count()
    plain = with_keys(with_appends(with_items(body, numbers), numbers), numbers)
    plain = with_own_dicts(plain, numbers)
    return with_checks(_body(plain, numbers))


def _body(body: Sequence[ast.stmt], numbers: count) -> list[ast.stmt]:
    return [made for node in body for made in _statement(node, numbers)]


def _statement(node: ast.stmt, numbers: count) -> list[ast.stmt]:
    node = apart(node) or node
    before, node = _without_walrus(node)
    if before:
        return [made for one in (*before, node) for made in _statement(one, numbers)]
    match node:
        case ast.Match() if (instead := branches(node)) is not None:
            return _body(instead, numbers)
        case ast.Delete(targets=targets) if all(isinstance(t, ast.Name) for t in targets):
            return []
        case ast.Delete(targets=[ast.Subscript(value=ast.Name() as owner, slice=place)]) if (
            not isinstance(place, ast.Slice | ast.Tuple)
        ):
            taken = ast.Call(ast.Attribute(owner, "pop", ast.Load()), [place], [])
            return [ast.fix_missing_locations(ast.copy_location(ast.Expr(taken), node))]
        case ast.With() if all(map(_is_quiet, node.items)):
            return _body(node.body, numbers)
        case ast.If():
            made = copy.copy(node)
            made.body = _body(node.body, numbers) or [ast.copy_location(ast.Pass(), node)]
            made.orelse = _body(node.orelse, numbers)
            return [made]
        case ast.For() | ast.While():
            made = copy.copy(node)
            made.body = _body(_without_skips(node.body), numbers) or [
                ast.copy_location(ast.Pass(), node)
            ]
            made.orelse = []
            if isinstance(made, ast.For) and not node.orelse:
                return without_jumps(made, numbers)
            return (
                [made]
                if not node.orelse
                else _with_else(made, _body(node.orelse, numbers), numbers)
            )
    return [node]


def _without_walrus(node: ast.stmt) -> tuple[list[ast.stmt], ast.stmt]:
    """Assignments in a statement's expression that can be made before it, and the rest of it."""
    if isinstance(node, ast.While) and not node.orelse:
        before, test = hoisted(node.test)
        if not before:
            return [], node
        stop = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        stop = ast.fix_missing_locations(ast.copy_location(stop, node.test))
        made = ast.While(ast.Constant(True), [*before, stop, *node.body], [])
        nothing = ast.copy_location(ast.Pass(), node)
        return [nothing], ast.fix_missing_locations(ast.copy_location(made, node))
    for part in ("test", "value"):
        expression = getattr(node, part, None)
        if isinstance(expression, ast.expr) and not isinstance(node, ast.While):
            before, rest = hoisted(expression)
            if before:
                made = copy.copy(node)
                setattr(made, part, rest)
                return before, made
    return [], node


def _is_quiet(item: ast.withitem) -> bool:
    """Whether a context is ``np.errstate`` with nothing in it that raises."""
    call = item.context_expr
    if not isinstance(call, ast.Call) or item.optional_vars is not None or call.args:
        return False
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "errstate":
        return False
    return all(
        keyword.arg is not None
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value in QUIET
        for keyword in call.keywords
    )


def _with_else(loop: ast.For | ast.While, after: list[ast.stmt], numbers: count) -> list[ast.stmt]:
    name = f"whole_{next(numbers)}_"

    def flag(value: bool, at: ast.stmt) -> ast.stmt:
        made = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))
        return ast.fix_missing_locations(ast.copy_location(made, at))

    begun = flag(True, loop)
    if not breaks(loop.body):
        return [loop, *after]
    if _may_stand_in_front(after, loop):
        return [*after, loop]
    loop.body = _replaced(loop.body, lambda at: [flag(False, at), at])
    test = ast.copy_location(ast.If(ast.Name(name, ast.Load()), after, []), after[0])
    return [begun, loop, ast.fix_missing_locations(test)]


def _may_stand_in_front(after: Sequence[ast.stmt], loop: ast.For | ast.While) -> bool:
    """Whether an ``else`` gives what is settled before the loop to variables that it does nothing
    with but give them another value wherever it is left: ``r = i`` and ``break``, or ``else: r =
    len(a)``. So they have a value from the beginning on, and there is nothing to ask."""
    names: set[str] = set()
    changed = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and _is_changed(n)}
    for node in after:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_settled(
                value, changed | names
            ):
                names.add(name)
            case _:
                return False
    ends = _left(loop.body)
    given = [
        [n.id for node in block if isinstance(node, ast.Assign) for n in _stored(node, names)]
        for block in ends
    ]
    used = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id in names]
    return all(set(block) == names for block in given) and len(used) == sum(map(len, given))


def _is_changed(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _is_settled(value: ast.expr, changed: set[str]) -> bool:
    """Whether an expression has the same value before a loop that changes these variables: numbers,
    others, and sizes of arrays, but no elements."""
    match value:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name not in changed
        case ast.UnaryOp(operand=operand):
            return _is_settled(operand, changed)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return _is_settled(left, changed) and _is_settled(right, changed)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
            return not changed & {"len", name}
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant()
        ):
            return name not in changed
    return False


def _stored(node: ast.Assign, names: set[str]) -> list[ast.Name]:
    parts = (part for target in node.targets for part in ast.walk(target))
    return [part for part in parts if isinstance(part, ast.Name) and part.id in names]


def _left(body: Sequence[ast.stmt]) -> list[Sequence[ast.stmt]]:
    """The blocks of a loop's body in which it is left."""
    found = [body] if any(isinstance(node, ast.Break) for node in body) else []
    for node in body:
        if isinstance(node, ast.If):
            found += [*_left(node.body), *_left(node.orelse)]
    return found


def without_jumps(loop: ast.For, numbers: count) -> list[ast.stmt]:
    """A loop that may be written out for each item, which leaves nothing to jump in.

    Before::                        After::

        for k in (-1, 0, 1):            left_0_ = False
            if x[k] < 0:                for item_0_ in (-1, 0, 1):
                break                       if not left_0_:
            s += x[k]                           k = item_0_
                                                if x[k] < 0:
                                                    left_0_ = True
                                                else:
                                                    s += x[k]
    """
    if not isinstance(loop.iter, ast.Tuple | ast.List | ast.Name | ast.Attribute):
        return [loop]
    listed = isinstance(loop.iter, ast.Tuple | ast.List)
    begun: list[ast.stmt] = []
    body: list[ast.stmt] = loop.body
    if listed and breaks(body):
        number = next(numbers)
        left, item = f"left_{number}_", f"item_{number}_"
        begun = _located(f"{left} = False", loop)
        (test,) = _located(f"if not {left}: _ = {item}", loop)
        assert isinstance(test, ast.If)
        assert isinstance(test.body[0], ast.Assign)
        test.body[0].targets = [loop.target]
        test.body += _replaced(body, lambda at: [*_located(f"{left} = True", at), ast.Continue()])
        loop.target = ast.copy_location(ast.Name(item, ast.Store()), loop)
        body = [test]
    loop.body = _without_skips(body) or [ast.copy_location(ast.Pass(), loop)]
    return [*begun, loop]


def _without_skips(body: list[ast.stmt]) -> list[ast.stmt]:
    """A loop's body in which what stands behind a ``continue`` is in branches; itself if there is
    none, or too much would have to be copied."""
    if not skips(body):
        return body
    branches = Branches()
    found = branches.of(body)
    return body if branches.too_many else found


def _located(text: str, at: ast.stmt) -> list[ast.stmt]:
    """Statements from their text, in another one's place."""
    made = ast.parse(text).body
    for node in (n for one in made for n in ast.walk(one)):
        ast.copy_location(node, at)
    return made


def _replaced(
    body: Sequence[ast.stmt], instead: Callable[[ast.stmt], list[ast.stmt]]
) -> list[ast.stmt]:
    """A loop's body with other statements for its breaks."""
    made: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.Break):
            made += instead(node)
            continue
        if isinstance(node, ast.If):
            node = copy.copy(node)
            node.body, node.orelse = _replaced(node.body, instead), _replaced(node.orelse, instead)
        made.append(node)
    return made


def breaks(body: Sequence[ast.stmt]) -> bool:
    """Whether statements leave the loop that they are the body of."""
    return any(
        isinstance(node, ast.Break)
        or (isinstance(node, ast.If) and (breaks(node.body) or breaks(node.orelse)))
        for node in body
    )
