"""Short loops that reduce into a number or an element, written out.

Before::

    for i0 in range(n):
        sum_0 = 0.0
        for k0 in range(3):
            sum_0 = sum_0 + rgb[i0, k0] * w[k0]
        grey[i0] = sum_0

After::

    for i0 in range(n):
        sum_0 = 0.0
        sum_0 = sum_0 + ((rgb[i0, 0] * w[0]) + (rgb[i0, 1] * w[1]) + (rgb[i0, 2] * w[2]))
        grey[i0] = sum_0

What is added up, or compared, is one term then, so that loops further out reduce as they did. Sums
over coordinates, colours or the pixels of a window, the largest of two by two pixels: the loop
around is the long one, and should be the one that is computed in vectors. What a recipe does for a
long sum, or a compiler told to make vectors of the innermost loop, is of no use here: windows of
3 by 3 over 2,000 by 2,000 numbers take 13 ms as loops and 3 written out, convolutions of 32
channels into 48 take 15 and 2.6 (AVX-512, 2026-11-27). Loops that store other elements stay: their
statements would be told apart, and each go through the arrays by itself. Those that go through
whole rows which follow each other in memory (``for i ...: for k in range(3): s += x[i, k]``) stay,
too: all of them become one long row (`loopbook.rules.short_rows`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from loopbook.frontend.blocks import Block, flat, is_one, touches, tree
from loopbook.frontend.code import Code, Line
from loopbook.program.extent_names import SHORT

MOST_LINES = 32
"""That one loop, with those in it, is written out to."""

MOST_TERMS = 49
"""Of a sum: windows of 7 by 7."""

LONGEST = 9
"""Iterations of a loop that adds up one term."""


def written_out(code: Code, lines: Sequence[Line]) -> list[Line]:
    """The lines without such loops, wherever they stand in a longer one."""
    blocks = tree(lines)
    return flat(_in_blocks(code, blocks, blocks, None, inside=False))


def _in_blocks(
    code: Code,
    blocks: Sequence[Block],
    everywhere: Sequence[Block],
    around: Block | None,
    *,
    inside: bool,
) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        count = _count(block)
        within = inside or (block.header is not None and count is None)
        inner = _in_blocks(code, block.body, everywhere, block, inside=within)
        loop = Block(block.line, inner)
        short = inside and count is not None and _reduces(loop, count)
        if short and around is not None and len(blocks) == 1:
            short = not _are_one_row(code, around, loop, count or 0)
        if short and not _lives_on(block, everywhere):
            found += _copies(code, loop, count or 0)
            code.differs = True  # in loops, too
        else:
            found.append(loop)
    return found


def _count(block: Block) -> int | None:
    """How often a short loop runs; None if this is none."""
    ends = _ENDS.fullmatch(block.header[1]) if block.header else None
    count = int(ends[2]) - int(ends[1] or 0) if ends else 0
    return count if 0 < count <= LONGEST else None


_ENDS = re.compile(r"range\((?:(-?\d+), )?(-?\d+)\)")


def _reduces(loop: Block, count: int) -> bool:
    """Whether all that a loop does is to give numbers values, or to add to an element, and that
    makes few lines."""
    assert loop.header is not None
    *before, update = loop.body
    if any(block.body for block in loop.body):
        return False
    term = _term(before, update, loop.header[0])
    if term is not None and not before:
        terms = count * (1 + len(_PLUS.findall(term[1])))
        return terms <= MOST_TERMS
    steps = loop.body if term is None else before
    assigned = [re.match(r"(\w+) = ", block.line.text) for block in steps]
    plain = all(one is not None and one[1] != loop.header[0] for one in assigned)
    return plain and count <= SHORT and count * len(loop.body) <= MOST_LINES


_PLUS = re.compile(r"\) \+ \(")
"""Between terms that were written out."""


def _are_one_row(code: Code, around: Block, loop: Block, count: int) -> bool:
    """Whether the rows that a loop goes through are whole, and follow each other in memory from one
    iteration of the loop around to the next."""
    if around.header is None or loop.header is None or "," in around.header[1]:
        return False
    sizes = {name: array.shape for name, array in code.elements.items()}
    indexed = [touch for touch in touches(loop.body) if touch.index is not None]
    variables = around.header[0], loop.header[0]
    whole = 0
    for touch in indexed:
        words = {word for index in touch.index or () for word in re.findall(r"\w+", index)}
        if words.isdisjoint(variables):
            continue
        rows = (touch.index or ())[-2:]
        if rows != variables or sizes.get(touch.name, (0,))[-1] != count:
            return False
        whole += 1
    return whole > 0


def _lives_on(loop: Block, everywhere: Iterable[Block]) -> bool:
    """Whether a loop's counter is asked for elsewhere."""
    assert loop.header is not None
    word = re.compile(rf"(?<![\w.]){loop.header[0]}(?!\w)")

    def lines(blocks: Iterable[Block]) -> int:
        return sum(bool(word.search(one.line.text)) for top in blocks for one in top.walk())

    return lines(everywhere) != lines([loop])


