"""Lists of a known length that are read and stored into by place, as arrays.

Before::

    votes = [0] * k                          best = [i + 1] + [0] * n
    for c in y:
        votes[c] += 1

After, as if it had been written so, but that elements are Python's numbers::

    votes = np.full(k, 0)                    best = np.concatenate(([i + 1], np.full(n, 0)))
    for c in y:
        votes[c] += 1

A list of whole numbers into which a float is stored is one of floats from the beginning on. A list
that anything else is done with than to read, store into, hand on to another such name or to a
function that does no more, count, go through, sum up or return is left as it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import FunctionType, MappingProxyType
from typing import Any

from loopbook.errors import LoweringError
from loopbook.syntax import bound

READING = {"len", "sum", "min", "max", "enumerate", "zip", "reversed", "any", "all", "list"}
"""Functions that take a list and keep nothing of it."""


def with_arrays(
    body: Sequence[ast.stmt], outside: Mapping[str, Any] = MappingProxyType({})
) -> list[ast.stmt]:
    """A function's statements with such lists as arrays; the statements themselves stay.

    Args:
        outside: what it knows by name, functions among it.
    """
    own = bound(body)
    wanted = _names(body, {n: value for n, value in outside.items() if n not in own})
    if not wanted:
        return list(body)
    return [_Rewritten(wanted).visit(copy.deepcopy(statement)) for statement in body]


def _names(body: Sequence[ast.stmt], outside: Mapping[str, Any]) -> set[str]:
    """The names that always hold such lists, some of which are stored into in a loop or branch."""
    made: dict[str, list[ast.expr]] = {}
    spoilt, stored = set[str](), set[str]()
    for node, parents in nodes_of(body):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            for name, value in _pairs(node.targets[0], node.value):
                made.setdefault(name, []).append(value)
        if not isinstance(node, ast.Name):
            continue
        use = handed_to(node, parents, outside)
        if not (_is_plain_use(node, parents) if use is None else use.is_plain):
            spoilt.add(node.id)
        if use is not None and use.stores:
            stored.add(node.id)
    names, before = set(made) - spoilt, None
    while names != before:
        before = names
        names = {name for name in names if all(_is_made(value, names) for value in made[name])}
    stored |= {
        node.value.id
        for node, parents in nodes_of(body)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and any(isinstance(p, ast.For | ast.While | ast.If) for p in parents)
    }
    return names if names & stored else set()


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Names with what an assignment gives them."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for one, other in zip(targets, values, strict=True):
                yield from _pairs(one, other)


def nodes_of(body: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """All nodes, each with those around it, the innermost first."""
    waiting: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(node, ()) for node in body]
    while waiting:
        node, parents = waiting.pop()
        yield node, parents
        waiting += [(child, (node, *parents)) for child in ast.iter_child_nodes(node)]


def _is_plain_use(node: ast.Name, parents: Sequence[ast.AST]) -> bool:
    """Whether an array could stand in the place of a list that a name holds."""
    if any(isinstance(p, ast.FunctionDef | ast.Lambda) for p in parents):
        return False
    parent = parents[0] if parents else None
    if isinstance(node.ctx, ast.Store):
        inside = isinstance(parent, ast.Tuple)
        owner = parents[1] if inside and len(parents) > 1 else parent
        return isinstance(owner, ast.Assign) and len(owner.targets) == 1
    match parent:
        case ast.Subscript(ctx=ast.Del()):
            return False
        case ast.Subscript(value=value, slice=place) if value is node:
            return not isinstance(place, ast.Slice) or (
                isinstance(parent.ctx, ast.Load)
                and (_is_whole(place) or _is_read(parents[1], parent))
            )
        case ast.Call():
            return _is_read(parent, node)
        case ast.For(iter=iterated):
            return iterated is node
        case ast.comprehension(iter=iterated):
            return iterated is node
        case ast.Return() | ast.Assign():
            return True
        case ast.Tuple():
            return len(parents) > 1 and isinstance(parents[1], ast.Assign | ast.Return)
    return False


@dataclass(frozen=True)
class Handed:
    """What a function does with a list that it is given.

    Attributes:
        is_plain: no more than an array could stand in for.
        stores: whether it stores into it.
    """

    is_plain: bool
    stores: bool


def handed_to(
    node: ast.Name, parents: Sequence[ast.AST], outside: Mapping[str, Any]
) -> Handed | None:
    """What a function of Python's does with a list that is its argument; None if there is none."""
    call = parents[0] if parents else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        return None
    function = outside.get(call.func.id)
    if not isinstance(function, FunctionType) or node not in call.args:
        return None
    if any(isinstance(p, ast.FunctionDef | ast.Lambda) for p in parents):
        return None
    return _done_by(function, call.args.index(node))


