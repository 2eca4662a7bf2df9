"""Nests that fill a temporary, each element by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from loopbook.dependence.radix import Radix
from loopbook.errors import SdfgError
from loopbook.normal_form.slices import sliced
from loopbook.program import expr, walk
from loopbook.program.accesses import Access, own_accesses, own_names, own_symbols
from loopbook.program.dataflow import Block, MathsCall, Statement, Tasklet
from loopbook.program.definite import written_first
from loopbook.program.tree import Assignments, Branch, Case, Loop, Node, Program
from loopbook.program.types import Scalar
from loopbook.steps.temporaries import Temporary

MATHS_WORK = 20
"""A function such as ``exp`` costs as much as so many instructions."""


@dataclass
class Producer:
    """A nest that does nothing but fill a temporary.

    Attributes:
        name, element: of the temporary.
        loops: of the nest, outermost first.
        body: what it does for one element.
        radix: which element that is.
        own: the scalars that it has for itself.
        reads: the other containers that it reads.
        work: how many instructions an element takes.
        rest: what else the nest does; None: nothing.
    """

    name: str
    element: Scalar
    loops: list[Loop]
    body: tuple[Node, ...]
    radix: Radix
    own: frozenset[str]
    reads: frozenset[str]
    work: int
    rest: Loop | None


def producer_of(program: Program, nest: walk.Inner, temporary: Temporary) -> Producer:
    """A nest as what fills a temporary.

    Raises:
        SdfgError: it does something else, too, or does not always do it.
    """
    if not isinstance(nest, Loop):
        raise SdfgError("no loop fills it")
    name, loops = temporary.container, walk.band(nest)
    if any(loop.step != 1 for loop in loops):
        raise SdfgError("its loops leave something out")
    whole = loops[-1].body.children
    stores, scalars, arrays = _written(whole, name)
    if any(own_symbols(loop) & scalars for loop in loops):
        raise SdfgError("its loops carry how far they run")
    if len({expr.normal_form(access.subset[0].text) for access in stores}) != 1:
        raise SdfgError("more than one element is written at a time")
    done = written_first(whole, {name, *scalars})
    if done is None or name not in done:
        raise SdfgError("it is not always filled")
    if not _has_for_itself(program, nest, scalars):
        raise SdfgError("its scalars are used elsewhere")
    body = sliced(whole, {name}, scalars)
    variables = {loop.variable for loop in loops}
    read = {a.container for block in _blocks(body) for a in own_accesses(block) if not a.write}
    if (variables | arrays) & read:
        raise SdfgError("it has the loops' variables as values, or what its nest writes")
    for node in body:
        read |= {symbol for inner in walk.preorder(node) for symbol in own_symbols(inner)}
    rest = with_body(nest, sliced(whole, arrays, scalars)) if arrays else None
    return Producer(
        name,
        temporary.element,
        loops,
        body,
        Radix.of(stores[0].subset[0], loops),
        frozenset(scalars),
        frozenset(read - scalars - variables),
        sum(map(work_of, _blocks(body))),
        rest,
    )


def _written(body: Iterable[Node], name: str) -> tuple[list[Access], set[str], set[str]]:
    """The stores to a temporary, the scalars that are written, and the other arrays.

    Raises:
        SdfgError: the temporary is read, or something else happens than instructions and branches.
    """
    stores: list[Access] = []
    scalars: set[str] = set()
    arrays: set[str] = set()
    for access in (access for block in _blocks(body) for access in own_accesses(block)):
        if access.container == name:
            if not access.write or len(access.subset) != 1:
                raise SdfgError("it is read where it is filled")
            stores.append(access)
        elif access.write:
            (arrays if access.subset else scalars).add(access.container)
    return stores, scalars, arrays


def with_body(nest: Loop, body: Sequence[Node]) -> Loop:
    """A perfect nest with another body."""
    inner = walk.children(nest)
    if len(inner) == 1 and isinstance(inner[0], Loop):
        return walk.with_children(nest, [with_body(inner[0], body)])
    return walk.with_children(nest, body)


def work_of(block: Block | Assignments) -> int:
    """How many instructions a block takes; moving a value takes none."""
    if isinstance(block, Assignments):
        return len(block.assignments)
    return sum(
        MATHS_WORK if isinstance(node, MathsCall) else node.code != "assign"
        for node in block.nodes
        if isinstance(node, MathsCall | Tasklet)
    )


def _blocks(body: Iterable[Node]) -> Iterator[Statement | Assignments]:
    """The blocks and assignments of a body.

    Raises:
        SdfgError: it holds something else than instructions and branches.
    """
    for node in body:
        for inner in walk.preorder(node):
            if type(inner) is Statement or isinstance(inner, Assignments):
                yield inner
            elif not isinstance(inner, Branch | Case):
                raise SdfgError("it is filled by more than instructions")


def _has_for_itself(program: Program, nest: Loop, scalars: set[str]) -> bool:
    """Whether scalars are used in one nest only."""
    inside = {id(inner) for inner in walk.preorder(nest)}
    return not any(
        id(inner) not in inside and scalars & own_names(inner) for inner in walk.preorder(program)
    )
