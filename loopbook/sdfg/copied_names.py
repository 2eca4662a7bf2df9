"""Whole numbers that stand for others: names that hold a copy of another variable for now.

``n = L`` and then ``a[i * n]`` reads where ``a[i * L]`` does, as long as none of the two changes::

    L = 2
    while L <= m:
        n = L            # n stands for L …
        a[i * n] = …
        L = L * 2        # … and no longer
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.tree import Assignments, Loop, Program
from loopbook.program.walk import Inner, children

Copies = Mapping[str, str]
"""What each name stands for."""


def after(node: Inner, known: Copies) -> dict[str, str]:
    """What names stand for after a node, of what was known before it."""
    if not isinstance(node, Assignments):
        return without(known, changed(node))
    left = dict(known)
    for one in node.assignments:
        value = said(one.expression.text, left)
        left = without(left, {one.symbol})
        if re.fullmatch(r"[A-Za-z_]\w*", value) and value != one.symbol:
            left[one.symbol] = value
    return left


def within(node: Inner, known: Copies) -> dict[str, str]:
    """What names stand for wherever control comes in a node with others in it."""
    return without(known, changed(node))


def said(text: str, known: Copies) -> str:
    """An expression in terms of what its names stand for."""
    return re.sub(r"[A-Za-z_]\w*", lambda m: known.get(m[0], m[0]), text) if known else text


def without(known: Copies, names: set[str]) -> dict[str, str]:
    return {name: other for name, other in known.items() if not {name, other} & names}


def changed(node: Program | Inner) -> set[str]:
    """Names that get another value in a node."""
    names: set[str] = set()
    if isinstance(node, Assignments):
        names.update(one.symbol for one in node.assignments)
    elif isinstance(node, Loop):
        names.add(node.variable)
    elif isinstance(node, Block):
        names.update(
            inner.container
            for place, inner in enumerate(node.nodes)
            if isinstance(inner, AccessNode) and node.inputs[place]
        )
    return names.union(*map(changed, children(node)))
