"""Programs that compute with whole numbers that are data.

NumPy's wrap around. For C++ a sum that overflows does not happen, so that clang takes ``x + 1 > x``
for true and ``x - y > 0`` for ``x > y``. What is an index never gets so large.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopbook.program.accesses import own_accesses
from loopbook.program.dataflow import Block, Tasklet
from loopbook.program.tree import Assignments, Program
from loopbook.program.walk import preorder

_COMPUTES = {"int_add", "int_sub", "int_mul", "int_shl", "int_abs"}


def wraps(program: Program) -> bool:
    """Whether it adds or multiplies whole numbers that it has read from arrays."""
    known: set[str] = set()
    steps = list(_steps(program))
    while True:
        before = len(known)
        for read, made, computes in steps:
            if read & known or "" in read:
                if computes:
                    return True
                known |= made
        if len(known) == before:
            return False


def _steps(program: Program) -> Iterator[tuple[set[str], set[str], bool]]:
    """The scalars that each statement with whole numbers reads, an element of an array as "", those
    that it sets, and whether it computes."""
    whole = {name for name, kind in program.containers.items() if "int" in kind.element}
    for node in preorder(program):
        if isinstance(node, Assignments):
            for one in node.assignments:
                plain = one.expression.text.strip("()") in program.containers
                yield set(one.expression.symbols), {one.symbol}, not plain
        elif isinstance(node, Block):
            used = [access for access in own_accesses(node) if access.container in whole]
            read = {"" if a.subset else a.container for a in used if not a.write}
            made = {a.container for a in used if a.write and not a.subset}
            tasks = (task for task in node.nodes if isinstance(task, Tasklet))
            yield read, made, any(task.code in _COMPUTES for task in tasks)
