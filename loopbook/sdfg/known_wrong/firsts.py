"""Scalars whose first value docc puts in where a loop reads what its iteration before left."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from loopbook.sdfg.known_wrong import resets
from loopbook.sdfg.known_wrong.carried import block_reads, hide, numbers, reads_first
from loopbook.sdfg.known_wrong.kinds import FLOAT, Kind, Kinds
from loopbook.syntax import walk

Loop = ast.For | ast.While


def run(kinds: Kinds) -> None:
    """Write such a first value so that docc does not know it; without anything to write it with,
    keep the variable in memory.

    docc does so for floats whose first value is a number, where a branch or an inner loop sets
    them, and they are read elsewhere, or it reads them. Whole numbers are symbols, which it follows
    rightly, and so it does what a test only compares. What is set and read in the loop itself: see
    `carried`.

    Before::                              After::

        s = 0.5                               s = float(a.shape[0]) * 0.0 + 0.5
        for i in range(n):                    for i in range(n):
            b[i] = s                              b[i] = s
            if a[i] > 0.0:                        if a[i] > 0.0:
                s = a[i]                              s = a[i]
    """
    source = kinds.source
    given = list(numbers(source))
    for name, loop in sorted(_doubtful(source.body).items()):
        known = [node for other, node, _ in given if other == name]
        if not known or kinds.of(ast.Name(name, ast.Load())).what != FLOAT:
            continue
        if not hide(kinds, known, f"docc takes the first value of '{name}' for all others"):
            resets.keep(source, name, loop, Kind(FLOAT, 0, 64))
    source.locate()


def _doubtful(body: list[ast.stmt]) -> dict[str, Loop]:
    """Variables that loops carry and read in other statements than those that change them, where a
    branch or an inner loop does one of the two, each with such a loop."""
    found: dict[str, Loop] = {}
    for loop in (n for line in body for n in walk(line) if isinstance(n, Loop)):
        carried = _stored(loop.body) & block_reads(loop.body)[0]
        if carried:
            inner = [n for line in loop.body for n in walk(line) if isinstance(n, ast.If | Loop)]
            sometimes = _stored([line for n in inner for line in (*n.body, *n.orelse)])
            for name, inside in _other_reads(loop.body, set()):
                if name in carried and (inside or name in sometimes):
                    found[name] = loop
    return found


def _stored(body: list[ast.stmt]) -> set[str]:
    names = (n for line in body for n in walk(line) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(getattr(n, "ctx", None), ast.Store)}


def _stored_in_branches(body: list[ast.stmt]) -> set[str]:
    branches = [n for line in body for n in walk(line) if isinstance(n, ast.If)]
    return _stored([line for n in branches for line in (*n.body, *n.orelse)])


def _other_reads(
    body: list[ast.stmt], written: set[str], inside: bool = False
) -> Iterator[tuple[str, bool]]:
    """Variables that statements read, but for those that the same statement adds something to or
    the like, or that were written before (also by a loop that may not run: that is what docc gets
    right); and whether it is in a branch or an inner loop."""
    for line in body:
        reads, sure = reads_first(line)
        match line:
            case ast.If(test=test, body=then, orelse=other):
                yield from ((n, inside) for n in _computed_with(test) if n not in written)
                yield from _other_reads(then, set(written), True)
                yield from _other_reads(other, set(written), True)
            case ast.For(body=inner) | ast.While(body=inner):
                yield from _other_reads(inner, set(written), True)
                sure |= _stored(inner) - _stored_in_branches(inner)
            case _:
                own = sure - _within(line)
                yield from ((n, inside) for n in reads - own - written)
        written |= sure


def _within(line: ast.stmt) -> set[str]:
    """Variables that a statement reads to compute operands with: docc computes those first."""
    if not isinstance(line, ast.Assign | ast.AugAssign):
        return set()
    value = line.value
    operands = [value]
    if isinstance(line, ast.Assign) and isinstance(value, ast.BinOp):
        operands = [value.left, value.right]
    inner = (n for operand in operands if not isinstance(operand, ast.Name) for n in walk(operand))
    return {n.id for n in inner if isinstance(n, ast.Name)}


def _computed_with(test: ast.expr) -> Iterator[str]:
    """Variables that a test computes with, and does not only compare."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _computed_with(value)
    elif isinstance(test, ast.Compare):
        for side in (test.left, *test.comparators):
            if not isinstance(side, ast.Name):
                yield from (n.id for n in walk(side) if isinstance(n, ast.Name))
    else:
        yield from (n.id for n in walk(test) if isinstance(n, ast.Name))
