"""Whether loops touch elements that they did not touch before docc fused them.

docc fuses a loop with one that runs less often, and lets what was in that one run in all iterations
(seen with 0.8.1)::

    for i in [0, n): v[i] = …               for i in [0, n): v[i] = …
    for i in [0, n - 1): t[i] = v[i + 1]                     t[i - 1] = …

or computes of an array only the element that the second loop reads, and forgets the others::

    for i in [2, 4): t[i] = …               for i in [0, 2):
    for i in [0, 2): u[i] = t[2]                t[2] = …
                                                u[i] = t[2]

What has stored there before those that are gone, or on some condition, does not stand for them; nor
does it where docc has turned its loop around, which makes other words of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from loopbook.dependence import Linear, covered, linear
from loopbook.dependence.body import LoopNode, read_header
from loopbook.dependence.model import minus, shifted
from loopbook.dependence.touches import Touch
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import walk
from loopbook.program.accesses import own_accesses
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.tree import Branch, Loop, Program

Loops = tuple[LoopNode, ...]

Places = dict[object, tuple[Loops, Touch]]
"""Accesses to one array, by what two that are written alike have in common."""


@dataclass(frozen=True)
class _Accesses:
    """Accesses to one array that all write, or all read.

    Attributes:
        places: in program order.
        counts: how many there are of each.
        sure: and how many of them no branch decides on.
    """

    places: Places = field(default_factory=dict)
    counts: Counter[object] = field(default_factory=Counter)
    sure: Counter[object] = field(default_factory=Counter)


def moved(before: Program, after: Program) -> str | None:
    """An array of which the program touches more elements than before, or a loop stores into more
    than the one did that it stands for, or of which fewer are stored that whoever calls may see, as
    far as can be told; None if there is none.

    Args:
        before: with indices in terms of loops' variables, not of scalars computed from them.
    """
    known = _accesses(before)
    for (name, write), accesses in _accesses(after).items():
        if name not in before.containers:
            continue
        had = known.get((name, write), _Accesses())
        old, places = had.places, accesses.places
        new = [place for key, place in places.items() if key not in old]
        if write and name in before.arguments:
            gone = [key for key, place in old.items() if place[0] and key not in places]
            if gone:
                again = _written_anew(gone, old, places)
                lost = [key for key in gone if key not in again.values()]
                left = _instead(lost, had, accesses, again)
                if lost and not covered([old[key] for key in lost], left):
                    return name
        if write:  # it stands for one that is gone: others have stored there before or since
            old = {key: place for key, place in old.items() if key not in places}
        if new and not covered(new, old.values()):
            return name
    return None


def _written_anew(gone: Sequence[object], old: Places, places: Places) -> dict[object, object]:
    """Stores that are new only in how they are written, such as those of loops that count from 0 or
    upwards now, to what they were."""
    found: dict[object, object] = {}
    new = [key for key in places if key not in old]
    for key in gone:
        for other in new:
            if other not in found and _same(old[key], places[other]):
                found[other] = key
                break
    return found


def _same(one: tuple[Loops, Touch], other: tuple[Loops, Touch]) -> bool:
    """Whether two loops that bear one name store into the same elements."""
    names = ([node.variable for node in loops] for loops, _ in (one, other))
    first, second = names
    return first == second and covered([one], [other]) and covered([other], [one])


def _instead(
    gone: Sequence[object], before: _Accesses, after: _Accesses, again: Mapping[object, object]
) -> list[tuple[Loops, Touch]]:
    """The stores that may stand for those that are gone: none that the program has had in front of
    all of them, and none that a branch decides on, where it did not decide on one of those.

    Args:
        again: stores that the program has had, in other words, to how it had them.
    """
    order = {key: number for number, key in enumerate(before.places)}
    first = min((order[key] for key in gone), default=0)
    certain = any(before.sure[key] for key in gone)
    had, has = (one.sure if certain else one.counts for one in (before, after))
    found = []
    for key, place in after.places.items():
        old = again.get(key, key)
        ahead = had[old] if order.get(old, first) < first else 0
        if has[key] > ahead:
            found.append(place)
    return found


def _key(loops: Loops, touch: Touch) -> object:
    """What two accesses that are written alike have in common."""
    header = tuple(
        (node.variable, node.loop.init.text, node.loop.condition.text, node.loop.update.text)
        for node in loops
    )
    try:
        return header, touch.place
    except SdfgError:
        return header, touch.subset


def _accesses(program: Program) -> dict[tuple[str, bool], _Accesses]:
    """Where each array is read, and written."""
    found: dict[tuple[str, bool], _Accesses] = {}
    pointed = _pointed(program)
    for loops, touch, sure in _touches(program, (), sure=True):
        key = _key(loops, touch)
        of = pointed.get(touch.container, touch.container), touch.write
        accesses = found.setdefault(of, _Accesses())
        accesses.places[key] = loops, touch
        accesses.counts[key] += 1
        accesses.sure[key] += sure
    return found


def _pointed(program: Program) -> dict[str, str]:
    """Pointers to where an array begins, and that array, which docc puts in their place; both are
    set once (programs of PyTorch are made of such)."""
    sources: dict[str, list[str]] = {name: [""] for name in program.arguments}
    for block in walk.preorder(program):
        if not isinstance(block, Block):
            continue
        for memlet in block.memlets:
            source, target = block.nodes[memlet.source], block.nodes[memlet.target]
            refers = memlet.target_connector == "ref"
            if isinstance(target, AccessNode) and (refers or not memlet.subset):
                begins = refers and [index.text for index in memlet.subset] == ["0"]
                given = source.container if begins and isinstance(source, AccessNode) else ""
                sources.setdefault(target.container, []).append(given)
    found: dict[str, str] = {}
    for name in sources:
        end, steps = name, 0
        while len(sources.get(end, ())) == 1 and sources[end][0] and steps < len(sources):
            end, steps = sources[end][0], steps + 1
        if end != name and len(sources.get(end, ())) == 1:
            found[name] = end
    return found


def _touches(
    node: Program | walk.Inner, around: Loops, *, sure: bool
) -> Iterator[tuple[Loops, Touch, bool]]:
    """All accesses to arrays, each with the loops around it, and whether no branch decides."""
    if isinstance(node, Loop):
        around = (*around, _header(node, around))
    if isinstance(node, Block):
        for access in own_accesses(node):
            if access.subset:
                yield around, Touch(access.container, access.subset, access.write), sure
    for child in walk.children(node):
        yield from _touches(child, around, sure=sure and not isinstance(node, Branch))


def _header(loop: Loop, around: Loops) -> LoopNode:
    """A loop without what is in it, as if it counted up; without bounds where they are not
    understood."""
    variables = frozenset(outer.variable for outer in around)
    try:
        return read_header(loop, variables)
    except IllegalStepError:
        pass
    try:
        lows, highs = _downwards(loop, variables)
    except SdfgError:
        lows, highs = [], []
    return LoopNode(loop, loop.variable, lows, highs, 1, [])


def _downwards(loop: Loop, variables: frozenset[str]) -> tuple[list[Linear], list[Linear]]:
    """The bounds of a loop that counts down by ones; none if it does something else."""
    found = loop.bounds
    if found.step != -1 or len(found.lows) != 1:
        return [], []
    own = loop.variable
    room = [linear.from_polynomial(one, variables | {own}) for one in found.room]
    if any(form.get(own) != 1 for form in room):
        return [], []
    begin = linear.from_polynomial(found.lows[0], variables)
    return [minus({own: 1}, form) for form in room], [shifted(begin, 1)]