def _copies(code: Code, loop: Block, count: int) -> list[Block]:
    """The iterations of a loop, with names of their own for all numbers but the last ones, and one
    line for what they reduce into."""
    assert loop.header is not None
    variable, ends = loop.header
    first = int(ends[len("range(") :].partition(",")[0]) if "," in ends else 0
    *before, update = loop.body
    term = _term(before, update, variable)
    steps = loop.body if term is None else before
    last = {_target(block): number for number, block in enumerate(steps)}
    now: dict[str, str] = {}
    found: list[Block] = []
    terms: list[str] = []
    for place in range(count):
        index = str(first + place) if first + place >= 0 else f"({first + place})"
        for number, block in enumerate(steps):
            name, _, value = block.line.text.partition(" = ")
            value = _with(value, now | {variable: index}, block)
            final = place == count - 1 and number == last[name]
            now[name] = name if final else code.fresh(f"{name}_")
            found.append(block.headed(f"{now[name]} = {value}", []))
        if term is not None:
            terms.append(_with(term[1], now | {variable: index}, update))
    if term is not None:
        found.append(update.headed(_reduced(_target(update), term[0], terms), []))
    return found


def _term(before: Sequence[Block], update: Block, variable: str) -> tuple[str, str] | None:
    """Whether numbers are added up or compared in a line, and of what; None if it is another line,
    or those before it ask for what has been found so far.

    Args:
        variable: the loop's counter, which names no element that is added to.
    """
    found = _UPDATE.fullmatch(update.line.text)
    if found is None:
        return None
    term = _unwrapped(found["term"] or f"({found['compared']})")
    if not term:
        return None
    word = re.compile(rf"(?<![\w.]){found['name']}(?!\w)")
    if word.search(term) or any(word.search(block.line.text) for block in before):
        return None
    changing = {variable, *map(_target, before)}
    if not changing.isdisjoint(re.findall(r"\w+", found["index"] or "")):
        return None
    return found["of"] or found["sign"], term


_UPDATE = re.compile(
    r"(?P<what>(?P<name>\w+)(?P<index>\[[^\[\]]+\])?) = "
    r"(?:(?P=what) (?P<sign>[+-]) (?P<term>.+)|(?P<of>max|min)\((?P=what), (?P<compared>.+)\))"
)


def _unwrapped(term: str) -> str:
    """What is added, without its parentheses; nothing if it is more than one term."""
    if re.fullmatch(r"\w+\[[^\[\]]+\]", term):
        return term
    inner = term[1:-1]
    return inner if term == f"({inner})" and is_one(inner) else ""


def _reduced(name: str, of: str, terms: Sequence[str]) -> str:
    if of in ("+", "-"):
        return f"{name} = {name} {of} ({' + '.join(f'({term})' for term in terms)})"
    found, *rest = terms
    for term in rest:
        found = f"{of}({found}, {term})"
    return f"{name} = {of}({name}, {found})"


def _with(value: str, names: Mapping[str, str], block: Block) -> str:
    return block.headed(value, []).renamed(names).line.text


def _target(block: Block) -> str:
    return block.line.text.partition(" = ")[0]
