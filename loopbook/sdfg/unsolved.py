"""Loops that docc crashes on when it looks whether they can be fused, and how to keep them apart.

docc asks for which iterations of the first loop an element that the second one reads was computed,
and solves an equation for that. Where the first loop updates the array in place, and nothing that
the second one counts is part of the place, there is nothing to solve for, and docc ends with a
segmentation fault (seen with 0.8.1)::

    for i: x[i] = x[i] - c               for i: x[i] = x[i] - c
    for j: y[j] = x[places[j]]           x[0] = x[0]
                                         for j: y[j] = x[places[j]]

It ends so, too, where both loops store into an array, and the second one does so in a ``while``::

    for i: found[i] = -1                 for i: found[i] = -1
    for i:                               found[0] = found[0]
        while low <= high: …             for i:
            found[i] = middle                while low <= high: …
                                                 found[i] = middle
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from loopbook.errors import SdfgError
from loopbook.program.dataflow import Block, Memlet
from loopbook.program.tree import Loop, Program, While
from loopbook.program.walk import Inner, preorder
from loopbook.sdfg.spacing import copy_of_first, loads_of, spaced, stores_of

Ends = Callable[[Inner], Iterator[tuple[str, Memlet]]]


def kept_apart(program: Program) -> Program:
    """The program with a statement between such loops; itself if there are none."""
    return spaced(program, _between)


def _between(ahead: Loop, loop: Loop) -> Block | None:
    again = _stored_in_while(loop)
    for name, memlet in _elements(ahead, stores_of) if again else ():
        if name in again:
            return copy_of_first(name, memlet)
    updated = _updated(ahead)
    if not updated:
        return None
    counted = {node.variable for node in preorder(loop) if isinstance(node, Loop)}
    for name, memlet in _elements(loop, loads_of):
        if name in updated and not _is_sum_with(memlet, counted):
            return copy_of_first(name, updated[name])
    return None


def _stored_in_while(loop: Loop) -> set[str]:
    """The arrays that something in a ``while`` in a loop stores into."""
    inner = (node for node in preorder(loop) if isinstance(node, While))
    return {name for node in inner for name, _ in _elements(node, stores_of)}


def _updated(loop: Loop) -> dict[str, Memlet]:
    """The arrays of which each iteration of a loop may change an element of its own in place: docc
    fuses no other loops. Each with a memlet that stores into it."""
    read = defaultdict(set)
    for name, memlet in _elements(loop, loads_of):
        read[name].add(memlet.subset)
    return {
        name: memlet
        for name, memlet in _elements(loop, stores_of)
        if read[name] == {memlet.subset} and _is_sum_with(memlet, {loop.variable})
    }


def _elements(loop: Loop | While, of_block: Ends) -> Iterator[tuple[str, Memlet]]:
    """Elements of arrays that the blocks in a loop read, or store into."""
    for node in preorder(loop):
        if not isinstance(node, Program):
            yield from ((name, memlet) for name, memlet in of_block(node) if memlet.subset)


def _is_sum_with(memlet: Memlet, counted: set[str]) -> bool:
    """Whether a place is a sum with one of some variables, which an equation can be solved for."""
    try:
        return any((name,) in index.polynomial for index in memlet.subset for name in counted)
    except SdfgError:
        return False
