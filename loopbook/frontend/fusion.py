"""Neighbouring nests that go along the rows of the same matrix, as one nest.

Before::

    for i0 in range(n):                         for i0 in range(n):
        sum_0 = 0.0                                 sum_0 = 0.0
        for k0 in range(m):                         for k0 in range(m):
            sum_0 = sum_0 + A[i0, k0] * x[k0]  →        sum_0 = sum_0 + A[i0, k0] * x[k0]
        r[i0] = sum_0                                   s[k0] = s[k0] + A[i0, k0] * y[i0]
    for k1 in range(n):                             r[i0] = sum_0
        for i1 in range(m):
            s[i1] = s[i1] + A[k1, i1] * y[k1]

A product of a matrix and a vector takes as long as it takes to read the matrix. Of two of them, the
second one finds each row in the cache (fusion for reuse: Kennedy and McKinley, LCPC 1993).
Iterations stay in order, so it is enough that whatever one nest writes and the other one uses is
used in the very iteration that writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from loopbook.frontend.blocks import Block, Touch, flat, touches, tree
from loopbook.frontend.code import Code, Line

MOST_LINES = 64
"""Of what nests are fused to: docc looks at every two of them."""

_UPDATE = re.compile(r"(\w+) = (?:max\(|min\()?\1\b")
"""A scalar goes on from what it was."""

_COPY = re.compile(r"\w+\[[^\]]*\] = \w+\[[^\]]*\]$")
"""An element is copied: docc takes such stores along into a stencil behind them, and what is in the
same loop with them."""

_SHORT = re.compile(r"in range\(\d+\):$")
"""A loop over the few elements of a row: so many that it is a number."""

_STAYS = re.compile(r"(else|elif|break|continue|return|raise)\b")
"""What does not change places with anything."""


def fused(code: Code, lines: Sequence[Line]) -> list[Line]:
    """The lines with such nests fused, wherever they stand."""
    return flat(_in_blocks(code, tree(lines)))


def _in_blocks(code: Code, blocks: list[Block]) -> list[Block]:
    blocks = [Block(b.line, _in_blocks(code, b.body)) for b in blocks]
    outers = [_outer(block) for block in blocks]
    place = 0
    while place < len(blocks):
        found = _with_next(code, blocks, outers, place)
        if found is None:
            place += 1
        else:
            known = {id(b): outer for b, outer in zip(blocks, outers, strict=True)}
            outers = [known[id(b)] if id(b) in known else _outer(b) for b in found]
            blocks = found
    return blocks


def _with_next(
    code: Code, blocks: list[Block], outers: Sequence[list[Block]], place: int
) -> list[Block] | None:
    """All blocks, with the nest at a place and one after it fused; None if they cannot be.

    Args:
        outers: of each block, see `_outer`: every pair is looked at.
    """
    first = outers[place]
    for other in range(place + 1, len(blocks)) if first else ():
        second = outers[other]
        if second and _alike(first, second) and _rows(first) & _rows(second):
            return _joined(blocks, place, other, _like(code, blocks[other], first, second))
    return None


def _outer(nest: Block) -> list[Block]:
    """The loops of a nest but for those that go along rows, if there are others; none where it is
    no such nest."""
    found: list[Block] = []
    depth, block = nest.depth, nest
    if any(re.match(r"(while|break|continue|return)\b", b.line.text) for b in nest.walk()):
        return []
    if nest.header and depth == 1:
        return [nest] if _reduce([nest]) else []
    while block.header is not None:
        found.append(block)
        if len(found) == depth - 1:
            # Products of matrices are left to those who know them.
            return found if depth == 2 or not _reduce(found, r"\[") else []
        if len(block.body) != 1:
            return []
        (block,) = block.body
    return []


def _alike(first: Sequence[Block], second: Sequence[Block]) -> bool:
    """Whether two nests run over the same, and would not rather be apart: what branches, compilers
    do not vectorise, nor what is in the same loop."""
    if [_range(b) for b in first] != [_range(b) for b in second]:
        return False  # as most pairs are, and this is told soonest
    one, other = first[0], second[0]
    if one.depth != other.depth:
        return False
    if sum(1 for nest in (one, other) for _ in nest.walk()) > MOST_LINES:
        return False
    if any(_COPY.match(b.line.text) for nest in (one, other) for b in nest.walk()):
        return False
    alike = _branches(one) == _branches(other)
    if one.depth == 1:
        return alike
    if not alike and _SHORT.search(one.body[-1].line.text):
        return False  # rows of a few elements are one long row, but where two are in a loop
    return _reduce(first) or _reduce(second)


def _branches(loop: Block) -> bool:
    return any(block.line.text.startswith("if ") for block in loop.walk())


def _range(loop: Block) -> str:
    return loop.header[1] if loop.header else ""


def _reduce(loops: Sequence[Block], element: str = "") -> bool:
    """Whether loops reduce something; to an array's elements, if asked for these."""
    pattern = rf"(\w+{element}.*) = (\1 \+ |(max|min)\(\1, )"
    return any(re.match(pattern, block.line.text) for block in loops[0].walk())


