"""Flags as the values that they are.

Before::

    {
        flag = 0;
    }
    if((3 == x))
    {
        {
            flag = 1;
        }
    }

and after::

    {
        flag = (3 == x);
    }

Of tests whether one number is 3, or 2, clang makes a ``switch`` where they are branches, and no
vectors of the loop around: 2.1 to 0.3 ms for five generations of 300 by 300 cells that live on with
two neighbours or three (AVX-512, 2026-11-28).
"""

from __future__ import annotations

import re

_FLAG = re.compile(
    r"(?P<head>\{\n[ \t]*(?P<name>\w+) = )0;\n(?P<end>[ \t]*\}\n)"
    r"[ \t]*if\((?P<test>\([^\n]*\))\)\n[ \t]*\{\n[ \t]*\{\n"
    r"[ \t]*(?P=name) = 1;\n[ \t]*\}\n[ \t]*\}\n(?!\s*else)"
)


def with_flags(code: str) -> str:
    """C++ in which what is 0, and 1 if a test holds, is that test."""
    return _FLAG.sub(_as_value, code)


def _as_value(found: re.Match[str]) -> str:
    if re.search(rf"\b{found['name']}\b", found["test"]):
        return found[0]
    return f"{found['head']}{found['test']};\n{found['end']}"
