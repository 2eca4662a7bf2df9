"""What the headers of docc's loops alone say about a step."""

from __future__ import annotations

from typing import Any

from loopbook.program import expr


def independent(outer: Any, inner: Any) -> bool:
    """Whether a loop is all that another one holds, and runs alike in all of its iterations."""
    ends = f"{inner.init} {inner.condition} {inner.update}"
    return outer.indvar not in expr.symbols(ends) and len(list(outer.body.children())) == 1


def tests_too_early(loop: Any) -> bool:
    """Whether an inner loop ends where an outer one says, of the loops that hold nothing else.

    docc peels all of them, and tests their ends in front of the outermost one."""
    counted = set[str]()
    while "And" in getattr(loop, "condition", ""):
        if counted & set(expr.symbols(loop.condition)):
            return True
        counted.add(loop.indvar)
        inside = list(loop.body.children())
        if len(inside) != 1:
            return False
        loop = inside[0]
    return False
