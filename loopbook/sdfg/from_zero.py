"""Parallel loops in each other, of which docc makes one.

Where docc gives such loops to threads, it counts through both with one variable, from 0 to the
product of their ends, and takes both to begin at 0 (seen with 0.8.1). Those of its front end do;
what a step leaves of a loop may begin anywhere.
"""

from __future__ import annotations

from dataclasses import replace

from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import bounds, expr
from loopbook.program.expr import Expr
from loopbook.program.tree import SEQUENTIAL, Loop, Program
from loopbook.program.walk import Outer, children, with_new
from loopbook.steps.region import put_for


def counted_from_zero(program: Program) -> Program:
    """The program with loops from 0 on where docc may make one of several; those that cannot be
    counted so run serially. Itself if all is well."""
    return _counted(program, joined=False)


def _counted(node: Outer, *, joined: bool) -> Outer:
    """A node with the loops in it counted so, and itself.

    Args:
        joined: whether docc may make one loop of the node and the one around it.
    """
    if isinstance(node, Loop) and node.schedule.is_shared:
        return node  # what is inside of threads docc leaves as it is
    inner = _joined(node)
    node = with_new(node, [_counted(c, joined=c is inner) for c in children(node)])
    if isinstance(node, Loop) and (joined or inner) and node.init.text != "0":
        return _from_zero(node)
    return node


def _joined(node: object) -> Loop | None:
    """The loop that docc may make one of with the one around it."""
    if not (isinstance(node, Loop) and _is_map(node) and len(node.body.children) == 1):
        return None
    (inner,) = node.body.children
    if isinstance(inner, Loop) and _is_map(inner):
        named = inner.init.symbols | inner.condition.symbols
        return None if node.variable in named else inner
    return None


def _is_map(loop: Loop) -> bool:
    """Whether docc may make one of a loop and another one: both count by ones."""
    try:
        by = bounds.step(loop.variable, loop.update)
    except SdfgError:
        by = None
    return loop.kind == "map" and by == 1 and not loop.schedule.is_shared


def _from_zero(loop: Loop) -> Loop:
    """The loop from 0 on, or a serial one."""
    try:
        highs = loop.bounds.highs
        if not highs:
            raise IllegalStepError("it has no bound")
        begin = f"({loop.init})"
        body = put_for(loop.body, {loop.variable: f"({loop.variable} + {begin})"})
    except (IllegalStepError, SdfgError):
        return replace(loop, kind="for", reductions=None, schedule=SEQUENTIAL)
    # Two negative ends would have a product that is none.
    end = f"max(0, {expr.smallest(map(expr.text, highs))} - {begin})"
    condition = Expr(f"({loop.variable} < {end})")
    return replace(loop, init=Expr("0"), condition=condition, body=body)
