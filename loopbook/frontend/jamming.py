"""Several iterations of a loop that go through the same arrays each time, in one pass over them.

Before::

    for i0 in range(n):                     for i0 in range(n // 4):
        a = edges[i0]                           a = edges[4 * i0]; a_1 = edges[4 * i0 + 1] …
        s = 0.0                                 s = 0.0; s_1 = 0.0 …
        for k0 in range(m):          →          for k0 in range(m):
            s = s + max(x[k0] - a, 0.0)             s = s + max(x[k0] - a, 0.0)
        r[i0] = s                                   s_1 = s_1 + max(x[k0] - a_1, 0.0) …
                                                r[4 * i0] = s; r[4 * i0 + 1] = s_1 …
                                            for i0 in range(4 * (n // 4), n): as before

Products of a matrix with vectors, too, both ways in one pass::

    for k0 in range(n):
        s = 0.0
        for i0 in range(m):
            s = s + A[k0, i0] * p[i0]
            q[i0] = q[i0] + A[k0, i0] * r[k0]
        t[k0] = s

(Unroll-and-jam: Carr and Kennedy, ACM TOPLAS 16(6), 1994.) Iterations may not need each other's
results. Within the inner loops they reduce into variables of their own, and whatever they do to
the same element they do in the same order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from loopbook.frontend.blocks import Block, flat, is_one, touches, tree
from loopbook.frontend.code import Code, Line
from loopbook.frontend.symbols import Int

TOGETHER = 4
"""Iterations: each wants registers for what it sums up and what it compares with."""

ROWS = 8
"""Iterations that go through rows of a matrix: what they cost is reading these, and so many streams
a processor fetches ahead. Both products of 2,000 by 2,000 take 1.24 ms with 4 and 1.08 with 8, at
500 by 500 there is no difference (AVX-512, 2026-11-26)."""

MOST_SUMS = 2
"""Variables that one iteration reduces into."""

MOST_LINES = 12
"""Of the inner loop's body."""


def jammed(code: Code, lines: Sequence[Line]) -> list[Line]:
    """The lines with such loops jammed, wherever they stand."""
    blocks = tree(lines)
    return flat(_in_blocks(code, blocks, _mentioned(blocks), frozenset()))


def _mentioned(blocks: Iterable[Block]) -> Counter[str]:
    """In how many lines each name stands."""
    lines = (Block(block.line) for top in blocks for block in top.walk())
    return Counter(name for line in lines for name in {t.name for t in touches([line])})


def _in_blocks(
    code: Code, blocks: Iterable[Block], everywhere: Counter[str], around: frozenset[str]
) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        counted = around | {block.header[0]} if block.header else around
        jammed = _jammed(code, block, everywhere, around)
        found += jammed or [Block(block.line, _in_blocks(code, block.body, everywhere, counted))]
    return found


