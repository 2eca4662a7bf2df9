"""What peeling sets apart for incomplete tiles stays a loop.

Recipes write out all copies of a loop (``unroll L0*``), also the one that ``peel`` makes for the
tiles at the edge. There the test whether the edge is reached stands in every copy of the body, with
the loops inside it: clang spends more time on that code than on all other code of the program, and
it is hardly ever run.

Nor is clang to write these loops out of its own accord, where they hold others that may run for
long: it makes vectors of each copy of those, and writes out some iterations of each. docc has no
word for that, so the loops get variables with a name that says so (`OF_REST`), and the C++ gets
the word (`with_loops_kept`).
"""

from __future__ import annotations

import re
from dataclasses import replace

from loopbook.program import walk
from loopbook.program.rename import escaping, renamed
from loopbook.program.tree import Branch, Case, Loop, Program
from loopbook.program.types import type_of
from loopbook.program.walk import Inner
from loopbook.steps.unroll import WRITTEN_OUT

OF_REST = "_of_rest"

_LOOP = re.compile(rf"^( *)(#pragma clang loop .*\n *)?(?=for\(\w+{OF_REST} = )", re.MULTILINE)


def keep_loops(program: Program) -> Program:
    """The program with loops in place of those that are to be written out in incomplete tiles;
    itself if there are none."""
    taken = frozenset(escaping(program)) | {n for n in program.containers if n.endswith(OF_REST)}
    names: dict[str, str] = {}

    def kept(node: Inner) -> Inner:
        if not isinstance(node, Branch) or len(node.cases) != 2:
            return node
        whole, rest = node.cases
        if not (band := _band(rest)):
            return node
        own = {loop.variable: loop.variable + OF_REST for loop in band}
        if _holds_long(band) and not taken & {*own, *own.values()}:
            names.update(own)
            rest = renamed(rest, own)
        return walk.with_new(node, (whole, walk.rebuilt(rest, _rolled)))

    found = walk.rebuilt(program, kept)
    types = {new: type_of(old, program.containers) for old, new in names.items()}
    return found.declaring(**types) if types else found


def with_loops_kept(code: str) -> str:
    """C++ in which clang writes no loop of an incomplete tile out."""

    def told(found: re.Match[str]) -> str:
        before, pragma = found[1], found[2] or ""
        words = pragma.strip() or "#pragma clang loop"
        return f"{before}{words} unroll(disable)\n{before}"

    return _LOOP.sub(told, code)


def _band(rest: Case) -> list[Loop]:
    """The loops of a case that holds nothing but loops with a test in the innermost, as `peel`
    makes it; none of another."""
    inner = rest.body.children
    if len(inner) != 1 or not isinstance(inner[0], Loop):
        return []
    band = walk.band(inner[0])
    inner = band[-1].body.children
    is_test = len(inner) == 1 and isinstance(inner[0], Branch) and len(inner[0].cases) == 1
    return band if is_test else []


def _holds_long(band: list[Loop]) -> bool:
    """Whether there is a loop inside these that does not always run equally often."""
    inside = (node for node in walk.preorder(band[-1].body) if isinstance(node, Loop))
    return any(loop.bounds.trip() is None for loop in inside)


def _rolled(node: Inner) -> Inner:
    if not isinstance(node, Loop) or WRITTEN_OUT not in node.schedule.properties:
        return node
    properties = tuple(one for one in node.schedule.properties if one != WRITTEN_OUT)
    return replace(node, schedule=replace(node.schedule, properties=properties))
