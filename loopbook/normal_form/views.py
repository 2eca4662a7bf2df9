"""Pointers into arrays, as indices of these arrays.

Before::

    v = &A[i*n]
    for j: v[j] = 2*B[j]

After::

    for j: A[i*n + j] = 2*B[j]

A pointer hides from everything behind it that two statements use the same array.
"""

from __future__ import annotations

from collections import Counter

from loopbook.program import dataflow, walk
from loopbook.program.accesses import Access, own_accesses, own_symbols
from loopbook.program.dataflow import AccessNode, LibraryCall, Memlet, Reference
from loopbook.program.expr import Expr
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Program
from loopbook.program.walk import Path
from loopbook.steps.temporaries import changed


def resolved(program: Program) -> Program:
    """The program with such pointers replaced, where each is set in one place and only read
    through behind it."""
    for name in _set_once(program):
        program = _without(program, name)
    return program


def _references(program: Program) -> list[tuple[Path, Reference, Memlet, str, str]]:
    """Where pointers are set: place, block, memlet, what is pointed into, the pointer."""
    found: list[tuple[Path, Reference, Memlet, str, str]] = []
    for path, node in walk.places(program):
        if isinstance(node, Reference):
            for memlet in node.memlets:
                ends = node.nodes[memlet.source], node.nodes[memlet.target]
                if isinstance(ends[0], AccessNode) and isinstance(ends[1], AccessNode):
                    found.append((path, node, memlet, ends[0].container, ends[1].container))
    return found


def _set_once(program: Program) -> list[str]:
    references = _references(program)
    often = Counter(view for *_, view in references)
    bases = {base for *_, base, _ in references}
    return [
        view
        for *_, memlet, base, view in references
        if often[view] == 1
        and memlet.target_connector == "ref"
        and len(memlet.subset) == 1
        and base not in often
        and view not in bases
        and view not in program.public
        and program.containers[base] == program.containers[view]
    ]


def _without(program: Program, name: str) -> Program:
    """The program without a pointer; itself if that may not be."""
    path, block, memlet, base, _ = next(r for r in _references(program) if r[4] == name)
    parent, place = path[:-1], path[-1]
    for other, node in walk.places(program):
        if other == path or isinstance(node, Program):
            continue
        behind = other[: len(parent)] == parent and len(other) > len(parent)
        if name in own_symbols(node):
            return program
        if any(access.container == name for access in own_accesses(node)) and (
            not behind or other[len(parent)] <= place or isinstance(node, LibraryCall)
        ):
            return program
    siblings = walk.children(walk.at(program, parent))
    moving = {base} | memlet.subset[0].symbols
    later = siblings[place + 1 :]
    if any(moving & _moved(node, base) for node in later):
        return program
    kind = program.containers[base]

    def target(access: Access) -> Element | None:
        if access.container != name:
            return None
        offset = memlet.subset[0].text
        index = access.subset[0].text if access.subset else "0"
        return Element(base, (Expr(f"({offset}) + ({index})"),), kind)

    new = [redirected(node, target) for node in later]
    kept = [m for m in block.memlets if m is not memlet]
    first = [dataflow.part(block, kept)] if kept else []
    holder = walk.at(program, parent) if parent else program
    children = [*siblings[:place], *first, *new]
    if not parent:
        return walk.with_children(program, children)
    return walk.replaced(program, parent, walk.with_children(holder, children))  # type: ignore[type-var]


def _moved(node: walk.Inner, base: str) -> frozenset[str]:
    """What a node changes, but for the elements of an array: its address stays."""
    moved = any(
        isinstance(inner, Reference)
        and any(a.write and a.container == base for a in own_accesses(inner))
        for inner in walk.preorder(node)
    )
    return changed(node) if moved else changed(node) - {base}
