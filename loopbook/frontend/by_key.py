"""Dicts that loops and branches store into: other dicts of the same name.

Before::

    state = {"m": np.zeros_like(w), "t": 0}
    for g in gradients:
        state["m"] = 0.9 * state["m"] + g
        state["t"] += 1

After::

    for g in gradients:
        state = {**state, "m": 0.9 * state["m"] + g}
        item_0_ = state["t"]
        item_0_ += 1
        state = {**state, "t": item_0_}

Where an item is an array that nothing but ``+=`` and the like changes, these change it in place.

Only of dicts that the function itself makes, and that nothing else has a name for: what it is given
is its caller's, and functions that it hands its own to must not give them back (see `hands_on`).
"""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from loopbook.syntax import mentioned

_READ = {"get", "items", "keys", "values", "copy"}
"""Methods of dicts that change nothing."""


def with_own_dicts(body: Sequence[ast.stmt], numbers: count) -> list[ast.stmt]:
    """Statements in which dicts are made anew where they were stored into; those given stay what
    they are.

    Args:
        numbers: for names that nothing else has.
    """
    names = stored_by_key(body)
    if not names:
        return list(body)
    writer = _Stores(names, _in_place(body), numbers)
    return [made for node in body for made in writer.written(copy.deepcopy(node))]


def stored_by_key(body: Sequence[ast.stmt]) -> set[str]:
    """Names of a function's own dicts that loops or branches store into."""
    kept = _in_place(body)
    nested = {
        name
        for node in body
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.FunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Assign | ast.AugAssign)
        and (name := _stored(inner))
        and _item(inner) not in kept
    }
    if not nested:
        return set()
    uses: defaultdict[str, list[bool]] = defaultdict(list)
    for node in body:
        for name, is_fine in _uses(node):
            uses[name].append(is_fine)
    return {
        name
        for name in nested
        if all(uses[name]) and _is_made_first(name, body) and not _grows(name, body)
    }


def _grows(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether a dict is stored into by a key that it may not have."""
    nodes = [node for outer in body for node in ast.walk(outer)]
    wanted = {_item(n)[1] for n in nodes if isinstance(n, ast.Assign) and _stored(n) == name}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=made)], value=ast.Dict(keys=keys)):
                known = {key.value for key in keys if isinstance(key, ast.Constant)}
                if made == name and not wanted <= known | {""}:
                    return True
    return False


def _in_place(body: Sequence[ast.stmt]) -> set[tuple[str, str]]:
    """Items, by their dict and key, that may be arrays and that only ``+=`` and the like change."""
    changed, others = set(), set()
    for outer in body:
        for node in ast.walk(outer):
            match node:
                case ast.AugAssign():
                    changed.add(_item(node))
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as made):
                    for key, value in zip(made.keys, made.values, strict=True):
                        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                            others.add((name, key.value))
                case ast.Assign():
                    others.add(_item(node))
    named = {name for name, key in changed | others if not key}
    return {(name, key) for name, key in changed - others if name not in named}


def _item(node: ast.Assign | ast.AugAssign) -> tuple[str, object]:
    """The dict and the key that a statement stores by; no key if that is a variable."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not (name := _stored(node)) or not isinstance(target, ast.Subscript):
        return "", ""
    return name, target.slice.value if isinstance(target.slice, ast.Constant) else ""


def _is_made_first(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether the first statement with a name makes it: of parameters others have dicts, too."""
    first = next(node for node in body if name in mentioned(node))
    match first:
        case ast.Assign(targets=[ast.Name()], value=value):
            return name not in mentioned(value)
    return False


def hands_on(body: Iterable[ast.stmt], name: str) -> bool:
    """Whether a function may give a dict that it was given to others, by itself."""
    return not all(fine for node in body for used, fine in _uses(node) if used == name) or any(
        isinstance(node, ast.Return) and node.value is not None and name in _whole(node.value)
        for outer in body
        for node in ast.walk(outer)
    )


def _stored(node: ast.AST) -> str:
    """The name of what a statement stores into by a plain key."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)]):
            pass
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name), slice=key)):
            pass
        case _:
            return ""
    return name if _is_key(key) else ""


def _whole(value: ast.expr) -> set[str]:
    """Names of what an expression gives as it is, alone or as an item."""
    match value:
        case ast.Name(id=name):
            return {name}
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return {name for part in parts for name in _whole(part)}
        case ast.Dict(values=parts):
            return {name for part in parts for name in _whole(part)}
        case ast.IfExp(body=one, orelse=other):
            return _whole(one) | _whole(other)
    return set()


