"""``continue``, which docc's code has for more than the loop that it was written for."""

from __future__ import annotations

import ast

from loopbook.sdfg.known_wrong.source import Source
from loopbook.syntax import Branches, skips, walk

MOST_NODES = 4000
"""Of a loop's body, once what follows a branch stands in several of its ends."""


def run(source: Source) -> None:
    """Put what a ``continue`` skips into a branch.

    docc joins a loop with the next one over the same range, and the ``continue`` (as a ``break``,
    of which see `loops`) then skips what the other loop does, too.

    Before::                              After::

        for i in range(n):                    for i in range(n):
            if x[i] < 0.0:                        if x[i] < 0.0:
                continue                              pass
            x[i] -= 1.0                           else:
        for j in range(n):                            x[i] -= 1.0
            t[j] = 2.0 * x[j]                 for j in range(n):
                                                  t[j] = 2.0 * x[j]

    Raises:
        MistranslationError: what follows would have to be written down too often.
    """
    for node in list(source.walk()):
        if isinstance(node, ast.For | ast.While) and skips(node.body):
            source.mend(node, "put what a continue skips into a branch")
            branches = Branches()
            node.body = branches.of(node.body) or [ast.copy_location(ast.Pass(), node)]
            if branches.too_many or sum(1 for _ in walk(node)) > MOST_NODES:
                source.refuse(node, "joins loops with continue", "write it with if and else")
    source.locate()
