"""Vectors along the loop around iterations that are written out.

A recipe writes some rows of a matrix out inside the loop along these, so that what they have in
common is read once for all of them (`loopbook.steps.unroll_and_jam`). docc takes every innermost
loop for the one to make vectors of: here of elements that lie a row apart, which have to be
gathered one by one. Such loops stay written out, and the one around them is made vectors of::

    for j: for u in 0 … 8: y[u] += A[u, j] * x[j]    # not of u, but of j
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopbook.errors import SdfgError
from loopbook.program import expr, walk
from loopbook.program.accesses import accesses
from loopbook.program.tree import SEQUENTIAL, VECTORISED, Loop, Program, Schedule
from loopbook.program.walk import Path
from loopbook.steps.unroll import WRITTEN_OUT

BESIDE: tuple[expr.Polynomial, ...] = ({}, {(): 1}, {(): -1})
"""What indices grow by from one element to itself or to a neighbour."""

AS_WRITTEN = replace(SEQUENTIAL, properties=(WRITTEN_OUT,))


def with_rows_written_out(wanted: Program, scheduled: Program) -> Program:
    """A program as docc has scheduled it, with what recipes write out in the place of vectors that
    would stride through memory; itself if there are none.

    Args:
        wanted: the same program before docc scheduled it.
    """
    rows = list(_rows(wanted))
    if not rows or _variables(wanted) != _variables(scheduled):
        return scheduled
    loops = _loops(scheduled)
    for along, row in rows:
        (outer, around), (inner, loop) = loops[along], loops[row]
        if around.schedule in (SEQUENTIAL, VECTORISED) and loop.schedule in (
            SEQUENTIAL,
            VECTORISED,
        ):
            scheduled = _with_schedule(scheduled, inner, AS_WRITTEN)
            if around.kind != "for":  # else clang finds out
                scheduled = _with_schedule(scheduled, outer, VECTORISED)
    return scheduled


def _loops(program: Program) -> list[tuple[Path, Loop]]:
    return [(path, node) for path, node in walk.places(program) if isinstance(node, Loop)]


def _variables(program: Program) -> list[str]:
    return [loop.variable for _, loop in _loops(program)]


def _with_schedule(program: Program, path: Path, schedule: Schedule) -> Program:
    loop = walk.at(program, path)
    assert isinstance(loop, Loop)
    return walk.replaced(program, path, replace(loop, schedule=schedule))


def _rows(program: Program) -> Iterator[tuple[int, int]]:
    """The places, among all loops, of a loop along memory and of the one across in it that is
    written out."""
    places = {path: place for place, (path, _) in enumerate(_loops(program))}
    for path, along in _loops(program):
        inside = [(p, node) for p, node in walk.places(along) if isinstance(node, Loop) and p]
        if along.schedule != SEQUENTIAL or not inside:
            continue
        if any(walk.has_loops(loop) or not _is_short(loop) for _, loop in inside):
            continue
        for below, loop in inside:
            if WRITTEN_OUT in loop.schedule.properties and _is_across(along, loop):
                yield places[path], places[(*path, *below)]


def _is_short(loop: Loop) -> bool:
    """Whether it always runs equally often."""
    bounds = loop.bounds
    return len(bounds.lows) == len(bounds.highs) == 1 and not expr.plus(
        bounds.highs[0], bounds.lows[0], -1
    ).keys() - {()}


def _is_across(along: Loop, row: Loop) -> bool:
    """Whether all that a loop uses lies beside each other for the loop around it, and some of it
    does not for itself."""
    across = False
    try:
        for access in accesses(row):
            if not access.subset:
                continue
            index = expr.polynomial(access.subset[-1].text)
            outer = [expr.polynomial(one.text) for one in access.subset[:-1]]
            if expr.growth(index, along.variable) not in BESIDE:
                return False
            if any(expr.growth(one, along.variable) for one in outer):
                return False
            moved = expr.growth(index, row.variable)
            across |= moved not in BESIDE or any(expr.growth(o, row.variable) for o in outer)
    except SdfgError:
        return False
    return across
