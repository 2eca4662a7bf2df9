"""Stores that nobody reads.

Before::

    for i: y[i] = x[i] + a[i]
    for i: y[i] = (x[i] + a[i]) * b[i]

and after::

    for i: y[i] = (x[i] + a[i]) * b[i]

(Dead store elimination, for arrays.) ``y = x + a; y *= b`` comes to the former: docc computes the
first sum where it is read, and keeps where it was stored. Several nests may store anew what one has
stored, as after ``y = np.zeros(n)``::

    y[0] = x[0]
    for i from 1: y[i] = y[i - 1] + x[i]
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.dependence import stored_anew
from loopbook.dependence.body import read_siblings
from loopbook.dependence.scalars import private_scalars
from loopbook.errors import LoopbookError, SdfgError
from loopbook.normal_form.producer import producer_of
from loopbook.program import walk
from loopbook.program.accesses import names, own_names, written
from loopbook.program.dataflow import Reference
from loopbook.program.expr import Expr
from loopbook.program.tree import Case, Jump, Loop, Opaque, Program
from loopbook.program.types import Pointer, Scalar
from loopbook.program.walk import Path
from loopbook.steps.order import headers_of
from loopbook.steps.temporaries import Temporary, changed, parent, without, without_each

MOST_ASKED = 4
"""How many of the nests behind one that store into the same array are looked at."""


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
                    rest = producer_of(program, nest, stored).rest
                    _check_stored_anew(program, (*path, place), siblings[place:], array)
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


def _check_stored_anew(
    program: Program, path: Path, siblings: Sequence[walk.Inner], array: str
) -> None:
    """Refuse unless all that the first of some siblings stores into an array is stored once more by
    others, before it is read.

    Args:
        path: of the first one.

    Raises:
        LoopbookError: something may be read before, or not be stored anew.
    """
    around = headers_of(node for node in walk.way(program, path[:-1]) if isinstance(node, Loop))
    variables = [loop.variable for loop in around]
    private = private_scalars(program)
    asked = 0
    for last, node in enumerate(siblings[1:], 1):
        if any(isinstance(inner, Jump | Opaque) for inner in walk.preorder(node)):
            break
        if array not in written(node):
            continue
        between = siblings[: last + 1]
        users = [one for one in between if not isinstance(one, Case) and array in names(one)]
        trees = read_siblings(users, variables, private, program.containers)
        changing = frozenset[str]().union(*map(changed, between))
        if stored_anew(trees, around, array, changing):
            return
        asked += 1
        if asked == MOST_ASKED:
            break
    raise SdfgError("not all of it is stored anew before it is read")