def _jammed(
    code: Code, nest: Block, everywhere: Counter[str], around: frozenset[str]
) -> list[Block]:
    """A nest's two parts: four iterations at a time, and the rest; empty if it is not to be.

    Args:
        around: counters of the loops around it.
    """
    size = re.fullmatch(r"range\(([\w.\[\]]+)\)", nest.header[1]) if nest.header else None
    if size is None or not nest.header or not _is_plain(nest):
        return []
    if any(_is_product(loop, nest.header[0], around) for loop in _inner(nest)):
        return []
    number = Int.atom(size[1])
    own = _own(nest)
    here = _mentioned([nest])
    if own is None or any(everywhere[name] != here[name] for name in own):  # they live on
        return []
    variable = nest.header[0]
    many = ROWS if any(_reads_rows(loop, variable) for loop in _inner(nest)) else TOGETHER
    known = int(size[1]) if size[1].isdigit() else code.facts.known(number) or 0
    if known < many or size[1] in code.mutable:
        return []
    count = (
        str(known // many)
        if size[1].isdigit()
        else code.facts.derive(f"({number.text}) // {many}", [number], lambda n: n // many).text
    )
    code.differs |= many == ROWS  # in loops, too
    copies = []
    for place in range(many):
        names = {name: code.fresh(f"{name}_") for name in sorted(own)} if place else {}
        at = f"({many} * {variable} + {place})" if place else f"({many} * {variable})"
        copies.append([block.renamed(names | {variable: at}) for block in nest.body])
    body: list[Block] = []
    for is_loop, parts in groupby(zip(*copies, strict=True), lambda part: bool(part[0].header)):
        if is_loop:
            body += [Block(loops[0].line, _together([b.body for b in loops])) for loops in parts]
        else:
            body += [block for copy in zip(*parts, strict=True) for block in copy]
    rest = nest.line.text.replace(nest.header[1], f"range({many} * {count}, {number.text})")
    return [
        nest.headed(nest.line.text.replace(nest.header[1], f"range({count})"), body),
        nest.headed(rest, nest.body),
    ]


_ADDED = re.compile(r"(?P<what>(?P<name>\w+)\[\w+\]) = (?P=what) \+ \((?P<term>.*)\)")


def _together(copies: Sequence[list[Block]]) -> list[Block]:
    """The bodies of an inner loop's copies, one after the other. What all of them add to one and
    the same element is added in one line, in their order."""
    alike = [*zip(*copies, strict=True)]
    added = {place: terms for place, lines in enumerate(alike) if (terms := _terms(alike, lines))}
    last = len(copies) - 1
    body: list[Block] = []
    for number, copy in enumerate(copies):
        for place, block in enumerate(copy):
            if place not in added:
                body.append(block)
            elif number == last:
                what = block.line.text.partition(" = ")[0]
                body.append(block.headed(f"{what} = {' + '.join([what, *added[place]])}", []))
    return body


def _terms(body: Sequence[Sequence[Block]], lines: Sequence[Block]) -> list[str]:
    """What the copies of a line add to an element that no other line touches; nothing if they do
    something else."""
    found = [_ADDED.fullmatch(block.line.text) for block in lines]
    first = found[0]
    if first is None or any(one is None or one["what"] != first["what"] for one in found):
        return []
    if not all(is_one(one["term"]) for one in found if one):
        return []
    name = first["name"]
    if sum(name in {t.name for t in touches([block])} for block, *_ in body) > 1:
        return []
    return [f"({one['term']})" for one in found if one]


def _is_plain(nest: Block) -> bool:
    """Whether it holds loops with short bodies and without others, and nothing jumps."""
    inner = _inner(nest)
    if not inner or len(inner) + 1 != len([b for b in nest.walk() if b.header]):
        return False
    if any(re.match(r"(while|break|continue|return)\b", block.line.text) for block in nest.walk()):
        return False
    return all(len(list(loop.walk())) <= MOST_LINES for loop in inner)


def _inner(nest: Block) -> list[Block]:
    return [block for block in nest.body if block.header]


def _own(nest: Block) -> set[str] | None:
    """The variables that each iteration has for itself; None if iterations may need each other, or
    nothing is gained."""
    assert nest.header is not None
    variable = nest.header[0]
    counters = {loop.header[0] for loop in _inner(nest) if loop.header}
    touched = touches(nest.body)
    written = {t.name for t in touched if t.write}
    own = {t.name for t in touched if t.write and t.index is None} - counters
    same: set[str] = set()
    shared = False
    for loop in _inner(nest):
        assert loop.header is not None
        if _mentions(loop.header[1:], variable) or not _keeps_order(loop, variable):
            return None  # a loop that is longer from row to row, or more
        found = touches(loop.body)
        along = {t.name for t in found if t.index == (loop.header[0],)}  # type: ignore[index]
        shared |= bool(along)
        same |= along & {t.name for t in found if t.write}
    holders = Counter(name for b in nest.body for name in same & {t.name for t in touches([b])})
    if not shared or any(holders[name] > 1 for name in same):
        return None
    if written & {t.name for b in _inner(nest) for t in touches([Block(b.line)])} - counters:
        return None
    for name in written - own - counters - same:
        indices = [t.index for t in touched if t.name == name]
        if not any(all(p == variable for p in places) for places in zip(*indices, strict=False)):
            return None
    outside = {t.name for b in nest.body if not b.header for t in touches([b])}
    bodies = [loop.body for loop in _inner(nest)]
    sums = {n for n in own if n in outside or not all(_is_set_first(b, n) for b in bodies)}
    if not all(_is_set_first(nest.body, name) for name in sums):
        return None
    added = sums & {t.name for body in bodies for t in touches(body) if t.write}
    return own if 1 <= len(added) <= MOST_SUMS else None


def _keeps_order(loop: Block, variable: str) -> bool:
    """Whether an inner loop touches arrays in rows of each iteration, which it only reads, or at
    the same places in all iterations, where it stores only at its own counter."""
    assert loop.header is not None
    counter = loop.header[0]
    found = [t for t in touches(loop.body) if t.index is not None]
    stored = {t.name for t in found if t.write}
    for t in found:
        assert t.index is not None
        if t.name in stored and t.index != (counter,):
            return False
        *outer, last = t.index
        of_row = last == counter and not _mentions(outer, counter)
        if _mentions(t.index, variable) and _mentions(t.index, counter) and not of_row:
            return False
    return True


def _reads_rows(loop: Block, variable: str) -> bool:
    """Whether an inner loop goes through rows of matrices, each iteration of the outer one through
    its own."""
    assert loop.header is not None
    counter = loop.header[0]
    found = [t.index for t in touches(loop.body) if t.index is not None]
    return any(_mentions(index, variable) and _mentions(index, counter) for index in found)


def _is_product(loop: Block, variable: str, around: frozenset[str]) -> bool:
    """Whether rows of one matrix meet those of another one, which a loop further out goes through:
    tiles of a product read either less often."""
    assert loop.header is not None
    counter = loop.header[0]
    found = [t for t in touches(loop.body) if t.index is not None and t.index[-1] == counter]
    stored = {t.name for t in found if t.write}
    rows = [
        {name for name in (variable, *around) if _mentions(t.index or (), name)}
        for t in found
        if t.name not in stored
    ]
    own = [names for names in rows if variable in names]
    others = [names for names in rows if variable not in names]
    return any(names - mine for names in others for mine in own)


def _mentions(index: Iterable[str], variable: str) -> bool:
    return any(re.search(rf"(?<![\w.]){variable}(?!\w)", place) for place in index)


def _is_set_first(blocks: Iterable[Block], name: str) -> bool:
    """Whether a variable gets a value in each iteration before anything reads it."""
    for block in blocks:
        touched = [t for t in touches([block]) if t.name == name]
        if touched:
            return not block.body and all(t.write for t in touched)
    return True