def _is_display(value: ast.expr) -> bool:
    match value:
        case ast.Dict(keys=keys):
            return all(isinstance(k, ast.Constant) and isinstance(k.value, str) for k in keys)
        case ast.DictComp() | ast.Call(func=ast.Name(id="dict")):
            return True
    return False


def _uses(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """The names in a tree, and whether each is used as only a dict's alone may be."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_display(value):
            yield name, True
            yield from _uses(value)
            return
        case ast.Subscript(value=ast.Name(id=name)) if not isinstance(node.ctx, ast.Del):
            stored = isinstance(node.ctx, ast.Store) and not _is_key(node.slice)
            yield name, not stored
            yield from _uses(node.slice)
            return
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute in _READ:
            yield name, True
            return
        case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
            yield name, True
            skipped = [node.iter]
        case ast.Return(value=value) if value is not None:
            yield from ((name, True) for name in _whole(value))
            skipped = [n for n in ast.walk(value) if isinstance(n, ast.Name) and _is_in(n, value)]
        case ast.Call():
            # What is called may read it, and must not give it back (`hands_on`).
            skipped = [n for n in _given(node) if isinstance(n, ast.Name)]
            yield from ((name.id, True) for name in skipped)
        case ast.Dict():
            skipped = [
                part
                for key, part in zip(node.keys, node.values, strict=True)
                if key is None and isinstance(part, ast.Name)
            ]
            yield from ((name.id, True) for name in skipped)
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
            yield name, True
            skipped = node.comparators
        case ast.Name(id=name):
            yield name, False
            return
        case ast.arg(arg=name) | ast.Global(names=[name]) | ast.Nonlocal(names=[name]):
            yield name, False
            return
        case _:
            skipped = []
    for inner in ast.iter_child_nodes(node):
        if not any(inner is one for one in skipped):
            yield from _inner_uses(inner, skipped)


def _inner_uses(node: ast.AST, skipped: Sequence[ast.AST]) -> Iterator[tuple[str, bool]]:
    """The uses in a part, but for those that have been seen."""
    seen = {id(one) for one in skipped}
    if isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.IfExp | ast.keyword) and seen:
        for inner in ast.iter_child_nodes(node):
            if id(inner) not in seen:
                yield from _inner_uses(inner, skipped)
    else:
        yield from _uses(node)


def _is_in(name: ast.Name, value: ast.expr) -> bool:
    """Whether a name stands in an expression as what is given, not as part of a computation."""
    if value is name:
        return True
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return any(_is_in(name, part) for part in parts)
        case ast.IfExp(body=one, orelse=other):
            return _is_in(name, one) or _is_in(name, other)
    return False


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(word.value for word in call.keywords)]


def _is_key(key: ast.expr) -> bool:
    return isinstance(key, ast.Name) or (
        isinstance(key, ast.Constant) and isinstance(key.value, str)
    )


class _Stores(ast.NodeTransformer):
    def __init__(self, names: set[str], kept: set[tuple[str, str]], numbers: count) -> None:
        self.names, self.kept, self.numbers = names, kept, numbers

    def written(self, node: ast.stmt) -> list[ast.stmt]:
        made = self.visit(node)
        return made if isinstance(made, list) else [made]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        name = _stored(node)
        if name not in self.names:
            return node
        (target,) = node.targets
        assert isinstance(target, ast.Subscript)
        return _with(name, target.slice, node.value, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        name = _stored(node)
        if name not in self.names or _item(node) in self.kept:
            return node
        assert isinstance(node.target, ast.Subscript)
        key, item = node.target.slice, f"item_{next(self.numbers)}_"
        old = ast.Subscript(ast.Name(name, ast.Load()), key, ast.Load())
        lines: list[ast.stmt] = [
            ast.Assign([ast.Name(item, ast.Store())], old),
            ast.AugAssign(ast.Name(item, ast.Store()), node.op, node.value),
        ]
        placed = [ast.fix_missing_locations(ast.copy_location(line, node)) for line in lines]
        return [*placed, _with(name, key, ast.Name(item, ast.Load()), node)]


def _with(name: str, key: ast.expr, value: ast.expr, at: ast.stmt) -> ast.stmt:
    """``name = {**name, key: value}``"""
    made = ast.Dict([None, key], [ast.Name(name, ast.Load()), value])
    line = ast.Assign([ast.Name(name, ast.Store())], made)
    return ast.fix_missing_locations(ast.copy_location(line, at))
