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
from functools import partial

from loopbook.dependence.radix import Radix
from loopbook.dependence.touches import Touch
from loopbook.errors import SdfgError
from loopbook.normal_form.producer import with_body
from loopbook.normal_form.slices import sliced
from loopbook.program import expr, walk
from loopbook.program.accesses import Access, names, own_accesses, written
from loopbook.program.copies import as_copy, task_as_copy, without_idle
from loopbook.program.dataflow import Block, Statement, container_at
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.local import holds
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Branch, Loop, Program, While
from loopbook.program.types import Pointer
from loopbook.program.walk import Path
from loopbook.steps.editor import BYTES
from loopbook.steps.order import check_any_order, check_reads, in_order
from loopbook.steps.temporaries import (
    Temporary,
    accesses_of,
    changed,
    has_calls,
    parent,
    with_sums_in,
    without,
    without_each,
)


def in_place(program: Program) -> Program:
    """The program without the temporaries whose values end up in an array of the same form."""
    return without_each(program, _without)


def copied_out(program: Program) -> Program:
    """The program without the temporaries that are only copied to arrays in the end, such as
    ``C[i:, i] = C[i, i:] = t``: the first of these copies is enough to copy from."""
    return without_each(program, partial(_without, copies=True))


def _without(program: Program, temporary: Temporary, copies: bool = False) -> Program:
    """The program without a temporary.

    Args:
        copies: refuse where something else is done with its values than copying them.

    Raises:
        SdfgError: it has to stay.
    """
    name = temporary.container
    above = parent(temporary.uses)
    holder = walk.at(program, above)
    if not temporary.uses or isinstance(holder, Branch):
        raise SdfgError("it is not used in one place")
    uses = _Uses(
        program,
        temporary,
        above,
        walk.children(holder),
        sorted({path[len(above)] for path in temporary.uses}),
    )
    copying = [place for place in uses.places if _copies(uses.siblings[place], name)]
    filling = [p for p in uses.places if any(a.write for a in accesses_of(uses.siblings[p], name))]
    if copies and [*filling, *copying] != uses.places:
        raise SdfgError("it is not only copied")
    refused = SdfgError("no loop takes its values over")
    for place in dict.fromkeys((uses.places[-1], *reversed(copying))):
        try:
            return _moved(uses, place)
        except SdfgError as error:
            refused = error
    raise refused


@dataclass(frozen=True)
class _Uses:
    """Where a temporary is used: in some of the nodes beside each other in a place."""

    program: Program
    temporary: Temporary
    above: Path
    siblings: Sequence[walk.Inner]
    places: Sequence[int]


def _moved(uses: _Uses, taker: int) -> Program:
    """The program with a temporary in the array that takes its values over in a place.

    Raises:
        SdfgError: that is not known to be the same.
    """
    program, siblings, name = uses.program, uses.siblings, uses.temporary.container
    first, last = uses.places[0], uses.places[-1]
    nest = siblings[taker]
    if first == taker or not isinstance(nest, Loop):
        raise SdfgError("no loop takes its values over")
    if taker == last:
        nest = _without_last_stores(nest, name)
    used = {place: siblings[place] for place in uses.places} | {taker: nest}
    if any(a.write for place in used if place >= taker for a in accesses_of(used[place], name)):
        raise SdfgError("it gets other values later")
    target = _target(uses, nest)
    offset = expr.mentioned(target.offset)
    if any(offset & changed(node) for node in siblings[first : last + 1]):
        raise SdfgError("it ends up in another place meanwhile")
    if target.offset and any(has_calls(siblings[place], name) for place in uses.places):
        raise SdfgError("a library is given all of it")
    kind = program.containers[target.container]

    def moved(access: Access) -> Element | None:
        if access.container != name:
            return None
        subset = tuple(_plus(index, target.offset) for index in access.subset)
        return Element(target.container, subset, kind)

    redone = {place: redirected(node, moved) for place, node in used.items()}
    changes: dict[int, walk.Inner | None] = dict(redone)
    around = [n for n in walk.way(program, uses.above) if isinstance(n, Loop | While)]
    for place in range(first, last + 1):
        if place != taker and target.container in names(siblings[place]):
            if not _copies(siblings[place], name) and not _stores_both(
                siblings[place], {name, target.container}
            ):
                raise SdfgError("the array is in use meanwhile")
            # Where it meets an element of the temporary, that is the one whose value it stores.
            check_any_order(program, redone[place], around)
    made = redone[taker]
    assert isinstance(made, Loop)
    if _does_nothing(made):
        changes[taker] = None
    elif taker != last:
        raise SdfgError("its values are needed later")
    else:
        read = {
            Touch(target.container, tuple(_plus(i, target.offset) for i in a.subset), False).place
            for a in accesses_of(nest, name)
            if not a.write
        }
        check_reads(program, made, around, target.container, read)
        changes[taker] = in_order(made)
    changed_program = without(program, uses.temporary, uses.above, changes)
    return with_sums_in(changed_program, name, target.container)


