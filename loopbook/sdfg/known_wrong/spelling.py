"""Variables that are called what docc calls something else."""

from __future__ import annotations

import ast
import re

from loopbook.sdfg.known_wrong.kinds import Kinds, assigned

CONNECTORS = re.compile(r"_?(in|out)\d*")
"""What docc calls the ends of its tasklets, in C++ variables that hide those around them."""

CONSTANTS = {"e", "E", "I", "pi", "oo", "zoo", "inf", "nan", "EulerGamma", "Catalan", "GoldenRatio"}
"""What the symbolic engine that reads docc's indices takes for numbers."""


def run(kinds: Kinds) -> None:
    """Give such variables other names, in place.

    Before: ``out[i] = A[i]``: docc's C++ says ``double out = …; out[i] = out``, and crashes.
    ``A[e]``: docc looks for element 2.718…. After: ``lb_out``, ``lb_e``.
    """
    source = kinds.source
    local = {name for name, _ in assigned(source.body)} | set(source.parameters)
    counts = {name for name in local & CONSTANTS if kinds.of(ast.Name(id=name)).rank == 0}
    renamed = {n: f"lb_{n}" for n in local if CONNECTORS.fullmatch(n) or n in counts}
    if not renamed:
        return
    for node in source.walk():
        if isinstance(node, ast.Name) and node.id in renamed:
            node.id = renamed[node.id]
    for argument in source.node.args.args:
        argument.arg = renamed.get(argument.arg, argument.arg)
    source.mend(source.node, f"call {', '.join(sorted(renamed))} something else")
