"""Both branches of an ``if`` that end in one update, for which docc simplifies for ever."""

from __future__ import annotations

import ast

from loopbook.sdfg.known_wrong.source import Source


def run(source: Source) -> None:
    """Put an update that both branches end in behind them.

    docc moves an assignment that all branches have in common, and goes on doing so for ever where
    what is assigned is made of what was there.

    Before::                              After::

        while i < n:                          while i < n:
            if x[i] < 0.0:                        if x[i] < 0.0:
                x[i] = 0.0                            x[i] = 0.0
                i += 1                            else:
            else:                                     s += x[i]
                s += x[i]                         i += 1
                i += 1
    """
    # From the inside outwards: what is put behind an inner branch may be common to outer ones.
    for node in reversed(list(source.walk())):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                block[:] = _with_common_behind(source, block)
    source.locate()


def _with_common_behind(source: Source, block: list[ast.stmt]) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for statement in block:
        made.append(statement)
        behind: list[ast.stmt] = []
        while isinstance(statement, ast.If) and _ends_alike(statement):
            source.mend(statement, "put what both branches end in behind them")
            behind.insert(0, statement.body.pop())
            statement.orelse.pop()
            if not statement.body:
                statement.body = [ast.copy_location(ast.Pass(), statement)]
        made += behind
    return made


def _ends_alike(node: ast.If) -> bool:
    if not node.body or not node.orelse:
        return False
    one, other = node.body[-1], node.orelse[-1]
    return _is_update(one) and ast.dump(one) == ast.dump(other)


def _is_update(node: ast.stmt) -> bool:
    """Whether it makes a variable's value of the one that it has."""
    match node:
        case ast.AugAssign(target=ast.Name()):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node.value))
    return False


__all__ = ["run"]
