"""Scalars of which docc's simplification loses what the iteration before left.

Before and after::

    s = 0.0                                    s = 0.0
    for k: s = s + x[k]                        for k: s = 0.0 + x[k]

`loopbook.sdfg.known_wrong.carried` writes a function so that docc does not know such first values,
after a look at what docc makes of all of it. Of a large program docc is given one piece after the
other (`loopbook.sdfg.pieces`), and loses others there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from loopbook.dependence.scalars import upward_exposed
from loopbook.program.accesses import written
from loopbook.program.tree import Loop, Program
from loopbook.program.types import Scalar
from loopbook.program.walk import preorder


def scalars_lost(before: Program, after: Program) -> frozenset[str]:
    """Scalars that a loop carries from one iteration to the next, and loops over the same variable
    afterwards only set anew."""
    left = defaultdict[str, list[Loop]](list)
    for loop in _loops(after):
        left[loop.variable].append(loop)
    lost: set[str] = set()
    for loop in _loops(before):
        now = left[loop.variable]
        kept = frozenset[str]().union(*(upward_exposed(one.body) for one in now))
        stored = frozenset[str]().union(*map(written, now))
        lost |= upward_exposed(loop.body) & written(loop) & stored - kept
    return frozenset(name for name in lost if isinstance(before.containers.get(name), Scalar))


def _loops(program: Program) -> Iterator[Loop]:
    return (node for node in preorder(program) if isinstance(node, Loop))