def _without_last_stores(nest: Loop, name: str) -> Loop:
    """A perfect nest without its stores to an array that nobody reads any more: each iteration has
    an element of its own, which it reads before it stores there, if it does. Other nests stay."""
    loops = walk.band(nest)
    body = loops[-1].body.children
    if not all(type(node) is Statement for node in body):
        return nest
    found = [access for node in body for access in own_accesses(node) if access.container == name]
    stored = next((n for n, node in enumerate(body) if name in written(node)), None)
    if stored is None or len({expr.normal_forms(i.text for i in a.subset) for a in found}) != 1:
        return nest
    if any(not a.write for node in body[stored + 1 :] for a in own_accesses(node) if a in found):
        return nest
    Radix.of(found[0].subset[0], loops)
    wanted = {other for node in body for other in written(node)} - {name}
    return with_body(nest, sliced(body, wanted, ()))


@dataclass(frozen=True)
class _Target:
    """Where the values end up: an array, and which of its elements is the temporary's first."""

    container: str
    offset: Polynomial


def _target(uses: _Uses, nest: Loop) -> _Target:
    """The array that a nest writes once for each element of a temporary, whatever happens.

    Raises:
        SdfgError: there is none.
    """
    name = uses.temporary.container
    for loops, block in _stores(nest):
        for access in own_accesses(block):
            kind = uses.program.containers[access.container]
            if (
                not access.write
                or access.container == name
                or len(access.subset) != 1
                or not isinstance(kind, Pointer)
                or kind.to != uses.temporary.element
                or not holds(uses.program, access.container, name)
            ):
                continue
            if any(not a.write for a in accesses_of(nest, access.container)):
                continue
            variables = {loop.variable for loop in loops}
            for read in accesses_of(nest, name):
                gap = expr.plus(access.subset[0].polynomial, read.subset[0].polynomial, -1)
                if not read.write and not expr.mentioned(gap) & variables:
                    taken = Radix.of(read.subset[0], loops)
                    if any(loop.step != 1 for loop in loops) or not (
                        _is_all(taken, uses.temporary) or _is_all_written(taken, uses, nest)
                    ):
                        raise SdfgError("not every element is taken over")
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


def _is_all(taken: Radix, temporary: Temporary) -> bool:
    """Whether the elements that are taken over are all that the temporary has room for."""
    if taken.start or any(taken.lows):
        return False
    size = bytes_each = {(): BYTES.get(temporary.element.dtype, 0)}
    for place in reversed(taken.order):
        if expr.plus(expr.product(taken.strides[place], bytes_each), size, -1):  # there are gaps
            return False
        size = expr.product(size, taken.highs[place])
    return not expr.plus(size, temporary.size.polynomial, -1)


def _is_all_written(taken: Radix, uses: _Uses, nest: Loop) -> bool:
    """Whether the elements that are taken over are those that each store to the temporary writes.

    Raises:
        SdfgError: it is not known which these are.
    """
    name = uses.temporary.container
    for place in uses.places:
        if uses.siblings[place] is nest:
            continue
        for path, node in walk.places(uses.siblings[place]):
            if type(node) is not Statement:
                continue
            around = [n for n in walk.way(uses.siblings[place], path) if isinstance(n, Loop)]
            for access in own_accesses(node):
                if access.container != name or not access.write:
                    continue
                if not _is_same(taken, access.subset[0], around):
                    return False
    return True


def _is_same(taken: Radix, index: Expr, around: Sequence[Loop]) -> bool:
    own = [loop for loop in around if loop.variable in index.symbols]
    others = {loop.variable for loop in around} - {loop.variable for loop in own}
    written = Radix.of(index, own)
    bounds = {name for bound in (*written.lows, *written.highs) for name in expr.mentioned(bound)}
    if bounds & others or any(loop.step != 1 for loop in own):
        return False
    return taken.elements == written.elements


def _copies(node: walk.Inner, name: str) -> bool:
    """Whether a perfect nest does nothing but copy elements of an array to another one."""
    if not isinstance(node, Loop):
        return False
    *_, inner = walk.band(node)
    if len(inner.body.children) != 1:
        return False
    copy = as_copy(inner.body.children[0])
    return copy is not None and copy.source == name != copy.target


def _stores_both(node: walk.Inner, arrays: set[str]) -> bool:
    """Whether a perfect nest stores the same value to two arrays, and reads neither."""
    if not isinstance(node, Loop):
        return False
    *_, inner = walk.band(node)
    if len(inner.body.children) != 1 or type(block := inner.body.children[0]) is not Statement:
        return False
    stores = [m for m in block.memlets if container_at(block, m.target) in arrays]
    if {container_at(block, m.target) for m in stores} != arrays:
        return False
    if any(block.outputs[m.target] for m in stores):
        return False
    if any(container_at(block, m.source) in arrays for m in block.memlets):
        return False
    return len({_value(block, m.source) for m in stores}) == 1


def _value(block: Block, place: int) -> int:
    """The node that has the value which one of a block's nodes hands on."""
    copy = task_as_copy(block, place)
    return place if copy is None or copy.read.subset else copy.read.source


def _plus(index: Expr, offset: Polynomial) -> Expr:
    if not offset:
        return index
    return Expr(f"{index.text} + {expr.text(offset)}")


def _does_nothing(nest: Loop) -> bool:
    """Whether a nest copies every element onto itself."""
    return all(
        isinstance(node, Loop) or (type(node) is Statement and not without_idle([node]))
        for node in walk.preorder(nest)
    )
