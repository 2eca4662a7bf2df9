"""Whole numbers that have names: what a variable stands for, as long as nothing in that changes.

``n = max(1, L)`` and then ``a[i * n]`` reads where ``a[max(1, L) * i]`` does::

    L = 2
    while L <= m:
        n = max(1, L)    # n stands for that …
        a[i * n] = …
        L = L * 2        # … and no longer
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.tree import Assignments, Loop, Program
from loopbook.program.walk import Inner, children

Meanings = Mapping[str, str]
"""What each name stands for."""

LONGEST = 200
"""How long, in characters, a text may be that a name stands for."""

_NAME = re.compile(r"[A-Za-z_]\w*")


def after(node: Inner, known: Meanings) -> dict[str, str]:
    """What names stand for after a node, of what was known before it."""
    if not isinstance(node, Assignments):
        return _without(known, _changed(node))
    left = dict(known)
    for one in node.assignments:
        value = _meant(one.expression.text, left)
        left = _without(left, {one.symbol})
        if one.symbol not in _NAME.findall(value) and len(value) <= LONGEST:
            left[one.symbol] = value
    return left


def within(node: Inner, known: Meanings) -> dict[str, str]:
    """What names stand for wherever control comes in a node with others in it."""
    return _without(known, _changed(node))


def said(text: str, known: Meanings) -> str:
    """An expression in terms of what its names stand for, the same for ``i * n`` and ``n * i``."""
    text = _meant(text, known)
    try:
        return str(sorted(expr.polynomial(text).items()))
    except SdfgError:
        return text


def _meant(text: str, known: Meanings) -> str:
    def instead(name: re.Match[str]) -> str:
        return f"({known[name[0]]})" if name[0] in known else name[0]

    return _NAME.sub(instead, text) if known else text


def _without(known: Meanings, names: set[str]) -> dict[str, str]:
    return {
        name: value
        for name, value in known.items()
        if name not in names and names.isdisjoint(_NAME.findall(value))
    }


def _changed(node: Program | Inner) -> set[str]:
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
    return names.union(*map(_changed, children(node)))
