"""A temporary of which an iteration needs one element, as a scalar.

Before::

    for i: t[i] = A[i] - B[i]; C[i] = 2 * t[i]

and after::

    for i: s = A[i] - B[i]; C[i] = 2 * s

(Array contraction: Sarkar and Gao, ICS 1991.)
"""

from __future__ import annotations

from loopbook.errors import SdfgError
from loopbook.program import expr, walk
from loopbook.program.accesses import Access
from loopbook.program.dataflow import Statement
from loopbook.program.definite import written_first
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Loop, Program
from loopbook.steps.editor import Editor
from loopbook.steps.temporaries import (
    Temporary,
    accesses_of,
    changed,
    parent,
    with_sums_in,
    without,
    without_each,
)


def contracted(program: Program) -> Program:
    """The program with scalars for such temporaries."""
    return without_each(program, _as_scalar)


def _as_scalar(program: Program, temporary: Temporary) -> Program:
    name = temporary.container
    if not temporary.uses:
        raise SdfgError("it is not used")
    above = parent(temporary.uses)
    loop = walk.at(program, above)
    if not isinstance(loop, Loop):
        raise SdfgError("it is not used in one iteration")
    done = written_first(loop.body.children, {name})
    if done is None or name not in done:
        raise SdfgError("it may be read first")
    places = places_of(program, temporary)
    symbols = {symbol for place in places for index in place for symbol in expr.symbols(index)}
    if len(places) != 1 or places == {()} or symbols & changed(loop.body):
        raise SdfgError("more than one element is used")
    return in_scalar(program, temporary)


def places_of(program: Program, temporary: Temporary) -> set[tuple[str, ...]]:
    """The indices by which a temporary's elements are used.

    Raises:
        SdfgError: a library uses it.
    """
    places: set[tuple[str, ...]] = set()
    for path in temporary.uses:
        node = walk.at(program, path)
        if type(node) is not Statement:
            raise SdfgError("a library uses it")
        for access in accesses_of(node, temporary.container):
            places.add(expr.normal_forms(index.text for index in access.subset))
    return places


def in_scalar(program: Program, temporary: Temporary) -> Program:
    """The program with a scalar for a temporary of which one element is used."""
    name = temporary.container
    editor = Editor(program, {}, {})
    scalar = editor.scalar(f"{name}_one", temporary.element)
    program = editor.program

    def target(access: Access) -> Element | None:
        return Element(scalar, (), temporary.element) if access.container == name else None

    for path in temporary.uses:
        program = walk.replaced(program, path, redirected(walk.at(program, path), target))  # type: ignore[type-var]
    return without(with_sums_in(program, name, scalar), temporary, (), {})
