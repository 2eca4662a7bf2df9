"""Syntax trees of Python functions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import Any

MOST_COPIED = 40_000
"""Nodes that stand in several places once branches take the place of ``continue``: with every
branch in a branch there may be twice as many ends."""

PYTHONS = "loopbook_extremes_are_pythons"
"""A name that loops of our own know in which all ``max`` and ``min`` of floats are Python's."""


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """`ast.walk` without the contexts of variables, in a third of the time: functions are gone
    through many times."""
    waiting = [node]
    for one in waiting:  # which grows meanwhile
        for name, value in vars(one).items():
            if isinstance(value, ast.AST):
                if name != "ctx":
                    waiting.append(value)
            elif type(value) is list:
                waiting += [part for part in value if isinstance(part, ast.AST)]
        yield one


def skips(body: Sequence[ast.stmt]) -> bool:
    """Whether a loop's body has a ``continue`` for that loop."""
    return any(
        isinstance(part, ast.Continue)
        or (isinstance(part, ast.If) and (skips(part.body) or skips(part.orelse)))
        for part in body
    )


class Branches:
    """Bodies of a loop without ``continue``, while not too much has to be `copied` for them."""

    def __init__(self) -> None:
        self.copied = 0

    @property
    def too_many(self) -> bool:
        return self.copied > MOST_COPIED

    def of(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The same body with what a ``continue`` skips in branches."""
        for place, part in enumerate(body):
            if self.too_many:
                break
            if isinstance(part, ast.Continue):
                return body[:place]
            if isinstance(part, ast.If) and skips([part]):
                rest = body[place + 1 :]
                self.copied += sum(1 for one in rest for _ in walk(one))
                made: Any = copy.copy(part)
                made.body = self.of([*part.body, *rest]) or [ast.copy_location(ast.Pass(), part)]
                made.orelse = self.of([*part.orelse, *copy.deepcopy(rest)])
                return [*body[:place], made]
        return body
