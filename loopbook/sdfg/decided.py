"""Comparisons that a NaN takes part in, decided as Python decides them.

docc writes the result of a comparison as two branches of which a NaN takes neither, so that the
flag stays what it was by chance, and clang takes it to be true::

    if (x < y) flag = 1; else if (y <= x) flag = 0;    becomes    flag = 0; if (x < y) flag = 1;

That is done last, to what is served: all steps, and what the book knows, see docc's own form. Of
``min`` and ``max`` see `loopbook.toolchain.compiler`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from loopbook.program.expr import Expr
from loopbook.program.tree import Assignments, Branch, Case, Program
from loopbook.program.walk import Inner, spread

_ASKED = re.compile(r"\(?0 != (\w+)\)?")


def decide(program: Program) -> Program:
    """A finished program whose flags get a value in any case; itself if it has no such flags.
    Loops keep docc's numbers."""
    return spread(program, _decided)


def asked_flag(condition: Expr) -> str | None:
    """The flag that a branch asks for, if it asks for nothing else."""
    found = _ASKED.fullmatch(condition.text)
    return found[1] if found else None


def _decided(node: Inner) -> list[Inner]:
    """A choice of a flag as a value and a choice of another one; anything else as it is."""
    if not isinstance(node, Branch) or len(node.cases) != 2:
        return [node]
    one, other = (_flag(case) for case in node.cases)
    if one is None or other is None or one[0] != other[0] or (one[1], other[1]) != ("1", "0"):
        return [node]
    if any(one[0] in case.condition.symbols for case in node.cases):
        return [node]
    return [*node.cases[1].body.children, replace(node, cases=node.cases[:1])]


def _flag(case: Case) -> tuple[str, str] | None:
    """What a case gives a value, and which, if it does nothing else."""
    match case.body.children:
        case [Assignments(assignments=[only])]:
            return only.symbol, only.expression.text
    return None
