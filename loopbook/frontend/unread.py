"""Numbers that are loaded for nobody, left out.

Before::                                After::

    for i0 in range(n_4):                   for i0 in range(n_4):
        s_6 = fills_0[i0]                       s_7 = fills_1[i0]
        s_7 = fills_1[i0]                       total_0 = total_0 + s_7
        total_0 = total_0 + s_7

Of a list of tuples each item is loaded whole, whatever is asked for (``sum(q for _, q in
fills)``). docc leaves such loads out, too, and then it cannot be told from a loop that it has
confused (`loopbook.sdfg.forwarded`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from loopbook.frontend.code import Line

_LOAD = re.compile(r"([A-Za-z_]\w*) = ([A-Za-z_]\w*)\[([^\[\]()]*)\]")
_WORD = re.compile(r"[A-Za-z_]\w*")


def without_unread(lines: Sequence[Line], made: Collection[str]) -> list[Line]:
    """The lines without loads into variables that no line mentions.

    Args:
        made: arrays that are made for a call: elsewhere such a load may raise.
    """
    left = list(lines)
    words = Counter(word for line in left for word in _WORD.findall(line.text))
    for place in range(len(left) - 1, -1, -1):
        load = _LOAD.fullmatch(left[place].text)
        if load is None or load[2] not in made or words[load[1]] > 1:
            continue
        if _is_alone(left, place):
            continue
        words.subtract(_WORD.findall(left[place].text))
        del left[place]
    return left


def _is_alone(lines: Sequence[Line], place: int) -> bool:
    """Whether a line is all that its block holds."""
    depth = lines[place].depth
    before = lines[place - 1].depth if place else -1
    behind = lines[place + 1].depth if place + 1 < len(lines) else -1
    return before < depth and behind < depth
