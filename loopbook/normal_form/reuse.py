"""A temporary that is written where its values end up.

Before::

    for i: t[i] = 0
    for i: for k: t[i] += A[i, k] * x[k]
    for i: y[i] = 2 * t[i]

and after::

    for i: y[i] = 0
    for i: for k: y[i] += A[i, k] * x[k]
    for i: y[i] = 2 * y[i]

(Copy coalescing, for arrays.) A copy then does nothing at all, and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopbook.dependence.body import Touch
from loopbook.errors import SdfgError
from loopbook.normal_form.order import check_reads, in_order
from loopbook.normal_form.radix import Radix, times
from loopbook.normal_form.temporaries import (
    Temporary,
    accesses_of,
    changed,
    has_calls,
    parent,
    with_sums_in,
    without,
    without_each,
)
from loopbook.program import expr, walk
from loopbook.program.accesses import Access, names, own_accesses
from loopbook.program.dataflow import Block, Statement, Tasklet
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Branch, Loop, Program, While
from loopbook.program.types import Pointer
from loopbook.steps.editor import BYTES


def in_place(program: Program) -> Program:
    """The program without the temporaries whose values end up in an array of the same form."""
    return without_each(program, _without)


def _without(program: Program, temporary: Temporary) -> Program:
    """The program without a temporary.

    Raises:
        LoopbookError: it has to stay.
    """
    name = temporary.container
    above = parent(temporary.uses)
    holder = walk.at(program, above)
    if not temporary.uses or isinstance(holder, Branch):
        raise SdfgError("it is not used in one place")
    siblings = walk.children(holder)
    places = sorted({path[len(above)] for path in temporary.uses})
    last = siblings[places[-1]]
    if len(places) < 2 or not isinstance(last, Loop):
        raise SdfgError("no loop takes its values over")
    target = _target(program, last, temporary)
    if any(target.container in names(siblings[place]) for place in range(places[0], places[-1])):
        raise SdfgError("the array is in use meanwhile")
    offset = expr.mentioned(target.offset)
    if any(offset & changed(node) for node in siblings[places[0] : places[-1] + 1]):
        raise SdfgError("it ends up in another place meanwhile")
    if target.offset and any(has_calls(siblings[place], name) for place in places):
        raise SdfgError("a library is given all of it")
    kind = program.containers[target.container]

    def moved(access: Access) -> Element | None:
        if access.container != name:
            return None
        subset = tuple(_plus(index, target.offset) for index in access.subset)
        return Element(target.container, subset, kind)

    changes: dict[int, walk.Inner | None] = {
        place: redirected(siblings[place], moved) for place in places
    }
    made = changes[places[-1]]
    assert isinstance(made, Loop)
    if _does_nothing(made):
        changes[places[-1]] = None
    else:
        around = [n for n in walk.way(program, above) if isinstance(n, Loop | While)]
        read = {
            Touch(target.container, tuple(_plus(i, target.offset) for i in a.subset), False).place
            for a in accesses_of(last, name)
            if not a.write
        }
        check_reads(program, made, around, target.container, read)
        changes[places[-1]] = in_order(made)
    return with_sums_in(without(program, temporary, above, changes), name, target.container)


@dataclass(frozen=True)
class _Target:
    """Where the values end up: an array, and which of its elements is the temporary's first."""

    container: str
    offset: Polynomial


def _target(program: Program, nest: Loop, temporary: Temporary) -> _Target:
    """The array that a nest writes once for each element of a temporary, whatever happens.

    Raises:
        SdfgError: there is none.
    """
    name = temporary.container
    for loops, block in _stores(nest):
        for access in own_accesses(block):
            kind = program.containers[access.container]
            if (
                not access.write
                or access.container == name
                or len(access.subset) != 1
                or not isinstance(kind, Pointer)
                or kind.to != temporary.element
            ):
                continue
            if any(not a.write for a in accesses_of(nest, access.container)):
                continue
            variables = {loop.variable for loop in loops}
            for read in accesses_of(nest, name):
                gap = expr.plus(access.subset[0].polynomial, read.subset[0].polynomial, -1)
                if not read.write and not expr.mentioned(gap) & variables:
                    _check_all(access.subset[0], gap, loops, temporary)
                    return _Target(access.container, gap)
    raise SdfgError("no array has its form")


def _stores(nest: Loop) -> list[tuple[list[Loop], Block]]:
    """The blocks of a nest that always run, each with the loops around it."""
    found: list[tuple[list[Loop], Block]] = []

    def look(loop: Loop, around: list[Loop]) -> None:
        for node in loop.body.children:
            if isinstance(node, Loop):
                look(node, [*around, node])
            elif type(node) is Statement:
                found.append((around, node))

    look(nest, [nest])
    return found


def _check_all(index: Expr, gap: Polynomial, loops: Sequence[Loop], temporary: Temporary) -> None:
    """Refuse unless a store in these loops runs for each element that the temporary has room for.

    Raises:
        SdfgError: it does not.
    """
    if any(loop.step != 1 for loop in loops):
        raise SdfgError("not every element is taken over")
    radix = Radix.of(index, loops)
    if expr.plus(radix.start, gap, -1) or any(radix.lows):
        raise SdfgError("not every element is taken over")
    size = bytes_each = {(): BYTES.get(temporary.element.dtype, 0)}
    for place in reversed(radix.order):
        if expr.plus(times(radix.strides[place], bytes_each), size, -1):  # there are gaps
            raise SdfgError("not every element is taken over")
        size = times(size, radix.highs[place])
    if expr.plus(size, temporary.size.polynomial, -1):
        raise SdfgError("not every element is taken over")


def _plus(index: Expr, offset: Polynomial) -> Expr:
    if not offset:
        return index
    return Expr(f"{index.text} + {expr.text(offset)}")


def _does_nothing(nest: Loop) -> bool:
    """Whether a nest copies every element onto itself."""
    for node in walk.preorder(nest):
        if isinstance(node, Loop):
            continue
        if type(node) is not Statement:
            return False
        codes = [n.code for n in node.nodes if isinstance(n, Tasklet)]
        ends = [
            (a.container, expr.normal_forms(i.text for i in a.subset)) for a in own_accesses(node)
        ]
        if codes != ["assign"] or len(ends) != 2 or ends[0] != ends[1]:
            return False
    return True