def _rows(loops: Sequence[Block]) -> set[str]:
    """Arrays of which each iteration of all loops together goes along one row; those along which a
    single loop goes."""
    variables = tuple(loop.header[0] for loop in loops if loop.header)
    if loops[0].depth == 1:
        word = re.compile(rf"(?<![\w.]){variables[0]}(?!\w)")
        lines = [t for t in touches(loops[0].body) if t.index is not None and len(t.index) == 1]
        return {t.name for t in lines if t.index is not None and word.search(t.index[0])}
    touched = touches(b for b in loops[-1].body if b.header is not None)
    return {t.name for t in touched if t.index is not None and t.index[:-1] == variables}


def _like(code: Code, nest: Block, first: Sequence[Block], second: Sequence[Block]) -> Block:
    """The second nest with the names of the first one's loops for its own."""
    own = [loop.header[0] for loop in second if loop.header]
    targets = [loop.header[0] for loop in first if loop.header]
    clashing = sorted(nest.loops & first[0].loops - {*own})
    nest = nest.renamed({name: code.fresh("i") for name in clashing})
    return nest.renamed(dict(zip(own, targets, strict=True)))


def _joined(blocks: list[Block], place: int, other: int, second: Block) -> list[Block] | None:
    """Blocks with the loop `second`, which stands at `other`, put into the loop at `place`; None if
    that is not the same."""
    first = blocks[place]
    if not _in_step(first, second):
        return None
    before: list[Block] = []
    after: list[Block] = []
    for between in blocks[place + 1 : other]:
        if any(_STAYS.match(block.line.text) for block in between.walk()):
            return None
        if _independent([between], [first, *after]):
            before.append(between)
        elif _independent([between], [second]):
            after.append(between)
        else:
            return None
    loop = Block(first.line, _inside([*first.body, *second.body]))
    return [*blocks[:place], *before, loop, *after, *blocks[other + 1 :]]


def _inside(blocks: list[Block]) -> list[Block]:
    """What is in a fused loop, with inner loops fused as well where that is possible."""
    loops = [(place, b.header) for place, b in enumerate(blocks) if b.header is not None]
    for (one, header), (other, next_header) in pairwise(loops):
        if header[1] == next_header[1] and _branches(blocks[one]) == _branches(blocks[other]):
            second = blocks[other].renamed({next_header[0]: header[0]})
            found = _joined(blocks, one, other, second)
            if found is not None:
                return _inside(found)
    return blocks


def _in_step(first: Block, second: Block) -> bool:
    """Whether whatever one loop writes and the other one touches is of the same iteration."""
    if (_runs(first) and _updates(second)) or (_updates(first) and _runs(second)):
        return False
    assert first.header is not None
    variable = first.header[0]
    one, other = touches([first]), touches([second])
    private = first.loops & second.loops | {variable}
    for name in _common(one, other) - private:
        indices = [t.index for t in one | other if t.name == name]
        if any(index is None for index in indices):
            return False
        if not any(all(p == variable for p in places) for places in zip(*indices, strict=False)):
            return False
    return True


def _runs(loop: Block) -> bool:
    """Whether a loop uses what it sums up before it has ended. Of two sums in one such loop docc
    may forget one."""
    lines = [block.line.text for block in loop.walk() if block.header is None]
    updates = _updates(loop)
    begun = {m[1] for t in lines if (m := re.match(r"(\w+) = ", t)) and not _UPDATE.match(t)}
    return any(
        sum(1 for text in lines if re.search(rf"\b{name}\b", text)) > updates.count(name)
        for name in {*updates} - begun
    )


def _updates(loop: Block) -> list[str]:
    """Scalars that go on from what they were, once for each line."""
    return [m[1] for block in loop.walk() if (m := _UPDATE.match(block.line.text))]


def _common(one: Iterable[Touch], other: Iterable[Touch]) -> set[str]:
    """Names that both touch, and one of them writes."""
    first, second = ({t.name for t in touched} for touched in (one, other))
    return first & second & {t.name for t in [*one, *other] if t.write}


def _independent(one: Sequence[Block], other: Sequence[Block]) -> bool:
    """Whether blocks may change places. Loops begin their variables anew."""
    own = [frozenset(name for b in blocks for name in b.loops) for blocks in (one, other)]
    return _common(touches(one), touches(other)) <= own[0] & own[1]


__all__ = ["fused"]
