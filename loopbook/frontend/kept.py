"""Numbers out of an array that a nest writes, kept as they are before it runs.

Before::

    M[i] = M[i] / M[i, i]

After::

    s_0 = M[i, i]
    for i0 in range(n): M[i, i0] = M[i, i0] / s_0
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from loopbook.frontend.code import Code, Line
from loopbook.frontend.overlap import Access
from loopbook.frontend.values import Buffer, Pair, Scalar, places


def kept(
    code: Code, buffer: Buffer, value: Scalar, body: Sequence[Line], read: Iterable[Access]
) -> tuple[Scalar, list[Line]]:
    """An element's value, and the lines before it, that read nothing of `buffer` but what `read`
    has: the rest, which is the same in all iterations, is read here into variables."""
    known = {
        text
        for other, index in read
        if other is buffer
        for text in places(buffer, index, buffer.dtype)
    }
    own = [] if isinstance(value, Pair) else [value.text]
    pattern = re.compile(rf"\b{buffer.name}\[[^\[\]]*\]")
    found = {one for text in (*own, *(line.text for line in body)) for one in pattern.findall(text)}
    lines = list(body)
    for text in sorted(found - known):
        name = code.fresh("s_")
        code.emit(f"{name} = {text}")
        lines = [replace(line, text=line.text.replace(text, name)) for line in lines]
        if own:
            value = replace(value, text=value.text.replace(text, name))
    return value, lines
