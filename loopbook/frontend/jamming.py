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

(Unroll-and-jam: Carr and Kennedy, ACM TOPLAS 16(6), 1994.) Iterations may not need each other's
results; within the inner loop they only reduce, each into variables of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from loopbook.frontend.blocks import Block, flat, touches, tree
from loopbook.frontend.code import Code, Line
from loopbook.frontend.symbols import Int

TOGETHER = 4
"""Iterations: each wants registers for what it sums up and what it compares with."""

MOST_SUMS = 2
"""Variables that one iteration reduces into."""

MOST_LINES = 12
"""Of the inner loop's body."""


def jammed(code: Code, lines: Sequence[Line]) -> list[Line]:
    """The lines with such loops jammed, wherever they stand."""
    blocks = tree(lines)
    return flat(_in_blocks(code, blocks, _mentioned(blocks)))


def _mentioned(blocks: Iterable[Block]) -> Counter[str]:
    """In how many lines each name stands."""
    lines = (Block(block.line) for top in blocks for block in top.walk())
    return Counter(name for line in lines for name in {t.name for t in touches([line])})


def _in_blocks(code: Code, blocks: Iterable[Block], everywhere: Counter[str]) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        jammed = _jammed(code, block, everywhere)
        found += jammed or [Block(block.line, _in_blocks(code, block.body, everywhere))]
    return found


def _jammed(code: Code, nest: Block, everywhere: Counter[str]) -> list[Block]:
    """A nest's two parts: four iterations at a time, and the rest; empty if it is not to be."""
    inner = _inner(nest)
    size = re.fullmatch(r"range\(([\w.\[\]]+)\)", nest.header[1]) if nest.header else None
    if inner is None or size is None or not nest.header:
        return []
    number = Int.atom(size[1])
    own = _own(nest, inner)
    here = _mentioned([nest])
    if own is None or any(everywhere[name] != here[name] for name in own):  # they live on
        return []
    if (code.facts.known(number) or 0) < TOGETHER or size[1] in code.mutable:
        return []
    count = code.facts.derive(
        f"({number.text}) // {TOGETHER}", [number], lambda n: n // TOGETHER
    ).text
    variable = nest.header[0]
    copies = []
    for place in range(TOGETHER):
        names = {name: code.fresh(f"{name}_") for name in sorted(own)} if place else {}
        at = f"({TOGETHER} * {variable} + {place})" if place else f"({TOGETHER} * {variable})"
        copies.append([block.renamed(names | {variable: at}) for block in nest.body])
    where = nest.body.index(inner)
    together = Block(inner.line, [b for copy in copies for b in copy[where].body])
    body = [b for copy in copies for b in copy[:where]]
    body += [together, *(b for copy in copies for b in copy[where + 1 :])]
    rest = nest.line.text.replace(nest.header[1], f"range({TOGETHER} * {count}, {number.text})")
    return [
        nest.headed(nest.line.text.replace(nest.header[1], f"range({count})"), body),
        nest.headed(rest, nest.body),
    ]


def _inner(nest: Block) -> Block | None:
    """The only loop in a nest, if there is one, of a body that is short."""
    loops = [block for block in nest.walk() if block.header]
    if len(loops) != 2 or loops[1] not in nest.body:
        return None
    if any(re.match(r"(while|break|continue|return)\b", block.line.text) for block in nest.walk()):
        return None
    return loops[1] if len(list(loops[1].walk())) <= MOST_LINES else None


def _own(nest: Block, inner: Block) -> set[str] | None:
    """The variables that each iteration has for itself; None if iterations may need each other, or
    go through arrays of their own."""
    assert nest.header is not None
    assert inner.header is not None
    variable, counter = nest.header[0], inner.header[0]
    touched = touches(nest.body)
    written = {t.name for t in touched if t.write}
    own = {t.name for t in touched if t.write and t.index is None} - {counter}
    inside = touches(inner.body)
    if any(t.index is not None and (t.write or _mentions(t.index, variable)) for t in inside):
        return None
    if written & {t.name for t in touches([Block(inner.line)])} - {counter}:
        return None
    if not any(t.index == (counter,) for t in inside):
        return None
    for name in written - own - {counter}:
        indices = [t.index for t in touched if t.name == name]
        if not any(all(p == variable for p in places) for places in zip(*indices, strict=False)):
            return None
    outside = {t.name for block in nest.body if block is not inner for t in touches([block])}
    sums = {name for name in own if name in outside or not _is_set_first(inner.body, name)}
    if not all(_is_set_first(nest.body, name) for name in sums):
        return None
    return own if len(sums & {t.name for t in inside if t.write}) <= MOST_SUMS else None


def _mentions(index: Iterable[str], variable: str) -> bool:
    return any(re.search(rf"(?<![\w.]){variable}(?!\w)", place) for place in index)


def _is_set_first(blocks: Iterable[Block], name: str) -> bool:
    """Whether a variable gets a value in each iteration before anything reads it."""
    for block in blocks:
        touched = [t for t in touches([block]) if t.name == name]
        if touched:
            return not block.body and all(t.write for t in touched)
    return True
