"""Names that are None until they are a number: a flag says which they are.

Before::

    best = None
    for v in x:
        if best is None or v > best:
            best = v

After::

    best = 0
    none_best_ = True
    for v in x:
        if none_best_ or v > best:
            best = v
            none_best_ = False

Of such a name it is asked whether it is None; or it is computed with, which Python would not do
with None. Where it is handed on (returned, given another name, stored), a call in which it is
None then is left to Python.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Sequence

NONE = "none_"
"""What the name of a flag begins with."""

ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def optional_names(body: Sequence[ast.stmt], parameters: Collection[str] = ()) -> frozenset[str]:
    """Names that are None at first and something else later, and that are used as numbers alone."""
    stored: dict[str, list[bool]] = {}
    refused = set(parameters)
    for node in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    stored.setdefault(target.id, []).append(_is_none(node.value))
    none = {name for name, values in stored.items() if any(values) and not all(values)}
    counts = {name: len(values) for name, values in stored.items()}
    simple = {id(name) for statement in body for name in _handed_on(statement, none)}
    for statement in body:
        for node, parent in _with_parents(statement):
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                refused |= none
            if not isinstance(node, ast.Name) or node.id not in none:
                continue
            if not isinstance(node.ctx, ast.Load):
                counts[node.id] -= 1
            elif id(node) not in simple and not _is_as_a_number(parent):
                refused.add(node.id)
    refused |= {name for name in none if counts[name]}  # stored into in another way
    return frozenset(none - refused)


def _handed_on(node: ast.AST, names: Collection[str]) -> Iterator[ast.Name]:
    """Where statements that hold no others do more with such names than compute."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Return):
        for inner, parent in _with_parents(node):
            if not isinstance(inner, ast.Name) or inner.id not in names:
                continue
            if isinstance(inner.ctx, ast.Load) and not _is_as_a_number(parent):
                yield inner
        return
    for child in ast.iter_child_nodes(node):
        yield from _handed_on(child, names)


def with_flags(body: Sequence[ast.stmt], parameters: Collection[str] = ()) -> list[ast.stmt]:
    """The statements with a flag for each such name; `body` itself stays what it is."""
    begun = _one_by_one(body)
    names = optional_names(begun, parameters)
    if not names:
        return list(body)
    body = begun
    made = [_Flagged(names).visit(copy.deepcopy(node)) for node in body]
    flat: list[ast.stmt] = []
    for one in made:
        flat += one if isinstance(one, list) else [one]
    return flat


def _one_by_one(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """``best, place = 1.0, None``, and what else is assigned to such names in a tuple, name by
    name, where what is assigned reads none of them."""
    none = {
        target.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign)
        for target, value in _pairs(node)
        if isinstance(target, ast.Name) and _is_none(value)
    }
    parted = _Apart(none) if none else None
    return [made for node in body for made in (parted.stay(node) if parted else [node])]


def _pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """Targets in a tuple with what each is assigned."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=to)], value=ast.Tuple(elts=values)):
            if len(to) == len(values) and not any(
                isinstance(n, ast.Starred) for n in (*to, *values)
            ):
                return list(zip(to, values, strict=True))
    return []


class _Apart(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self._names = names

    def stay(self, node: ast.stmt) -> list[ast.stmt]:
        """What stands for a statement, which itself stays what it is."""
        made = self.visit(copy.deepcopy(node))
        return made if isinstance(made, list) else [made]

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        pairs = _pairs(node)
        own = {target.id for target, _ in pairs if isinstance(target, ast.Name)}
        read = {n.id for _, value in pairs for n in ast.walk(value) if isinstance(n, ast.Name)}
        if len(own) < len(pairs) or own & read or not own & self._names:
            return node
        return [_assigned(target, value, node) for target, value in pairs]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with_parents(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        yield child, node
        yield from _with_parents(child)


def _is_as_a_number(parent: ast.AST) -> bool:
    """Whether Python raises where it is None, or asks for it."""
    match parent:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            if isinstance(operator, ast.Is | ast.IsNot):
                return _is_none(right) or _is_none(left)
            return isinstance(operator, (*ORDER, ast.Eq, ast.NotEq))
        case ast.Compare(ops=operators):
            return all(isinstance(operator, ORDER) for operator in operators)
        case ast.BinOp() | ast.Subscript():
            return True
        case ast.UnaryOp(op=operator):
            return not isinstance(operator, ast.Not)
        case ast.Call(func=ast.Name(id=called)):
            return called in ("abs", "min", "max", "int", "float", "range")
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))):
            return True
    return False


class _Flagged(ast.NodeTransformer):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        given = [t.id for t in node.targets if isinstance(t, ast.Name) and t.id in self._names]
        made = self._checked(node)
        if given:
            none = _is_none(node.value)
            if none:
                node.value = ast.copy_location(ast.Constant(0), node.value)
            for name in given:
                made.append(_assigned(_flag(name, ast.Store()), ast.Constant(none), node))
        return made

    def _checked(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement behind checks that what it hands on is not None."""
        names = sorted({name.id for name in _handed_on(node, self._names)})
        self.generic_visit(node)
        tests = [ast.UnaryOp(ast.Not(), _flag(name, ast.Load())) for name in names]
        checks = [ast.copy_location(ast.Assert(test), node) for test in tests]
        return [*map(ast.fix_missing_locations, checks), node]

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        return self._checked(node)

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        return self._checked(node)

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        return self._checked(node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        sides = [node.left, *node.comparators]
        own = [s.id for s in sides if isinstance(s, ast.Name) and s.id in self._names]
        self.generic_visit(node)
        if not own or len(node.ops) > 1:
            return node
        flag: ast.expr = _flag(own[0], ast.Load())
        lacks = ast.UnaryOp(ast.Not(), copy.deepcopy(flag))
        made: ast.expr = node
        match node.ops[0]:
            case ast.Is():
                made = flag
            case ast.IsNot():
                made = lacks
            case ast.Eq():
                made = ast.BoolOp(ast.And(), [lacks, node])
            case ast.NotEq():
                made = ast.BoolOp(ast.Or(), [flag, node])
        return ast.fix_missing_locations(ast.copy_location(made, node))


def _flag(name: str, context: ast.expr_context) -> ast.Name:
    return ast.Name(f"{NONE}{name}_", context)


def _assigned(target: ast.expr, value: ast.expr, at: ast.stmt) -> ast.stmt:
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([target], value), at))
