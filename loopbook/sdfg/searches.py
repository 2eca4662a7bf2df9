"""Searches that look at a block of elements at a time.

Before::

    for i in range(n):
        found = 0
        if a[i] == v: found = 1
        if found: at = i; break

and after::

    for ii in range(0, n - 63, 64):
        any = 0
        for i in range(ii, ii + 64):
            found = 0
            if a[i] == v: found = 1
            any = any | found
        if any: break
    for i in range(ii, n):
        ...  # as before

No compiler makes vectors of a loop that is left early: what follows might not be there. We know how
large arrays are, and look further ahead where all that is loaded lies inside them. The first of
20,000 numbers that is equal to another one is found in 4 us in place of 17 (AVX-512).

Done last of all, to what is served, where flags are set in one place (`loopbook.sdfg.decided`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from loopbook.dependence.scalars import private_to_iterations
from loopbook.errors import SdfgError
from loopbook.normal_form.extents import extents
from loopbook.program.accesses import accesses, written
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    Constant,
    Memlet,
    Statement,
    Tasklet,
    block,
)
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.inside import Around, is_element, within
from loopbook.program.tree import (
    Assignments,
    Branch,
    Case,
    Jump,
    Loop,
    Node,
    Program,
    Sequence,
    While,
)
from loopbook.program.types import Scalar
from loopbook.program.walk import Inner, children, preorder, rebuilt, with_new
from loopbook.sdfg.decided import asked_flag
from loopbook.sdfg.new_scalars import NewScalars

AHEAD = 64
"""Elements that are looked at together."""

_ROUND = re.compile(r"\(?(?P<name>\w+) < (?P<end>.+?)\)?")

_WORD = Scalar(dtype="int64")


def with_block_searches(program: Program) -> Program:
    """A finished program whose searches look ahead; itself if it has none."""
    jumps = (node for node in preorder(program) if isinstance(node, Jump))
    if not any(jump.kind == "break" for jump in jumps):
        return program
    sizes = extents(program)
    if not sizes:
        return program
    work = _Work(program, sizes, NewScalars(program))
    body = [one for child in program.body.children for one in work.below(child, ())]
    if not work.new.made:
        return program
    return replace(program, body=with_new(program.body, body)).declaring(**work.new.made)


@dataclass
class _Work:
    """The program, and the scalars that it needs in addition.

    Attributes:
        sizes: how many elements arrays have.
    """

    program: Program
    sizes: Mapping[str, Polynomial]
    new: NewScalars

    def below(self, node: Inner, around: Around) -> list[Inner]:
        """A node with searches that look ahead in it, and what has to stand in front of it."""
        if isinstance(node, Loop | Case):
            try:
                around = within(around, node)
            except SdfgError:
                return [node]
        if isinstance(node, Loop) and (found := self._searched(node, around)) is not None:
            return found
        return [with_new(node, [one for c in children(node) for one in self.below(c, around)])]

    def _searched(self, loop: Loop, around: Around) -> list[Inner] | None:
        """A loop that does nothing but search, behind one that looks ahead."""
        ends = _ROUND.fullmatch(loop.condition.text)
        nodes = children(loop)
        if loop.step != 1 or ends is None or ends["name"] != loop.variable or not nodes:
            return None
        *before, last = nodes
        flag = _left_by(last)
        if flag is None or loop.bounds.trip() is not None or not all(map(_stores_none, before)):
            return None
        set_here = {name for node in before for name in written(node)}
        if flag not in set_here or not set_here <= private_to_iterations(self.program, loop):
            return None
        reads = [one for node in before for one in accesses(node) if not one.write and one.subset]
        if not reads or not all(
            is_element(one.subset, one.container, self.sizes, around) for one in reads
        ):
            return None
        return self._ahead(loop, before, flag, ends["end"])

    def _ahead(self, loop: Loop, before: list[Inner], flag: str, end: str) -> list[Inner]:
        begin, some = (self.new.of(f"loopbook_{one}_", _WORD) for one in ("ahead", "some"))
        nothing = block(
            (Constant("0", _WORD), Tasklet("assign", ("_in",), "_out"), AccessNode(some)),
            (Memlet(0, 1, "void", "_in", (), _WORD), Memlet(1, 2, "_out", "void", (), _WORD)),
        )
        inner = Loop(
            loop.variable,
            Expr(begin),
            Expr(f"{loop.variable} < {AHEAD} + {begin}"),
            loop.update,
            Sequence((*map(_anew, before), self._noted(some, flag))),
            schedule=loop.schedule,
        )
        leave = Branch((Case(Expr(f"0 != {some}"), Sequence((Jump("break"),))),))
        outer = Loop(
            begin,
            loop.init,
            Expr(f"{AHEAD - 1} + {begin} < {end}"),
            Expr(f"{AHEAD} + {begin}"),
            Sequence((nothing, inner, leave)),
        )
        return [outer, replace(loop, init=Expr(begin))]

    def _noted(self, some: str, flag: str) -> Block:
        kind = self.program.containers[flag]
        nodes = (
            AccessNode(some),
            AccessNode(flag),
            Tasklet("int_or", ("_in1", "_in2"), "_out"),
            AccessNode(some),
        )
        memlets = (
            Memlet(0, 2, "void", "_in1", (), _WORD),
            Memlet(1, 2, "void", "_in2", (), kind),
            Memlet(2, 3, "_out", "void", (), _WORD),
        )
        return block(nodes, memlets)


def _stores_none(node: Inner) -> bool:
    """Whether a node only computes scalars."""
    allowed = Statement | Assignments | Branch | Case
    return all(isinstance(part, allowed) for part in preorder(node)) and not any(
        one.write and one.subset for one in accesses(node)
    )


def _left_by(node: Inner) -> str | None:
    """The flag for which a branch leaves the loop, if there is no other side to it."""
    if not isinstance(node, Branch) or len(node.cases) != 1:
        return None
    (case,) = node.cases
    flag = asked_flag(case.condition)
    inside = children(case)
    if flag is None or not inside or any(isinstance(one, Loop | While) for one in preorder(case)):
        return None
    last = inside[-1]
    return flag if isinstance(last, Jump) and last.kind in ("break", "return") else None


def _anew(node: Inner) -> Node:
    """A copy of a node, whose elements have no numbers yet."""
    return cast(Node, _bare(rebuilt(node, _bare)))


def _bare(node: Inner) -> Inner:
    if isinstance(node, Block):
        return replace(
            node,
            id=None,
            nodes=tuple(replace(one, id=None) for one in node.nodes),
            memlets=tuple(replace(one, id=None) for one in node.memlets),
        )
    return node if isinstance(node, Case) else replace(node, id=None)
