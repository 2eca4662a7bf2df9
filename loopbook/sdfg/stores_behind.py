"""Stores behind the branches that they end, where all sides store into the same element.

Before::

    for j: if a[i] == b[j]: t[i, j] = t[i - 1, j - 1] + 1
           else: t[i, j] = max(t[i - 1, j], t[i, j - 1])

and after::

    for j: if a[i] == b[j]: v = t[i - 1, j - 1] + 1
           else: v = max(t[i - 1, j], t[i, j - 1])
           t[i, j] = v

Then nothing is stored in the branch, what it loads can be loaded in front of it
(`loopbook.sdfg.early_loads`), and clang chooses a number in place of the way that control takes,
which data decide: the longest common subsequence of 300 with 300 letters takes 57 us in place of
88. Done last, to what is served, as that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loopbook.program.accesses import accesses, written
from loopbook.program.conditions import covers_all
from loopbook.program.copies import copying
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    Memlet,
    Statement,
    container_at,
)
from loopbook.program.expr import Expr
from loopbook.program.tree import Branch, Loop, Program, While
from loopbook.program.types import Pointer, Scalar
from loopbook.program.walk import Inner, children, preorder, with_children, with_new
from loopbook.sdfg.new_scalars import NewScalars

Element = tuple[str, tuple[Expr, ...]]

PREFIX = "chosen_"
"""Of the scalars that are stored."""


def with_stores_behind(program: Program) -> Program:
    """A finished program with such stores behind the branches of innermost loops; itself if there
    are none."""
    if not any(isinstance(node, Branch) for node in preorder(program)):
        return program
    work = _Work(program, NewScalars(program))
    body = with_new(program.body, [work.below(child) for child in program.body.children])
    return replace(program, body=body).declaring(**work.new.made) if work.new.made else program


@dataclass
class _Work:
    """The program, and the scalars that it needs in addition."""

    program: Program
    new: NewScalars

    def below(self, node: Inner) -> Inner:
        inside = [inner for child in children(node) for inner in preorder(child)]
        if isinstance(node, Loop) and not any(isinstance(one, Loop | While) for one in inside):
            return with_new(node, self._behind(children(node)))
        return with_new(node, [self.below(child) for child in children(node)])

    def _behind(self, nodes: Sequence[Inner]) -> list[Inner]:
        """What stands in an innermost loop, or in a case in it, with stores behind branches."""
        return [one for node in nodes for one in self._of(node)]

    def _of(self, node: Inner) -> list[Inner]:
        if not isinstance(node, Branch):
            return [node]
        cases = [with_new(case, self._behind(children(case))) for case in node.cases]
        branch = with_new(node, cases)
        assert isinstance(branch, Branch)
        element = self._stored(branch)
        if element is None:
            return [branch]
        container, index = element
        kind = self.program.containers[container]
        assert isinstance(kind, Pointer)
        assert isinstance(kind.to, Scalar)
        name = self.new.of(PREFIX, kind.to)
        chosen = [
            with_children(case, _into(children(case), name, kind.to)) for case in branch.cases
        ]
        ends = _last(children(branch.cases[0]))
        assert ends is not None
        store = copying((name, (), kind.to), (container, index, ends[1].type))
        return [with_new(branch, chosen), store]

    def _stored(self, branch: Branch) -> Element | None:
        """The element that all cases store into in the end, and nothing else."""
        conditions = [case.condition for case in branch.cases]
        if not covers_all(conditions) or any(map(self._asks_floats, conditions)):
            return None
        found: set[Element] = set()
        for case in branch.cases:
            stores = [access for access in accesses(case) if access.write and access.subset]
            ends = _last(children(case))
            if len(stores) != 1 or ends is None or stores[0].memlet is not ends[1]:
                return None
            kind = self.program.containers.get(stores[0].container)
            if not isinstance(kind, Pointer) or not isinstance(kind.to, Scalar):
                return None
            if ends[1].type.element != kind.to.dtype:
                return None
            found.add((stores[0].container, stores[0].subset))
        if len(found) != 1:
            return None
        (element,) = found
        changed = written(branch)
        return None if any(index.symbols & changed for index in element[1]) else element

    def _asks_floats(self, condition: Expr) -> bool:
        """Whether a NaN would take none of the sides."""
        kinds = [self.program.containers.get(name) for name in condition.symbols]
        return any(kind is not None and kind.element in ("float", "double") for kind in kinds)


def _last(nodes: Sequence[Inner]) -> tuple[Block, Memlet] | None:
    """The statement that a case ends with, and the memlet by which it stores an element."""
    if not nodes or type(nodes[-1]) is not Statement:
        return None
    last = nodes[-1]
    stores = [m for m in last.memlets if container_at(last, m.target) and m.subset]
    return (last, stores[0]) if len(stores) == 1 else None


def _into(nodes: Sequence[Inner], name: str, kind: Scalar) -> list[Inner]:
    """The case with a scalar in the place of the element that it ends with."""
    ends = _last(nodes)
    assert ends is not None
    last, store = ends
    target = last.nodes[store.target]
    changed = list(last.nodes)
    changed[store.target] = AccessNode(name)
    assert isinstance(target, AccessNode)
    memlets = tuple(
        replace(memlet, subset=(), type=kind) if memlet is store else memlet
        for memlet in last.memlets
    )
    return [*nodes[:-1], replace(last, nodes=tuple(changed), memlets=memlets)]
