"""``continue``, which docc's code has for more than the loop that it was written for."""

from __future__ import annotations

import ast
import copy
from typing import Any

from loopbook.sdfg.known_wrong.source import Source
from loopbook.syntax import walk

MOST_NODES = 4000
"""Of a loop's body, once what follows a branch stands in several of its ends."""

MOST_COPIED = 40_000
"""Nodes, on the way there: with every branch in a branch there may be twice as many ends."""


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
        if isinstance(node, ast.For | ast.While) and _skips(node.body):
            source.mend(node, "put what a continue skips into a branch")
            branches = _Branches()
            node.body = branches.of(node.body) or [ast.copy_location(ast.Pass(), node)]
            if branches.copied > MOST_COPIED or sum(1 for _ in walk(node)) > MOST_NODES:
                source.refuse(node, "joins loops with continue", "write it with if and else")
    source.locate()


def _skips(body: list[ast.stmt]) -> bool:
    """Whether a loop's body has a ``continue`` for that loop."""
    return any(
        isinstance(part, ast.Continue)
        or (isinstance(part, ast.If) and (_skips(part.body) or _skips(part.orelse)))
        for part in body
    )


class _Branches:
    """Bodies of a loop without ``continue``, while not too much has to be `copied` for them."""

    def __init__(self) -> None:
        self.copied = 0

    def of(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The same body with what a ``continue`` skips in branches."""
        for place, part in enumerate(body):
            if self.copied > MOST_COPIED:
                break
            if isinstance(part, ast.Continue):
                return body[:place]
            if isinstance(part, ast.If) and _skips([part]):
                rest = body[place + 1 :]
                self.copied += sum(1 for one in rest for _ in walk(one))
                made: Any = copy.copy(part)
                made.body = self.of([*part.body, *rest]) or [ast.copy_location(ast.Pass(), part)]
                made.orelse = self.of([*part.orelse, *copy.deepcopy(rest)])
                return [*body[:place], made]
        return body
