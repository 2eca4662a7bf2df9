"""A temporary of which an iteration needs one element, as a scalar.

Before::

    for i: t[i] = A[i] - B[i]; C[i] = 2 * t[i]

and after::

    for i: s = A[i] - B[i]; C[i] = 2 * s

(Array contraction: Sarkar and Gao, ICS 1991.)
"""

from __future__ import annotations

from loopbook.errors import LoopbookError, SdfgError
from loopbook.normal_form.temporaries import Temporary, accesses_of, parent, temporaries, without
from loopbook.program import expr, walk
from loopbook.program.accesses import Access, own_accesses
from loopbook.program.dataflow import Statement
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Assignments, Loop, Program
from loopbook.steps.editor import Editor


def contracted(program: Program) -> Program:
    """The program with scalars for such temporaries."""
    for name in temporaries(program):
        if (temporary := temporaries(program).get(name)) is not None:
            try:
                program = _as_scalar(program, temporary)
            except LoopbookError:
                continue
    return program


def _as_scalar(program: Program, temporary: Temporary) -> Program:
    name = temporary.container
    if not temporary.uses:
        raise SdfgError("it is not used")
    above = temporary.uses[0][:-1]
    inside = parent(temporary.uses)
    if inside != above or not any(isinstance(n, Loop) for n in walk.way(program, above)):
        raise SdfgError("it is not used in one iteration")
    first = walk.at(program, temporary.uses[0])
    if type(first) is not Statement or any(
        not a.write and not _fed(first, a) for a in accesses_of(first, name)
    ):
        raise SdfgError("it is read first")
    places: set[tuple[str, ...]] = set()
    symbols: set[str] = set()
    for path in temporary.uses:
        node = walk.at(program, path)
        if type(node) is not Statement:
            raise SdfgError("a library uses it")
        for access in accesses_of(node, name):
            places.add(expr.normal_forms(index.text for index in access.subset))
            symbols |= {s for index in access.subset for s in index.symbols}
    if len(places) != 1 or not next(iter(places)):
        raise SdfgError("more than one element is used")
    moving: set[str] = set()
    for node in walk.preorder(walk.at(program, above) if above else program):
        if isinstance(node, Assignments):
            moving |= {one.symbol for one in node.assignments}
        elif isinstance(node, Statement):
            moving |= {a.container for a in _scalar_writes(node)}
        elif isinstance(node, Loop) and node is not walk.at(program, above):
            moving.add(node.variable)
    if moving & symbols:
        raise SdfgError("another element is used later")
    editor = Editor(program, {}, {})
    scalar = editor.scalar(f"{name}_one", temporary.element)
    program = editor.program

    def target(access: Access) -> Element | None:
        return Element(scalar, (), temporary.element) if access.container == name else None

    for path in temporary.uses:
        program = walk.replaced(program, path, redirected(walk.at(program, path), target))  # type: ignore[type-var]
    return without(program, temporary, (), {})


def _fed(block: Statement, access: Access) -> bool:
    """Whether what is read has been written in the same block."""
    memlet = access.memlet
    return memlet is not None and bool(block.inputs[memlet.source])


def _scalar_writes(block: Statement) -> list[Access]:
    return [a for a in own_accesses(block) if a.write and not a.subset]
