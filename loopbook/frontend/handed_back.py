"""Names that calls are given and that are assigned what the calls give back.

Before::

    def step(u, v):
        u += 0.1 * v
        return u, v

    for _ in range(n):
        u, v = step(u, v)

After::

    for _ in range(n):
        for i0 ...: u[i0] = u[i0] + 0.1 * v[i0]

Mostly it is the very array, changed in place; who else knows it sees that. So such a name keeps the
array that it has until something else is assigned to it.
"""

from __future__ import annotations

import ast

from loopbook.frontend.liveness import Names, loads
from loopbook.syntax import walk


def handed_back(statement: ast.AST) -> Names:
    """Names of which each assignment in a statement is of a call that is given the name."""
    given: set[str] = set()
    others: set[str] = set()
    within: set[int] = set()
    for node in walk(statement):
        match node:
            case ast.Assign(targets=[target], value=ast.Call() as call):
                named = [n for n in walk(target) if isinstance(n, ast.Name)]
                passed = loads(ast.Tuple([*call.args, *(k.value for k in call.keywords)]))
                back = [n for n in named if n.id in passed]
                given |= {n.id for n in back}
                within |= {id(n) for n in back}
    for node in walk(statement):
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and id(node) not in within
        ):
            others.add(node.id)
    return frozenset(given - others)
