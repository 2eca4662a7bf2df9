"""Stores that docc's simplification forgets the condition of.

Where a branch stores what a loop behind it reads, docc may put what is stored in the place of what
is read, whether it was stored or not (seen with 0.8.1)::

    for i:                               for i:
        if c[i] > 0: t[i] = a[i]             b[i] = a[i]
    for i: b[i] = t[i]

or what the loop in front stores, whether a branch has stored something else since::

    for i: t[i] = 0                      for i: t[i] = 0
    for i:                               for i:
        if a[i] > 0: t[i] = 2                if a[i] > 0: t[i] = 2
        if a[i] > 1: t[i] = t[i] + 1         if a[i] > 1: t[i] = 0 + 1

It shows in fewer branches that store, or fewer places that are read.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.dataflow import Block
from loopbook.program.tree import Assignments, Branch, Loop, Program, While
from loopbook.program.walk import Inner, children
from loopbook.sdfg.meanings import Meanings, after, said, within
from loopbook.sdfg.spacing import loads_of, stores_of


def forwarded(before: Program, after: Program) -> str:
    """An array that branches store into, and fewer of them than before, or that a loop behind such
    a branch reads at fewer places: docc has put what is stored in the place of what is read,
    whether it was stored or not; nothing if there is none."""
    doubtful = _stored_in_branches(before)
    if not doubtful:
        return ""
    kept, left = _stored_in_branches(after), _places_read(after)
    gone = {name for name, n in doubtful.items() if kept[name] < n}
    for (name, loop), places in _given_by_branches(before).items():
        if name in doubtful and len(left.get((name, loop), ())) < len(places):
            gone.add(name)
    return min(gone, default="")


@dataclass(frozen=True, eq=False)
class _Access:
    """One reading or storing of an array's element, with the loops and cases around."""

    name: str
    place: tuple[str, ...]
    is_store: bool
    around: tuple[Inner, ...]

    def is_in(self, node: Inner) -> bool:
        return any(one is node for one in self.around)

    def always_with(self, other: _Access) -> bool:
        """Whether this is done whenever the other is: all around it is around that."""
        return all(other.is_in(one) for one in self.around)


def _accesses(
    node: Program | Inner, around: tuple[Inner, ...] = (), known: Meanings | None = None
) -> Iterator[_Access]:
    """All of arrays, in program order, but for loops that never run. A place is one, whatever the
    variables in it are called for now."""
    known = known or {}
    for child in children(node):
        if isinstance(child, Block):
            for stores, found in ((False, loads_of(child)), (True, stores_of(child))):
                for name, memlet in found:
                    if memlet.subset:
                        place = tuple(said(index.text, known) for index in memlet.subset)
                        yield _Access(name, place, stores, around)
        elif not (isinstance(child, Loop) and _is_empty(child)):
            inner = within(child, known) if isinstance(child, Loop | While) else known
            yield from _accesses(child, (*around, child), inner)
        if known or isinstance(child, Assignments):
            known = after(child, known)


def _given_by_branches(program: Program) -> dict[tuple[str, str], set[tuple[str, ...]]]:
    """Places of each array that the loop over each variable reads, after loops that store into it,
    where what is read may have been stored by a branch, and on its condition only: by one of those
    loops, or in this one, in front of where it is read."""
    accesses = list(_accesses(program))
    found: defaultdict[tuple[str, str], set[tuple[str, ...]]] = defaultdict(set)
    for loop in dict.fromkeys(node for one in accesses for node in one.around):
        if not isinstance(loop, Loop):
            continue
        inner = [place for place, one in enumerate(accesses) if one.is_in(loop)]
        ahead = accesses[inner[0]].around
        around = ahead[: next(n for n, one in enumerate(ahead) if one is loop)]
        last = {one.name: one for one in accesses[: inner[0]] if one.is_store}
        stored: list[_Access] = []
        for one in (accesses[place] for place in inner):
            if one.is_store:
                stored.append(one)
            elif one.name in last:
                here = [s for s in stored if (s.name, s.place) == (one.name, one.place)]
                from_before = not any(s.always_with(one) for s in here)
                doubtful_before = from_before and not _is_certain(last[one.name], around)
                if doubtful_before or (here and not here[-1].always_with(one)):
                    found[one.name, loop.variable].add(one.place)
    return found


def _is_certain(store: _Access, around: Sequence[Inner]) -> bool:
    """Whether no branch that stands elsewhere decides on a store."""
    branches = (one for one in store.around if not isinstance(one, Loop))
    return all(any(one is node for node in around) for one in branches)


def _places_read(program: Program) -> dict[tuple[str, str], set[tuple[str, ...]]]:
    """Places of each array that the loop over each variable reads."""
    found: defaultdict[tuple[str, str], set[tuple[str, ...]]] = defaultdict(set)
    for one in _accesses(program):
        if not one.is_store:
            for loop in one.around:
                if isinstance(loop, Loop):
                    found[one.name, loop.variable].add(one.place)
    return found


def _stored_in_branches(program: Program) -> Counter[str]:
    """At how many places in branches each array that the program was given is stored into. What is
    stored twice at one place of one block may as well be stored once."""
    found = {
        (one.name, one.place, id(one.around[-1])): sum(isinstance(n, Branch) for n in one.around)
        for one in _accesses(program)
        if one.is_store and one.around and one.name in program.arguments
    }
    counts: Counter[str] = Counter()
    for (name, _, _), branches in found.items():
        counts[name] += branches
    return +counts


def below(node: Program | Inner, running: bool = False) -> Iterator[Inner]:
    """All that is in a node, in program order.

    Args:
        running: leave out loops that never run.
    """
    for child in children(node):
        if not (running and isinstance(child, Loop) and _is_empty(child)):
            yield child
            yield from below(child, running)


def _is_empty(loop: Loop) -> bool:
    """Whether a loop is known to end before it begins."""
    condition = re.fullmatch(r"\(?\w+ < (.+?)\)?", loop.condition.text)
    if condition is None:
        return False
    try:
        count = expr.polynomial(f"({condition[1]}) - ({loop.init})")
    except SdfgError:
        return False
    return not count or (set(count) == {()} and count[()] <= 0)
