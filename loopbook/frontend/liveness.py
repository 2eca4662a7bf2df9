"""Which names are read after a statement, and how often: plain dataflow over a function's tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from loopbook.frontend.scopes import own_names
from loopbook.syntax import walk

Names = frozenset[str]


def loads(node: ast.AST) -> Names:
    """Names that are read somewhere in `node`; a name that is stored into by index counts."""
    found = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for inner in walk(node):
        if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
            found.add(inner.target.id)
    return frozenset(found) - own_names(node)


def stores(body: Sequence[ast.AST]) -> Names:
    """Names that are assigned somewhere in `body`, not counting what is stored into by index."""
    return frozenset(
        n.id
        for statement in body
        for n in walk(statement)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ) - _own(body)


def rebinds(body: Sequence[ast.AST]) -> Names:
    """Names that are assigned as a whole: not by ``+=`` and the like, which change an array."""
    changed = {id(n.target) for s in body for n in walk(s) if isinstance(n, ast.AugAssign)}
    return frozenset(
        n.id
        for statement in body
        for n in walk(statement)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in changed
    ) - _own(body)


def asked_of(node: ast.AST) -> Names:
    """Names of which `node` asks whether they are true, or whether they are None; functions that
    they are passed to may do so."""
    asked: list[ast.expr] = []
    for inner in walk(node):
        match inner:
            case ast.Compare(ops=[ast.Is() | ast.IsNot(), *_]):
                asked.append(inner.left)
            case ast.BoolOp():
                asked += inner.values
            case ast.Call():
                asked += [*inner.args, *(keyword.value for keyword in inner.keywords)]
            case ast.UnaryOp(op=ast.Not()):
                asked.append(inner.operand)
            case ast.If() | ast.While() | ast.IfExp():
                asked.append(inner.test)
    return frozenset(value.id for value in asked if isinstance(value, ast.Name))


def _own(body: Sequence[ast.AST]) -> Names:
    return frozenset(name for statement in body for name in own_names(statement))


class Liveness:
    """Live names after each statement of a function.

    Attributes:
        after: from a statement's id to the names that may be read after it.
        head: from a loop's id to the names that may be read when an iteration begins.
        begun: from a loop's id to those of `head` that its body does not set first.
        taken: from an ``if``'s id to the names that may be read when one of its branches begins.
        closed_over: names that functions within it read, whenever they are called.
    """

    def __init__(self, body: Sequence[ast.stmt], returned: Names = frozenset()) -> None:
        self.after: dict[int, Names] = {}
        self.head: dict[int, Names] = {}
        self.begun: dict[int, Names] = {}
        self.taken: dict[int, Names] = {}
        self._exits: list[Names] = []
        self._returned = returned
        self._read: dict[int, Names] = {}
        self._added: list[ast.stmt] = []
        inner = [node for statement in body for node in walk(statement)]
        functions = [node for node in inner if isinstance(node, ast.FunctionDef | ast.Lambda)]
        self.closed_over = frozenset(name for node in functions for name in loads(node))
        self._body(body, returned)

    def replaced(self, node: ast.stmt, by: Sequence[ast.stmt]) -> None:
        """The same for statements that stand in place of another one."""
        self._added += by  # or others could have their ids
        self._body(by, self.after.get(id(node), frozenset()))

    def before(self, body: Sequence[ast.stmt], live: Names) -> Names:
        """Names that may be read from statements on, with those that are read after them."""
        return self._body(body, live)

    def _body(self, body: Sequence[ast.stmt], live: Names) -> Names:
        for statement in reversed(body):
            self.after[id(statement)] = live
            live = self._before(statement, live)
        return live

    def _before(self, node: ast.stmt, live: Names) -> Names:
        match node:
            case ast.If():
                branches = self._body(node.body, live) | self._body(node.orelse, live)
                self.taken[id(node)] = branches
                return branches | self._loads(node.test)
            case ast.For() | ast.While():
                return self._loop(node, live)
            case ast.Break() | ast.Continue():
                return self._exits[-1] if self._exits else live
            case ast.Return():
                return self._returned | self._loads(node)
            case ast.Assign():
                whole = {t.id for t in _targets(node.targets) if isinstance(t, ast.Name)}
                return (live - whole) | self._loads(node)
            case ast.AnnAssign() if isinstance(node.target, ast.Name) and node.value:
                return (live - {node.target.id}) | self._loads(node.value)
            case _:
                return live | self._loads(node)

    def _loop(self, node: ast.For | ast.While, live: Names) -> Names:
        live = live | self._body(node.orelse, live)
        test = self._loads(node.iter if isinstance(node, ast.For) else node.test)
        targets = stores([node.target]) if isinstance(node, ast.For) else frozenset()
        head = live if isinstance(node, ast.For) else live | test
        if isinstance(node, ast.While):
            head = head | test
        while True:  # names are only added
            self._exits.append(head | live)
            inner = self._body(node.body, head | live)
            self._exits.pop()
            if inner - targets <= head:
                break
            head = head | (inner - targets)
        self.head[id(node)] = head
        self.begun[id(node)] = (inner | test if isinstance(node, ast.While) else inner) - targets
        return head | test | live

    def _loads(self, node: ast.AST) -> Names:
        """As `loads`; parts of nested loops are asked for again and again."""
        if id(node) not in self._read:
            self._read[id(node)] = loads(node)
        return self._read[id(node)]


def _targets(targets: Iterable[ast.expr]) -> Iterable[ast.expr]:
    for target in targets:
        if isinstance(target, ast.Tuple | ast.List):
            yield from _targets(target.elts)
        else:
            yield target


def uses_next(name: str, rest: Sequence[ast.stmt]) -> list[tuple[ast.stmt, list[ast.AST]]]:
    """Statements among `rest` that read `name` until it is assigned anew, each with the way down
    to the first read."""
    found = []
    for statement in rest:
        ways = _ways(statement, name)
        found += [(statement, way) for way in ways]
        if isinstance(statement, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in _targets(statement.targets)
        ):
            break
    return found


def _ways(node: ast.AST, name: str) -> list[list[ast.AST]]:
    if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
        return [[node]]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        own = [[node, node.target]] if node.target.id == name else []
        return own + [[node, *way] for way in _ways(node.value, name)]
    return [[node, *way] for child in ast.iter_child_nodes(node) for way in _ways(child, name)]
