"""Arrays that are made for one call of a program, and that nobody looks into before or after it.

`loopbook.frontend` has them made by Python, and hands them in: to docc they are arguments like any
other. The program's metadata says which ones they are, and how large in terms of other arguments::

    {"arrays": {"t_0": ["_s0 + 2", "_s1"]}, "sizes": {"_s3": "_s0 + 2"}}

The second part are names that docc gives to sizes of these arrays alone, numbers among the
arguments that are sizes of other arrays, too, and sizes of which Python's own rules say what they
are of others (an array that is one longer, from which neighbours are subtracted). With what they
stand for in their place it can be seen that loops go along all of an array, or as far as others.
"""

from __future__ import annotations

import json

from loopbook.program import expr, walk
from loopbook.program.accesses import counted, written
from loopbook.program.expr import Expr
from loopbook.program.rename import renamed
from loopbook.program.tree import Program

LOCAL = "loopbook_local"
"""The key in a program's metadata."""

NARROW = "loopbook_narrow"
"""The key of what types callers have arrays in that are words for the program: narrow whole
numbers, by name (`loopbook.sdfg.narrow`)."""


def local_arrays(program: Program) -> dict[str, tuple[Expr, ...]]:
    """The shapes of the local arrays among a program's arguments, by name."""
    return {
        name: tuple(Expr(text) for text in shape)
        for name, shape in _noted(program).get("arrays", {}).items()
        if name in program.arguments
    }


def narrow_arrays(program: Program) -> dict[str, str]:
    """The types of arrays that callers have narrow whole numbers in, by name."""
    text = program.extra.value.get("metadata", {}).get(NARROW)
    return json.loads(text) if isinstance(text, str) else {}


def holds(program: Program, array: str, other: str) -> bool:
    """Whether an array can hold what another one holds, as callers have them."""
    kinds = narrow_arrays(program)
    return array not in kinds or kinds[array] == kinds.get(other)


def with_known_sizes(program: Program) -> Program:
    """The program with sizes of local arrays in terms of other arguments' sizes; itself if they are
    so already. Names that the program gives other values stay."""
    names: dict[str, str] = dict(_noted(program).get("sizes", {}))
    if names:
        changing = written(program.body) | counted(program.body)
        names = {
            name: size
            for name, size in names.items()
            if changing.isdisjoint({name, *expr.symbols(size)})
        }
    if not names:
        return program
    return walk.with_children(program, [renamed(node, names) for node in program.body.children])


def in_known_sizes(program: Program, text: str) -> str:
    """An expression of sizes with those of local arrays in terms of other arguments' sizes."""
    names: dict[str, str] = dict(_noted(program).get("sizes", {}))
    return expr.substitute(text, names) if names else text


def _noted(program: Program) -> dict[str, dict]:
    text = program.extra.value.get("metadata", {}).get(LOCAL)
    return json.loads(text) if isinstance(text, str) else {}
