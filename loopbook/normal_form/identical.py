"""Copies of an array in its own order, in which it is read itself.

Before::

    for i: for j: t[j + n*i] = A[j + n*i]
    for k: counts[t[k]] += 1

and after::

    for k: counts[A[k]] += 1

``A.ravel()``, ``A.reshape(-1, 2)`` and ``A.flatten()`` come as such copies: indices of another
shape are the same addresses.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.errors import SdfgError
from loopbook.program import walk
from loopbook.program.accesses import Access
from loopbook.program.copies import Copy, as_copy
from loopbook.program.dataflow import Statement
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Loop, Program
from loopbook.program.types import Pointer
from loopbook.steps.temporaries import (
    Temporary,
    accesses_of,
    changed,
    parent,
    temporaries,
    without,
    without_each,
)


def without_identical(program: Program) -> Program:
    """The program without temporaries that hold what an array holds that is not overwritten."""
    return without_each(program, _without)


def _without(program: Program, temporary: Temporary) -> Program:
    """The program without a temporary.

    Raises:
        SdfgError: it has to stay.
    """
    name = temporary.container
    if not temporary.uses:
        raise SdfgError("it is not used")
    above = parent(temporary.uses)
    siblings, depth = walk.children(walk.at(program, above)), len(above)
    first, *readers = sorted({path[depth] for path in temporary.uses})
    copy = _copy(siblings[first])
    if copy.target != name or copy.source == name:
        raise SdfgError("it is not filled by a copy")
    source = copy.source
    kind = program.containers[source]
    if not isinstance(kind, Pointer) or kind.to != temporary.element:
        raise SdfgError("its elements are of another type")
    if source in temporaries(program) or not _stays(program, siblings, source, first, above):
        raise SdfgError("what it is a copy of is overwritten")

    def target(access: Access) -> Element | None:
        return Element(source, access.subset, kind) if access.container == name else None

    changes: dict[int, walk.Inner | None] = {first: None}
    for place in readers:
        for access in accesses_of(siblings[place], name):
            if access.write or not access.subset:
                raise SdfgError("it is not only read")
        changes[place] = redirected(siblings[place], target)  # type: ignore[type-var]
    for path in temporary.uses:
        if type(walk.at(program, path)) is not Statement:
            raise SdfgError("a library uses it")
    return without(program, temporary, above, changes)


def _copy(node: walk.Inner) -> Copy:
    """What a nest copies that does nothing else, each element to the same place.

    Raises:
        SdfgError: it is no such nest.
    """
    while isinstance(node, Loop) and len(node.body.children) == 1:
        (node,) = node.body.children
    copy = as_copy(node)
    if copy is None or len(copy.read.subset) != 1 or len(copy.written.subset) != 1:
        raise SdfgError("it is no copy")
    if copy.read.subset[0].polynomial != copy.written.subset[0].polynomial:
        raise SdfgError("the elements lie in another order")
    return copy


def _stays(
    program: Program, siblings: Sequence[walk.Inner], source: str, first: int, above: walk.Path
) -> bool:
    """Whether an array is not overwritten while its copy is used: nowhere, or only before."""
    if source not in changed(program):
        return True
    return not above and not any(source in changed(node) for node in siblings[first:])
