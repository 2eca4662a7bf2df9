"""Sums in any order, in programs that keep NumPy's order everywhere else.

Before, where the last place of a number decides a whole one (`loopbook.program.rounds`)::

    {
        double _in1 = sum_0;
        double _in2 = tmp_1;
        double _out;

        _out = _in1 + _in2;

        sum_0 = _out;
    }

and after::

    {
        #pragma clang fp reassociate(on)
        double _in1 = sum_0;
        ...

Without it no loop that sums up would become vectors. With it everywhere, clang makes
``b + t * (a - b)`` of ``t * a + (1 - t) * b``: of two equal shades of grey it is another one then.
"""

from __future__ import annotations

import re

PRAGMA = "#pragma clang fp reassociate(on)"

_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)\{\n"
    r"(?P<given>(?:[ \t]*(?:double|float) _in\d* = [^\n]*;\n)+)"
    r"[ \t]*(?:double|float) _out;\n\s*"
    r"_out = (?P<made>[^\n]*[-+*][^\n]*);\n\s*"
    r"(?P<target>[^\n;]*?) = _out;\n",
    re.MULTILINE,
)

_GIVEN = re.compile(r"_in\d* = ([^\n]*);\n")


def with_any_order(code: str) -> str:
    """C++ in which what is summed up, or multiplied, in a place may be so in any order."""
    return _BLOCK.sub(_marked, code)


def _marked(found: re.Match[str]) -> str:
    if found["target"] not in _GIVEN.findall(found["given"]):
        return found[0]
    head = f"{found['indent']}{{\n"
    return f"{head}{found['indent']}    {PRAGMA}\n{found[0].removeprefix(head)}"
