"""Syntax trees of Python functions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

MOST_COPIED = 40_000
"""Nodes that stand in several places once branches take the place of ``continue``: with every
branch in a branch there may be twice as many ends."""

PYTHONS = "loopbook_extremes_are_pythons"
"""A name that loops of our own know in which all ``max`` and ``min`` of floats are Python's."""

PYTHON_FLOATS = "loopbook_doubles_are_pythons"
"""A name that loops of our own know in which all doubles are numbers of Python's."""

GIVEN = (int, float, bool, np.ndarray, np.float32)
"""Types of arguments that are Python's numbers, or say what they are."""

PLAIN = frozenset(("abs", "int", "len", "max", "min", "range", "sum"))
"""Functions of Python's that make no double of a float of 32 bits."""

DOUBLES = frozenset(("astype", "double", "float64", "item", "longdouble", "tolist", "view"))
"""Functions and methods of NumPy's that may."""


def makes_no_doubles(tree: ast.AST, args: Iterable[Any]) -> bool:
    """Whether a function has floats of 32 bits, and none of 64 but Python's numbers, which are
    rounded beside the others.

    Args:
        args: what it is called with.
    """
    given = list(args)
    single = any(isinstance(one, np.ndarray) and one.dtype == np.float32 for one in given)
    return single and all(type(one) in GIVEN for one in given) and not _makes_doubles(tree)


def _makes_doubles(tree: ast.AST) -> bool:
    for node in walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name not in PLAIN:
                return True
            case ast.Attribute(value=ast.Name(id="math" | "cmath" | "scipy")):
                return True
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in DOUBLES:
                return True
    return False


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


def mentioned(node: ast.AST) -> set[str]:
    """All names in a piece of code."""
    return {part.id for part in walk(node) if isinstance(part, ast.Name)}


def bound(body: Iterable[ast.AST]) -> set[str]:
    """All names that pieces of code give a meaning: variables, parameters, functions and classes
    in them, and what they import."""
    found: set[str] = set()
    for part in (inner for node in body for inner in walk(node)):
        match part:
            case ast.Name() if not isinstance(part.ctx, ast.Load):
                found.add(part.id)
            case ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name):
                found.add(name)
            case ast.alias():
                found.add((part.asname or part.name).partition(".")[0])
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
    return found


def returns(node: ast.AST) -> bool:
    """Whether a piece of code may return."""
    return any(isinstance(part, ast.Return) for part in walk(node))


def unused(hint: str, taken: Container[str]) -> str:
    """A name that is not taken, the hint itself if that is free."""
    while hint in taken:
        hint += "_"
    return hint


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
