"""One array for a temporary and for what is computed of it, element by element.

Before::

    for i0 in range(n):                             for i0 in range(n):
        s = 0.0                                         s = 0.0
        for i1 in range(m):                             for i1 in range(m):
            t[i0, i1] = math.exp(x[i0, i1])    →            r[i0, i1] = math.exp(x[i0, i1])
            s = s + t[i0, i1]                               s = s + r[i0, i1]
        for i2 in range(m):                             for i2 in range(m):
            r[i0, i2] = t[i0, i2] / s                       r[i0, i2] = r[i0, i2] / s

Half of the memory need not be written, and what has been is in the cache when it is changed. The
temporary's last use is one statement, which alone writes the other array, or alone among those that
run if it does: results of several branches go to one array. Each of its iterations uses the element
that it overwrites, and nothing else reads that one later. What would copy an element to itself then
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopbook.frontend.blocks import Block, Touch, flat, touches, tree
from loopbook.frontend.code import Code, Line
from loopbook.frontend.values import Buffer

Path = tuple[tuple[int, Block], ...]
"""From the outermost block to a line: each one's place among its siblings, and itself."""


def reused(code: Code, lines: Sequence[Line], result: str) -> list[Line]:
    """The lines with one array for two wherever that can be; `code` has fewer temporaries then.

    Args:
        result: text of what the function returns: what it names is needed as it is.
    """
    blocks = tree(lines)
    returned = frozenset(re.findall(r"\w+", result)) | code.before.keys()
    while (found := _pair(code, blocks, returned)) is not None:
        old, new = found
        blocks = [block.renamed({old.name: new.name}) for block in blocks]
        blocks = _without_idle_copies(blocks, new.name)
        code.temporaries.remove(old)
    return flat(blocks)


def _without_idle_copies(blocks: Sequence[Block], name: str) -> list[Block]:
    """Blocks without copies of an array's elements to where they are, and loops of nothing else."""
    kept = []
    for block in blocks:
        target, is_copy, value = block.line.text.partition(" = ")
        if is_copy and target == value and target.startswith(f"{name}["):
            continue
        body = _without_idle_copies(block.body, name)
        if body or not block.body:
            kept.append(Block(block.line, body))
    return kept


def _pair(
    code: Code, blocks: Sequence[Block], returned: frozenset[str]
) -> tuple[Buffer, Buffer] | None:
    """A temporary and the array that it can be in."""
    buffers = {buffer.name: buffer for buffer in code.temporaries}
    users: dict[str, list[tuple[Path, frozenset[Touch]]]] = {}
    for path in _lines(blocks):
        found = touches([Block(path[-1][1].line)])
        for name in {touch.name for touch in found} & buffers.keys():
            users.setdefault(name, []).append((path, found))
    for name, uses in users.items():
        for path, found in uses:
            stored = [touch for touch in found if touch.name == name]
            if len(stored) != 1 or not stored[0].write:
                continue
            others = [other for other, _ in uses if other is not path]
            for old in sorted({touch.name for touch in found} & buffers.keys() - returned - {name}):
                one, other = buffers[old], buffers[name]
                alike = (one.dtype, one.shape) == (other.dtype, other.shape)
                if not alike or one.dtype.kind == "c":
                    continue
                if not all(_exclude(own, far) for own, _ in users[old] for far in others):
                    continue
                if _ends_in(users[old], old, path, stored[0].index):
                    return one, other
    return None


def _exclude(one: Path, other: Path) -> bool:
    """Whether only one of two lines runs: they stand in branches of one test, in no loop that comes
    by both."""
    depth = next(n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a[1] is not b[1])
    if any(block.header or block.line.text.startswith("while ") for _, block in one[:depth]):
        return False
    first, second = sorted((one[depth], other[depth]), key=lambda place: place[0])
    heads = first[1].line.text, second[1].line.text
    return (
        second[0] == first[0] + 1
        and heads[0].startswith(("if ", "elif "))
        and heads[1].startswith(("else:", "elif "))
    )


def _lines(blocks: Sequence[Block], around: Path = ()) -> Iterator[Path]:
    for place, block in enumerate(blocks):
        path = (*around, (place, block))
        yield path
        yield from _lines(block.body, path)


def _ends_in(
    users: Sequence[tuple[Path, frozenset[Touch]]],
    name: str,
    last: Path,
    index: tuple[str, ...] | None,
) -> bool:
    """Whether the line `last` is the last one to use any element of an array, and uses the one of
    `index`, with another one in each iteration."""
    indices = {touch.index for _, found in users for touch in found if touch.name == name}
    if index is None or None in indices or len(users) < 2 or users[-1][0] != last:
        return False
    if any(touch.name == name and touch.index != index for touch in users[-1][1]):
        return False
    before = [path for path, _ in users[:-1]]
    shared = min(_common(path, last) for path in before)
    # Behind what they share, the last line stands in a block of its own.
    if any(_common(path, last) > shared for path in before):
        return False
    around = [block for _, block in last[:shared] if not _is_branch(block)]
    inside = [block for _, block in last[shared:-1]]
    if any(_variable(block) not in index for block in (*around, *inside)):
        return False
    # An iteration of the loops around all of them has elements of its own.
    return all(
        any(places == {variable} for places in map(set, zip(*filter(None, indices), strict=False)))
        for variable in map(_variable, around)
    )


def _common(one: Path, other: Path) -> int:
    """How many blocks lie around both lines."""
    count = 0
    for (_, first), (_, second) in zip(one[:-1], other[:-1], strict=False):
        if first is not second:
            break
        count += 1
    return count


def _is_branch(block: Block) -> bool:
    return block.line.text.startswith(("if ", "elif ", "else:"))


def _variable(block: Block) -> str:
    """The variable of a loop; nothing that may stand in an index for what is none."""
    return block.header[0] if block.header else "no loop"


__all__ = ["reused"]
