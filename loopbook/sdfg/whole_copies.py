"""Loops that copy to buffers of constant size and from them, so that clang can write them out.

A copy of a tile ends where the tile does, or the array: ``for (c = 0; c < 8 && c < n - i; c++)``.
clang can neither write such a loop out, nor make few vectors of it, nor keep in registers what it
copies. Run to the constant, with the other end asked for inside, it can do all three.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.copies import as_copy
from loopbook.program.expr import conjunction
from loopbook.program.tree import Branch, Case, Loop, Program, Sequence
from loopbook.program.types import Array
from loopbook.program.walk import Inner, band, children, rebuilt, with_children


def with_whole_copies(program: Program) -> Program:
    """A scheduled program whose copies from 0 to a constant, or less, run to the constant; itself
    if it has none."""

    def whole(node: Inner) -> Inner:
        if not isinstance(node, Loop) or node.kind != "map" or node.schedule.is_shared:
            return node
        return _whole(node) if _copies(program, node) else node

    return rebuilt(program, whole)


def _copies(program: Program, loop: Loop) -> bool:
    """Whether all that a loop does is to copy from a buffer or to one."""
    inner = children(band(loop)[-1])
    while len(inner) == 1 and isinstance(inner[0], Branch | Case):
        inner = children(inner[0])
    copy = as_copy(inner[0]) if len(inner) == 1 else None
    ends = (copy.source, copy.target) if copy else ()
    return any(isinstance(program.containers.get(name), Array) for name in ends)


def _whole(loop: Loop) -> Loop:
    try:
        bounds = loop.bounds
        parts = expr.arguments(expr.parse(loop.condition.text), "and")
    except SdfgError:
        return loop
    if bounds.step != 1 or not bounds.highs or any(low.keys() - {()} for low in bounds.lows):
        return loop
    texts = [ast.unparse(part) for part in parts]
    constant = [text for text in texts if set(expr.symbols(text)) <= {loop.variable}]
    others = [text for text in texts if text not in constant]
    if not constant or not others:
        return loop
    (inner,) = children(loop)
    held = with_children(loop, (_guarded(inner, others),))
    return replace(held, condition=conjunction(*constant))


def _guarded(node: Inner, tests: list[str]) -> Inner:
    """What a loop holds, its copy made where the tests hold alone."""
    match node:
        case Loop() | Branch():
            (inner,) = children(node)
            return with_children(node, (_guarded(inner, tests),))
        case Case():
            return replace(node, condition=conjunction(*tests, node.condition.text))
    return Branch((Case(conjunction(*tests), Sequence((node,))),))
