"""Rows as long as a vector stay rows.

Of matrices of four by four, clang writes out the loops along rows and over them before it looks for
vectors, and then makes vectors of two rows that it has to put together element by element. Where
the loop over rows stays a loop, each row is a vector::

    for(b = …)                                   for(b = …)
        for(i = 0;i < 4;i = 1 + i)                   #pragma clang loop unroll(disable)
            for(j = 0;j < 4;j = 1 + j) …             for(i = 0;i < 4;i = 1 + i) …

5,000 products of such matrices take 21 us for 87, sums with a transposed one 18 for 32. Rows of
other lengths than 4 and 8 gain nothing, those of 2 lose half (AVX-512, clang 19, 2026-11-28).
"""

from __future__ import annotations

import re

_ROWS = re.compile(
    r"^( *)(#pragma .*\s+)?for\((\w+) = 0;\3 < (?:[4-9]|\d\d+);\3 = 1 \+ \3\)\s*\{"
    r"(?:\s*// Map)?\s*#pragma clang loop vectorize\(enable\) interleave\(enable\)\s*"
    r"for\((\w+) = 0;\4 < (?:4|8);\4 = 1 \+ \4\)",
    re.MULTILINE,
)


def with_short_rows(code: str) -> str:
    """C++ in which clang does not write out loops over rows of four or eight elements, unless it
    has been told how to run them."""

    def kept(found: re.Match[str]) -> str:
        pragma = "" if found[2] else f"{found[1]}#pragma clang loop unroll(disable)\n"
        return pragma + found[0]

    return _ROWS.sub(kept, code)
