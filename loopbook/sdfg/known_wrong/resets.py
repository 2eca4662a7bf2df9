"""Scalars that a loop sets in some iterations only, before it uses them in all."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from loopbook.sdfg.known_wrong.carried import block_reads, reads_first
from loopbook.sdfg.known_wrong.kinds import BOOL, FLOAT, INT, Kind, Kinds
from loopbook.sdfg.known_wrong.source import Source, expression, statement
from loopbook.syntax import mentioned, walk


def run(kinds: Kinds) -> None:
    """Keep such a variable in memory.

    docc takes a branch (or a loop that may not run) that sets a variable for one that always does,
    and leaves out what the variable had before: its first value, and what the end of an iteration
    gives it. Whether it does changes from run to run, so nothing is asked of it. What is in memory
    it leaves alone.

    Before::                              After::

                                              count = np.zeros(1, dtype=np.int64)
        count = 0                             count[0] = 0
        for i in range(n):                    for i in range(n):
            if a[i] < 0.0:                        if a[i] < 0.0:
                count = 0                             count[0] = 0
            count = count + 1                     count[0] = count[0] + 1
            b[i] = count                          b[i] = count[0]

    In a branch, docc leaves out in the same way what other branches gave the variable::

        if a[i] > 1.0:
            last = i
        else:
            if a[i] > 0.0:
                last = i
            b[i] = last

    And where each side may set a variable, and one may not, what it had before it::

        k = 1
        if a[i] > 1.0:
            k = 0
        elif a[i] < 0.0:
            k = 2

    Raises:
        MistranslationError: it is not known of what type the variable is.
    """
    source = kinds.source
    arrays = {n.value.id for n in source.walk() if _looks_into(n)}  # type: ignore[attr-defined]
    blocks = [(n, body) for line in source.body for n in walk(line) for body in _bodies(n)]
    for name, node in sorted((_half_set(source) | _doubtful(blocks)).items()):
        if name not in arrays:
            keep(source, name, node, kinds.of(ast.Name(name, ast.Load())))
    source.locate()


def keep(source: Source, name: str, node: ast.stmt, kind: Kind) -> None:
    """Keep a variable in memory.

    Raises:
        MistranslationError: it is not known of what type it is.
    """
    width = kind.bits or 64
    dtype = {BOOL: "bool_", INT: f"int{width}", FLOAT: f"float{width}"}.get(kind.what)
    if dtype is None or not kind.scalar:
        source.refuse(
            node,
            f"loses what '{name}' had where a branch may set it",
            f"give '{name}' its value in all branches",
        )
    cell = source.fresh(name)
    into = _Into(name, cell)
    source.node.body = [into.visit(line) for line in source.body]
    made = [statement(f"{cell} = np.zeros(1, dtype=np.{dtype})", node)]
    if name in source.parameters:
        made.append(statement(f"{cell}[0] = {name}", node))
    source.node.body[:0] = made
    source.mend(node, f"docc loses what '{name}' had where a branch may set it")


class _Into(ast.NodeTransformer):
    """A variable becomes the element of an array."""

    def __init__(self, name: str, cell: str) -> None:
        self._name, self._cell = name, cell

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != self._name:
            return node
        made = expression("cell[0]", node, cell=ast.Name(self._cell, ast.Load()))
        assert isinstance(made, ast.Subscript)
        made.ctx = getattr(node, "ctx", made.ctx)  # what we have written ourselves may have none
        return made


def _bodies(node: ast.AST) -> tuple[list[ast.stmt], ...]:
    """The statements of a loop, or of each side of a branch."""
    match node:
        case ast.For(body=body) | ast.While(body=body):
            return (body,)
        case ast.If(body=body, orelse=other):
            return body, other
    return ()


def _doubtful(blocks: Iterable[tuple[Any, list[ast.stmt]]]) -> dict[str, ast.stmt]:
    """Variables that may come from before a block, such as an iteration, and are first met where
    they may be set, each with the statement that has such a block."""
    found: dict[str, ast.stmt] = {}
    for node, body in blocks:
        carried = block_reads(body)[0]
        met: set[str] = set()
        for place, line in enumerate(body):
            reads, sure = reads_first(line)
            stored = set(_stored(line))
            if isinstance(line, ast.If):  # what one branch counts and all iterations use
                later = {n for other in body[place + 1 :] for n in mentioned(other)}
                reads -= later - mentioned(line.test)
            for name in (stored & carried) - reads - sure - met:
                found[name] = node
            met |= reads | sure | stored
    return found


def _half_set(source: Source) -> dict[str, ast.stmt]:
    """Variables that both sides of a branch may set, but not in any case, and that are met outside
    it, too; each with such a branch."""
    found: dict[str, ast.stmt] = {}
    all_met = Counter(n for line in source.body for n in _met(line))
    for node in [n for n in source.walk() if isinstance(n, ast.If)]:
        one, other = ({n for x in side for n in _stored(x)} for side in (node.body, node.orelse))
        met = Counter(_met(node))
        for name in (one & other) - reads_first(node)[1]:
            if all_met[name] > met[name]:
                found[name] = node
    return found


def _met(line: ast.AST) -> Iterator[str]:
    return (n.id for n in walk(line) if isinstance(n, ast.Name))


def _stored(line: ast.stmt) -> Iterator[str]:
    """Variables that a statement may set, but for counters of loops."""
    names = [n for n in walk(line) if isinstance(n, ast.Name)]
    loops = [n.target for n in walk(line) if isinstance(n, ast.For)]
    counters = {n.id for target in loops for n in walk(target) if isinstance(n, ast.Name)}
    made = (n.id for n in names if isinstance(getattr(n, "ctx", None), ast.Store))
    return (name for name in made if name not in counters)


def _looks_into(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.value, ast.Name)
