"""Syntax trees of Python functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator


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
