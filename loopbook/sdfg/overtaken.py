"""Whether docc has fused loops that store into one array so that an older value comes last.

docc fuses loops that read one temporary, whatever they store into (seen with 0.8.1)::

    for i in [0, n): C[i] = t[i]             for i in [0, n):
    for i in [0, n): C[i + 1] = t[i]             C[i] = t[i]
                                                 C[i + 1] = t[i]

C[i] is stored behind C[i + 1] of the iteration before then, and stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from loopbook.dependence import keep_apart
from loopbook.dependence.body import read_loop
from loopbook.dependence.scalars import private_scalars
from loopbook.dependence.touches import Touch
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import walk
from loopbook.program.accesses import accesses
from loopbook.program.tree import Loop, Program
from loopbook.steps.order import headers_of

Place = tuple[str, ...]


def overtaken(before: Program, after: Program) -> str | None:
    """An array into which a loop stores at more places than before, of which two may be of one
    element in two iterations; None if there is none."""
    several = [
        (loop, around, name, places)
        for loop, around in _loops(after)
        for name, places in _stored(loop).items()
        if len(places) > 1
    ]
    if not several:
        return None
    known: dict[tuple[str, str], int] = {}
    for loop, _ in _loops(before):
        for name, places in _stored(loop).items():
            key = loop.variable, name
            known[key] = max(known.get(key, 0), len(places))
    for loop, around, name, places in several:
        more = len(places) > known.get((loop.variable, name), 0)
        if more and not _are_apart(after, loop, around, name, sorted(places)):
            return name
    return None


def _loops(program: Program) -> Iterator[tuple[Loop, list[Loop]]]:
    """The loops of a program, each with those around it, outermost first."""
    for path, node in walk.places(program):
        if isinstance(node, Loop):
            way = walk.way(program, path[:-1])
            yield node, [one for one in way if isinstance(one, Loop)]


def _stored(loop: Loop) -> dict[str, set[Place]]:
    """Where a loop stores into each array."""
    found: dict[str, set[Place]] = {}
    for access in accesses(loop):
        if access.write and access.subset:
            try:
                place = Touch(access.container, access.subset, True).place
            except SdfgError:
                place = tuple(index.text for index in access.subset)
            found.setdefault(access.container, set()).add(place)
    return found


def _are_apart(
    program: Program, loop: Loop, around: Sequence[Loop], name: str, places: Sequence[Place]
) -> bool:
    try:
        headers = headers_of(around)
        variables = [header.variable for header in headers]
        scope = read_loop(loop, variables, private_scalars(program), program.containers)
    except IllegalStepError:
        return False
    return all(
        keep_apart(scope, headers, name, a, b, at_once=True) for a, b in combinations(places, 2)
    )