def _done_by(function: FunctionType, place: int) -> Handed:
    from loopbook.frontend.inline import names_of, parsed

    within = _ASKED.get()
    if function in within:
        return Handed(True, False)  # it calls itself: what else it does decides
    asked = _ASKED.set((*within, function))
    try:
        body = (node := parsed(function)).body
        names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
        if place >= len(names) or (function.__module__ or "").startswith("numpy"):
            return Handed(False, False)
        own = bound([node.args, *body])
        outside = {n: value for n, value in names_of(function).items() if n not in own}
        stores = False
        for inner, parents in nodes_of(body):
            if not isinstance(inner, ast.Name) or inner.id != names[place]:
                continue
            use = handed_to(inner, parents, outside)
            if isinstance(inner.ctx, ast.Store) or isinstance(parents[0], ast.Return | ast.Tuple):
                return Handed(False, False)
            if not (_is_plain_use(inner, parents) if use is None else use.is_plain):
                return Handed(False, False)
            stores |= use is not None and use.stores
            match parents[0]:
                case ast.Subscript(value=owner, ctx=ast.Store()) if owner is inner:
                    stores = True
        return Handed(True, stores)
    except LoweringError:
        return Handed(False, False)
    finally:
        _ASKED.reset(asked)


_ASKED: ContextVar[tuple[FunctionType, ...]] = ContextVar("asked", default=())
"""Functions that are being looked at."""


def _is_read(call: ast.AST, argument: ast.AST) -> bool:
    """Whether a function is called that keeps nothing of an argument."""
    match call:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return name in READING and argument in args
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="array")):
            return argument in call.args
    return False


def _is_whole(place: ast.Slice) -> bool:
    return place.lower is None and place.upper is None and place.step is None


def _is_made(value: ast.expr, names: set[str]) -> bool:
    """Whether a value is such a list: a new one, another one's, or a copy of one."""
    match value:
        case ast.Name(id=name):
            return name in names
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice() as place):
            return name in names and _is_whole(place)
        case ast.Call(func=ast.Name(id="list"), args=[ast.Name(id=name)], keywords=[]):
            return name in names
    return _parts(value) is not None


def _parts(value: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """What a new list consists of: numbers, and how many times each is in it; None if it is no list
    of that kind."""
    one = ast.Constant(1)
    match value:
        case ast.List(elts=items) if items and not any(map(is_several, items)):
            return [(item, one) for item in items]
        case ast.BinOp(op=ast.Mult(), left=ast.List(elts=[item]), right=count):
            return None if is_several(item) else [(item, count)]
        case ast.BinOp(op=ast.Mult(), left=count, right=ast.List(elts=[item])):
            return None if is_several(item) else [(item, count)]
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            first, second = _parts(left), _parts(right)
            return None if first is None or second is None else [*first, *second]
        case ast.Call(func=ast.Name(id="list"), args=[ast.Call(func=ast.Name(id="range"))]):
            return []
    return None


def is_several(item: ast.expr) -> bool:
    several = (ast.List, ast.Tuple, ast.Starred, ast.ListComp, ast.JoinedStr, ast.Dict, ast.Set)
    return isinstance(item, several) or (
        isinstance(item, ast.Constant) and not isinstance(item.value, bool | int | float)
    )


def known(value: Any) -> ast.Constant:
    """An expression that is a thing of ours."""
    return ast.Constant(value)


class _Rewritten(ast.NodeTransformer):
    """Calls of `listed` where such lists are made."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if len(node.targets) == 1:
            node.value = self._value(node.targets[0], node.value)
        return node

    def _value(self, target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=True)
            value.elts = [self._value(one, other) for one, other in pairs]
            return value
        if not isinstance(target, ast.Name) or target.id not in self.names:
            return value
        key = known((value.lineno, value.col_offset))
        match value:
            case ast.Name():
                return value
            case ast.Subscript(value=source) | ast.Call(args=[ast.Name() as source]):
                made = ast.Call(known(copied), [key, source], [])
            case ast.Call(args=[source]):
                made = ast.Call(known(counted), [key, *source.args], [])
            case _:
                parts = [ast.Tuple([*part], ast.Load()) for part in _parts(value) or ()]
                made = ast.Call(known(listed), [key, *parts], [])
        return ast.fix_missing_locations(ast.copy_location(made, value))


def listed(*_: object) -> list[object]:
    """Stands for making a list, which `loopbook.frontend.constructs.listed` does."""
    raise NotImplementedError


def copied(*_: object) -> list[object]:
    """Stands for copying one."""
    raise NotImplementedError


def counted(*_: object) -> list[object]:
    """Stands for making one of a range."""
    raise NotImplementedError
