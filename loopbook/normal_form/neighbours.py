"""Neighbouring nests that go over the same elements, as one nest.

Before::

    for i: t[i] = f(A[i])
    for i: B[i] = g(t[i], A[i])
    for i from 1: C[i] = t[i - 1] + B[i - 1]

and after::

    for i: t[i] = f(A[i]); B[i] = g(t[i], A[i]); C[i + 1] = t[i] + B[i]

so that ``t`` may become a scalar (`loopbook.normal_form.contraction`). Of a small program docc does
that; of one that it is only shown in pieces (`loopbook.sdfg.pieces`) it does not see it.
"""

from __future__ import annotations

from itertools import pairwise

from loopbook.errors import IllegalStepError, LoopbookError
from loopbook.normal_form.inlining import MOST_BODY
from loopbook.normal_form.producer import work_of
from loopbook.program import expr, walk
from loopbook.program.accesses import own_accesses
from loopbook.program.dataflow import Statement
from loopbook.program.element import like
from loopbook.program.expr import Expr
from loopbook.program.tree import Assignments, Loop, Program
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import put_for


def with_fused_neighbours(program: Program) -> Program:
    """The program with such nests fused; itself if it has none."""
    refused: set[tuple[int | None, int | None]] = set()
    while (made := _one_less(program, refused)) is not None:
        program = made
    return program


def _one_less(program: Program, refused: set[tuple[int | None, int | None]]) -> Program | None:
    """The program with two of its nests fused.

    Args:
        refused: numbers of the loops that cannot be; gets more of them.
    """
    for path, holder in walk.places(program):
        for place, (one, other) in enumerate(pairwise(walk.children(holder))):
            if not (isinstance(one, Loop) and isinstance(other, Loop)) or not _wanted(one, other):
                continue
            if (one.id, other.id) in refused:
                continue
            try:
                return _fused(program, (*path, place), one, other)
            except LoopbookError:
                refused.add((one.id, other.id))
    return None


def _wanted(one: Loop, other: Loop) -> bool:
    """Whether two nests are alike enough, use an array together and do not too much."""
    bands = walk.band(one), walk.band(other)
    if len(bands[0]) != len(bands[1]) or not (one.id and other.id):
        return False
    work, used = 0, []
    for band in bands:
        body = band[-1].body.children
        if not all(type(node) is Statement or isinstance(node, Assignments) for node in body):
            return False
        work += sum(work_of(node) for node in body if isinstance(node, Statement | Assignments))
        found = (access for node in body for access in own_accesses(node))
        used.append({access.container for access in found if access.subset})
    return work <= MOST_BODY and not used[0].isdisjoint(used[1])


def _fused(program: Program, path: walk.Path, one: Loop, other: Loop) -> Program:
    """The program with the nests at a path and behind it as one.

    Raises:
        LoopbookError: they run over other ranges, or would in another order than they have to.
    """
    following = (*path[:-1], path[-1] + 1)
    program = walk.replaced(program, following, _aligned(one, other))
    for _ in walk.band(one):
        holder = walk.at(program, path[:-1])
        first, second = walk.children(holder)[path[-1] : path[-1] + 2]
        assert isinstance(first, Loop)
        assert isinstance(second, Loop)
        editor = Editor(program, {"L0": first.id or 0, "L1": second.id or 0}, {})
        Step("fuse", ("L0", "L1")).apply(editor)
        program, path = editor.program, (*path, 0)
    return program


def _aligned(one: Loop, other: Loop) -> Loop:
    """The second nest, its loops counted from where the first one's begin."""
    if one.init.text != other.init.text:
        highs = other.bounds.highs
        if len(highs) != 1:
            raise IllegalStepError("it does not run up to one bound")
        gap = f"(({other.init.text}) - ({one.init.text}))"
        body = put_for(other.body, {other.variable: f"({other.variable} + {gap})"})
        end = f"({other.variable} < {expr.text(highs[0])} - {gap})"
        other = like(other, init=one.init, condition=Expr(end), body=body)
    inner, others = walk.children(one), walk.children(other)
    if len(inner) == 1 and isinstance(inner[0], Loop) and isinstance(others[0], Loop):
        return walk.with_new(other, [_aligned(inner[0], others[0])])
    return other
