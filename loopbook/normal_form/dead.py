"""Stores that nobody reads.

Before::

    for i: y[i] = x[i] + a[i]
    for i: y[i] = (x[i] + a[i]) * b[i]

and after::

    for i: y[i] = (x[i] + a[i]) * b[i]

(Dead store elimination, for arrays.) ``y = x + a; y *= b`` comes to the former: docc computes the
first sum where it is read, and keeps where it was stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.errors import LoopbookError, SdfgError
from loopbook.normal_form.producer import producer_of
from loopbook.normal_form.radix import Radix
from loopbook.normal_form.temporaries import (
    Temporary,
    accesses_of,
    changed,
    parent,
    without,
    without_each,
)
from loopbook.program import walk
from loopbook.program.accesses import names, own_accesses, own_names, symbols, written
from loopbook.program.dataflow import Reference, Statement
from loopbook.program.expr import Expr
from loopbook.program.tree import Jump, Loop, Opaque, Program
from loopbook.program.types import Pointer, Scalar


def without_dead_stores(program: Program) -> Program:
    """The program without what is stored into temporaries that nobody reads, and into elements of
    arrays that are all stored anew before anybody reads them."""
    program = without_each(program, _unread)
    while (changed_program := _one_less(program)) is not program:
        program = changed_program
    return program


def _unread(program: Program, temporary: Temporary) -> Program:
    """The program without a temporary.

    Raises:
        LoopbookError: it is read, or filled by something else than perfect nests.
    """
    above = parent(temporary.uses)
    siblings = walk.children(walk.at(program, above))
    places = {path[len(above)] for path in temporary.uses}
    changes = {n: producer_of(program, siblings[n], temporary).rest for n in places}
    if not changes:
        raise SdfgError("nothing is stored into it")
    return without(program, temporary, above, changes)


def _one_less(program: Program) -> Program:
    """The program without one nest's stores into an array; itself if all are of use."""
    arrays = _with_one_name(program)
    for path, holder in walk.places(program):
        siblings = walk.children(holder)
        for place, nest in enumerate(siblings[:-1]):
            for array in sorted(arrays.keys() & written(nest)) if isinstance(nest, Loop) else ():
                # No temporary, but what is asked of it is only what the nest stores there.
                stored = Temporary(array, arrays[array], Expr("0"), None)
                try:
                    rest = _overwritten(program, siblings[place:], stored)
                except LoopbookError:
                    continue
                return walk.replaced(program, (*path, place), *([] if rest is None else [rest]))
    return program


def _with_one_name(program: Program) -> dict[str, Scalar]:
    """The arrays that no pointer goes to, and their elements."""
    pointed: set[str] = set()
    for node in walk.preorder(program):
        if isinstance(node, Reference | Opaque):
            pointed |= own_names(node)
    return {
        name: kind.to
        for name, kind in program.containers.items()
        if isinstance(kind, Pointer) and isinstance(kind.to, Scalar) and name not in pointed
    }


def _overwritten(
    program: Program, siblings: Sequence[walk.Inner], stored: Temporary
) -> Loop | None:
    """What is left of the first of some nodes beside each other without its stores into an array.

    Raises:
        LoopbookError: one of these may be read before the element is stored anew.
    """
    array = stored.container
    last = next((n for n, node in enumerate(siblings) if n and array in names(node)), None)
    if last is None:
        raise SdfgError("it is not known who reads it")
    between = siblings[: last + 1]
    for inner in (inner for node in between for inner in walk.preorder(node)):
        if isinstance(inner, Jump | Opaque):
            raise SdfgError("not all of it may run")
    filled = producer_of(program, siblings[0], stored)
    anew = _always_stored(siblings[last], array)
    moving = frozenset().union(*map(changed, between))
    if filled.radix.elements != anew.elements or filled.radix.symbols & moving:
        raise SdfgError("not all of it is stored anew")
    return filled.rest


def _always_stored(nest: walk.Inner, array: str) -> Radix:
    """The elements of an array that a perfect nest stores, whatever happens, and does not read.

    Raises:
        LoopbookError: it is not known which these are.
    """
    if not isinstance(nest, Loop) or array in symbols(nest):
        raise SdfgError("no loop stores it anew")
    if any(not access.write for access in accesses_of(nest, array)):
        raise SdfgError("it is read before")
    loops = walk.band(nest)
    for node in loops[-1].body.children:
        for access in own_accesses(node) if type(node) is Statement else ():
            if access.container == array and len(access.subset) == 1:
                own = [loop for loop in loops if loop.variable in access.subset[0].symbols]
                if len(own) == len(loops) and all(loop.step == 1 for loop in loops):
                    return Radix.of(access.subset[0], loops)
    raise SdfgError("it may not be stored anew")
