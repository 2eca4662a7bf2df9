"""A temporary of which an iteration needs one element, as a scalar.

Before::

    for i: t[i] = A[i] - B[i]; C[i] = 2 * t[i]

and after::

    for i: s = A[i] - B[i]; C[i] = 2 * s

(Array contraction: Sarkar and Gao, ICS 1991.)
"""

from __future__ import annotations

from loopbook.errors import SdfgError
from loopbook.normal_form.definite import written_first
from loopbook.normal_form.temporaries import (
    Temporary,
    accesses_of,
    changed,
    parent,
    with_sums_in,
    without,
    without_each,
)
from loopbook.program import expr, walk
from loopbook.program.accesses import Access
from loopbook.program.dataflow import Statement
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Loop, Program
from loopbook.steps.editor import Editor


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
    places: set[tuple[str, ...]] = set()
    symbols: set[str] = set()
    for path in temporary.uses:
        node = walk.at(program, path)
        if type(node) is not Statement:
            raise SdfgError("a library uses it")
        for access in accesses_of(node, name):
            places.add(expr.normal_forms(index.text for index in access.subset))
            symbols |= {s for index in access.subset for s in index.symbols}
    if len(places) != 1 or places == {()} or symbols & changed(loop.body):
        raise SdfgError("more than one element is used")
    editor = Editor(program, {}, {})
    scalar = editor.scalar(f"{name}_one", temporary.element)
    program = editor.program

    def target(access: Access) -> Element | None:
        return Element(scalar, (), temporary.element) if access.container == name else None

    for path in temporary.uses:
        program = walk.replaced(program, path, redirected(walk.at(program, path), target))  # type: ignore[type-var]
    return without(with_sums_in(program, name, scalar), temporary, (), {})
