"""Ends of parallel loops as docc's threads read them.

docc's front end counts the iterations of a loop with a step: of ``range(1, n, 3)`` it makes
``for (i = 0; 1 + 3*i < n; i++)``. Where it gives such a loop to threads, alone or as one of several
that it makes one of, it writes ``i < (n - 1) / 3`` instead (seen with 0.8.1): the last iteration is
lost where the division leaves a rest.
"""

from __future__ import annotations

from dataclasses import replace

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.bounds import inequalities, rooms
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.tree import SEQUENTIAL, Loop, Program
from loopbook.program.walk import Inner, rebuilt


def with_whole_trips(program: Program) -> Program:
    """The program with parallel loops whose variables have no factor in their conditions; those
    for which there is no such condition run serially. Itself if all is well."""

    def counted(node: Inner) -> Inner:
        if not isinstance(node, Loop) or (node.kind == "for" and not node.schedule.is_shared):
            return node
        return node if _is_plain(node) else _counted(node)

    return rebuilt(program, counted)


def _is_plain(loop: Loop) -> bool:
    """Whether the variable has no factor in the loop's condition."""
    try:
        gaps = inequalities(loop.condition)
    except SdfgError:
        return False
    rests = (expr.plus(gap, {(loop.variable,): -gap.get((loop.variable,), 0)}) for gap in gaps)
    return all(abs(gap.get((loop.variable,), 0)) <= 1 for gap in gaps) and not any(
        loop.variable in expr.mentioned(rest) for rest in rests
    )


def _counted(loop: Loop) -> Loop:
    """The loop with another condition, or a serial one."""
    try:
        ends = _ends(loop)
    except SdfgError:
        ends = []
    if not ends:
        return replace(loop, kind="for", reductions=None, schedule=SEQUENTIAL)
    return replace(loop, condition=Expr(f"({loop.variable} < {expr.smallest(ends)})"))


def _ends(loop: Loop) -> list[str]:
    """What the variable stays below: each of these; nothing if that is not known.

    Quotients are rounded towards 0, so the variable must not begin below it.
    """
    begin = loop.init.polynomial
    if begin.keys() - {()} or begin.get((), 0) < 0:
        return []
    parts = rooms(loop.condition)
    ends = [_end(gap, loop.variable) for part in parts for gap in part]
    return ends if all(parts) and all(ends) else []


def _end(gap: Polynomial, variable: str) -> str:
    """What a variable stays below where a gap is 0 or more; nothing if that is not known."""
    factor = -gap.get((variable,), 0)
    rest = expr.plus(gap, {(variable,): factor})
    if factor < 1 or variable in expr.mentioned(rest):
        return ""
    top = expr.text(expr.plus(rest, {(): factor}))
    return f"({top})" if factor == 1 else f"idiv({top}, {factor})"
