"""What peeling sets apart for incomplete tiles stays a loop.

Recipes write out all copies of a loop (``unroll L0*``), also the one that ``peel`` makes for the
tiles at the edge. There the test whether the edge is reached stands in every copy of the body, with
the loops inside it: clang spends more time on that code than on all other code of the program, and
it is hardly ever run.
"""

from __future__ import annotations

from dataclasses import replace

from loopbook.program import walk
from loopbook.program.tree import Branch, Case, Loop, Program
from loopbook.program.walk import Inner
from loopbook.steps.unroll import WRITTEN_OUT


def keep_loops(program: Program) -> Program:
    """The program with loops in place of those that are to be written out in incomplete tiles;
    itself if there are none."""

    def kept(node: Inner) -> Inner:
        if not isinstance(node, Branch) or len(node.cases) != 2:
            return node
        whole, rest = node.cases
        return walk.with_new(node, (whole, walk.rebuilt(rest, _rolled))) if _tests(rest) else node

    return walk.rebuilt(program, kept)


def _tests(rest: Case) -> bool:
    """Whether a case holds nothing but loops with a test in the innermost, as `peel` makes it."""
    inner = rest.body.children
    if len(inner) != 1 or not isinstance(inner[0], Loop):
        return False
    inner = walk.band(inner[0])[-1].body.children
    return len(inner) == 1 and isinstance(inner[0], Branch) and len(inner[0].cases) == 1


def _rolled(node: Inner) -> Inner:
    if not isinstance(node, Loop) or WRITTEN_OUT not in node.schedule.properties:
        return node
    properties = tuple(one for one in node.schedule.properties if one != WRITTEN_OUT)
    return replace(node, schedule=replace(node.schedule, properties=properties))
